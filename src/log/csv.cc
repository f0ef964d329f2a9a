#include "log/csv.h"

#include <algorithm>

#include "base/text.h"

namespace rota::log {

Result<const std::vector<std::string_view>*> CsvCells::read(std::string_view line, bool cut) {
  TRY(take_apart(line));
  if (cut && !trimmed(line).empty() && cells_.size() < before_)
    return fail(
        "the last row has {} and no end of line: the log is cut off. Save the schedule again, or take its last row "
        "out.",
        amount(static_cast<std::int64_t>(cells_.size()), "cell"));
  before_ = cells_.size();
  return &cells_;
}

Result<void> CsvCells::take_apart(std::string_view line) {
  cells_.clear();
  unquoted_.clear();
  if (line.ends_with('\r')) line.remove_suffix(1);
  for (std::string_view rest = line;;) {
    const std::string_view begin = trimmed(rest);
    if (begin.starts_with('"')) {
      rest = begin;
      const auto cell = TRY(quoted_cell(rest));
      cells_.push_back(cell);
    } else {
      const std::string_view cell = rest.substr(0, rest.find(','));
      cells_.push_back(trimmed(cell));
      rest.remove_prefix(cell.size());
    }
    if (rest.empty()) return {};
    rest.remove_prefix(1);  // the comma
  }
}

// Takes the cell off a text that begins with a quote; afterwards the text begins with a comma, or is empty.
Result<std::string_view> CsvCells::quoted_cell(std::string_view& rest) {
  const std::string_view all = rest;
  std::string text;
  bool doubled = false;
  std::size_t from = 1;
  for (;;) {
    const std::size_t end = all.find('"', from);
    if (end == std::string_view::npos) {
      return fail(
          "the cell {} begins with a quote, and no quote ends it in this line. Cells have no line breaks in them.",
          quoted(all));
    }
    text += all.substr(from, end - from);
    from = end + 1;
    if (from >= all.size() || all[from] != '"') break;
    text += '"';
    doubled = true;
    ++from;
  }
  const std::string_view cell = doubled ? std::string_view(unquoted_.emplace_back(text)) : all.substr(1, from - 2);
  rest = all.substr(from);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  if (!rest.empty() && !rest.starts_with(','))
    return fail("behind the quoted cell {} comes {} and no comma. A quote inside a cell is written twice.",
                quoted(cell), quoted(rest));
  return cell;
}

std::string csv_text(std::string_view cell) {
  const bool plain = cell.find_first_of(",\"\r\n") == std::string_view::npos && trimmed(cell).size() == cell.size();
  if (plain && !cell.starts_with('#')) return std::string(cell);
  std::string out = "\"";
  for (const char c : cell) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace rota::log

#include "site/slurm_table.h"

#include <algorithm>

#include "base/letters.h"
#include "base/text.h"

namespace rota::site {
namespace {

std::string without_blanks(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ') out += lower(c);
  return out;
}

}  // namespace

Result<SlurmTable> SlurmTable::read(std::string_view text, const std::string& shown, std::string_view command,
                                    SlurmRemarks& remarks) {
  SlurmTable table;
  for (const std::string_view line : split(text, '\n')) {
    if (trimmed(line).empty()) continue;
    if (is_utf8(line)) {
      table.rows_.push_back(split(line, '|'));
    } else {
      remarks.left_out("rows that are not UTF-8 text", shown);
    }
  }
  if (table.rows_.empty()) return fail("{}: it is empty. Write it with `{}`.", shown, command);
  return table;
}

Result<std::size_t> SlurmTable::column(std::initializer_list<std::string_view> names, const std::string& shown,
                                       std::string_view command) const {
  const auto& first = rows_.front();
  for (std::size_t i = 0; i < first.size(); ++i)
    if (std::ranges::find(names, without_blanks(trimmed(first[i]))) != names.end()) return i;
  return fail("{}: its first line names no column {}. Write it with `{}`, without -n.", shown, quoted(*names.begin()),
              command);
}

std::string_view SlurmTable::cell(std::size_t row, std::size_t column) const {
  const auto& cells = rows_[row + 1];
  return column < cells.size() ? trimmed(cells[column]) : std::string_view{};
}

}  // namespace rota::site

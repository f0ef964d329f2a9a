#include "cli/columns.h"

#include <algorithm>

#include "base/text.h"

namespace rota::cli {
namespace {

// How many columns of a terminal a text takes: one for each character, whatever it is.
std::size_t shown_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string line(const std::vector<Column>& columns, const std::vector<std::size_t>& widths,
                 const std::vector<std::string>& cells) {
  std::string out;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string blanks(widths[i] - std::min(widths[i], shown_width(cells[i])), ' ');
    out += (i == 0 ? "" : "  ") + (columns[i].right ? blanks + cells[i] : cells[i] + blanks);
  }
  while (out.ends_with(' ')) out.pop_back();
  return out + "\n";
}

}  // namespace

std::string table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows, bool header) {
  std::vector<std::string> heads;
  std::vector<std::size_t> widths;
  for (const Column& column : columns) {
    heads.push_back(column.head);
    widths.push_back(header ? column.head.size() : 0);
  }
  std::vector<std::vector<std::string>> shown;
  for (const auto& row : rows) {
    shown.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      shown.back().push_back(one_line(i < row.size() ? row[i] : ""));
      widths[i] = std::max(widths[i], shown_width(shown.back().back()));
    }
  }
  std::string out = header ? line(columns, widths, heads) : "";
  for (const auto& row : shown) out += line(columns, widths, row);
  return out;
}

}  // namespace rota::cli

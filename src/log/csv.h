// One line of CSV (RFC 4180): cells with commas between them; a cell in double quotes may hold commas, and "" is one
// quote. Blanks around cells are not theirs, but inside quotes. A quoted line break is refused: a line is a row.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rota::log {

class CsvCells {
 public:
  // The cells of a line, valid until the next call and as long as the line is. The error is a whole sentence without
  // file and line. `cut`: no end of line stands behind it (LineBlocks::cut()), so that it has lost its end where it has
  // fewer cells than the line before.
  Result<const std::vector<std::string_view>*> read(std::string_view line, bool cut = false);

 private:
  Result<void> take_apart(std::string_view line);
  Result<std::string_view> quoted_cell(std::string_view& rest);

  std::vector<std::string_view> cells_;
  std::deque<std::string> unquoted_;  // cells that differ from what stands in the line
  std::size_t before_ = 0;            // cells of the line before
};

// A cell as it is written: in quotes where it has to be.
std::string csv_text(std::string_view cell);

}  // namespace rota::log

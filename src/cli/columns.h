// A table for people: columns as wide as what they hold, two blanks between them, nothing behind the last.
#pragma once

#include <string>
#include <vector>

namespace rota::cli {

struct Column {
  std::string head;
  bool right = false;  // of numbers
};

// Text from elsewhere is shown with its control characters replaced. `header`: whether the first line names the
// columns.
std::string table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                  bool header = true);

}  // namespace rota::cli

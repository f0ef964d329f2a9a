// What a command says: its whole result to standard output, and sentences to standard error.
#pragma once

#include <string_view>

#include "base/result.h"

namespace rota::cli {

// The exit code; fails with a sentence where not all of it could be written.
Result<int> printed(std::string_view text);

// A line to standard error. Whatever it says of files, paths and their text, it shows escaped, so that none of that can
// drive the terminal or look like another line.
void remark(std::string_view sentence);

}  // namespace rota::cli

// Text to standard output as a command's whole result.
#pragma once

#include <string_view>

#include "base/result.h"

namespace rota::cli {

// The exit code; fails with a sentence where not all of it could be written.
Result<int> printed(std::string_view text);

}  // namespace rota::cli

// A manual page in roff, from what a command knows about itself.
#pragma once

#include <string>

#include "cli/command_line.h"

namespace rota::cli {

std::string man_page(Command command);
std::string man_page_name(Command command);  // "rota-generate-lublin"; its file is that and ".1"

}  // namespace rota::cli

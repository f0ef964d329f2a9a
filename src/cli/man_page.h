// A manual page in roff, from what a command knows about itself.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace rota::cli {

std::string man_page(const CLI::App& app);
std::string man_page_name(const CLI::App& app);  // "rota-generate-lublin"; its file is that and ".1"

}  // namespace rota::cli

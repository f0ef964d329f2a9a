// What people who know Slurm type by habit and Rota has no such option for: what to do in its place.
#pragma once

#include <string_view>

namespace rota::cli {

// Of a command such as "rota queue" and an option as it was typed: "-j", "-j2", "--jobs". Half a sentence, without a
// stop; empty: there is nothing to say.
std::string_view slurm_hint(std::string_view command, std::string_view option);

}  // namespace rota::cli

// What people who know Slurm type by habit and Rota has no such option for: what to do in its place.
#pragma once

#include <span>
#include <string_view>

namespace rota::cli {

// For a command such as "rota queue" and an option as it was typed: "-j", "-j2", "--jobs". Half a sentence, without a
// stop; empty: there is nothing to say.
std::string_view slurm_hint(std::string_view command, std::string_view option);

// A command of another program that users of it type, and what does the same here.
struct ForeignCommand {
  std::string_view names;  // with blanks between
  std::string_view ours;
};
std::span<const ForeignCommand> foreign_commands();

// What Rota has in place of this command; empty: it is none of those.
std::string_view our_command(std::string_view foreign);

}  // namespace rota::cli

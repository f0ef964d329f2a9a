// What made a page: the command, every option with its value, and the contents of what was read, by their digests.
#pragma once

#include <string>
#include <vector>

#include "cli/rehearse/rehearse_flags.h"
#include "report/html.h"

namespace rota::cli {

// For each option of the command, what was given or, where nothing was, what holds then.
std::vector<report::MadeBy::Option> options_of(Command command);

// The files that were read: workloads (of a state folder its database), cluster file and attributes. For one that
// cannot be read again (standard input, a pipe), only the name is told.
std::vector<report::MadeBy::Input> inputs_of(const std::vector<std::string>& workloads, const RehearseFlags& flags);

}  // namespace rota::cli

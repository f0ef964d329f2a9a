// The files that a command line names, looked at before anything is done with them.
#pragma once

#include "base/result.h"
#include "cli/command_line.h"

namespace rota::cli {

// For a command line that has been understood. Fails where an option that takes a file is given an empty name, which a
// script with an unset variable does, and where what the command writes would take the place of what it reads. Commands
// whose files are a job's are left alone.
Result<void> check_files(Command root);

}  // namespace rota::cli

// States of jobs: their names, their letters as squeue has them, and what they are worth as an exit code.
#pragma once

#include <string>

#include "cli/live/service.h"

namespace rota::cli {

// The names of a JOB's state: "R" of RUNNING.
std::string state_letters(const std::string& state);

// The state that a text names, in full, in any case: "pd", "Running". "" where there is none.
std::string state_named(const std::string& text);

bool has_ended(const std::string& state);

// What a finished job's command line gives on as its own exit code: the job's, 128 and its signal, else 0 of a job that
// completed and 1 of any other.
int exit_code_of(const Json& job);

}  // namespace rota::cli

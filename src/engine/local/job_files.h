// What a job's user reads of the folder of the runs: the script, and the list of its nodes.
#pragma once

#include <string>

#include "engine/local/record.h"

namespace rota::local {

// In the current folder, for the job's user alone, and not to be written by that user. What went wrong, as a sentence;
// empty: nothing.
std::string write_files(const Order& order);

}  // namespace rota::local

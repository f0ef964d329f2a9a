// The files of a job as they are named when it is submitted.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/live/submit_options.h"

namespace rota::cli {

// With Rota's patterns. A name that no job could open is told now, and not once the job has waited its turn: what only
// a shell would fill in, a folder, or a file in a folder that is not there. `folder` is the job's own. A folder of
// PBS's, LSF's or Grid Engine's is one in which the file has its usual name.
Result<std::string> file_name(const SubmitValue& value, const std::string& folder, bool of_array);

}  // namespace rota::cli

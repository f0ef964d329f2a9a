// Options of a job in its own script: lines that begin with #ROTA, and the #SBATCH, #PBS, #BSUB and #$ lines that have
// an equal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/live/submit_options.h"

namespace rota::cli {

struct Directives {
  SubmitValues values;               // of #ROTA lines where both kinds say something
  std::vector<std::string> remarks;  // sentences: what was not taken, and why
  std::vector<std::string> needed;   // the same of what the job should not run without: where it may run, what it needs
};

// The first line that is neither a comment nor blank ends the directives; each behind it gets a remark. Among several
// of one kind the last one holds. A #ROTA line that makes no sense is an error, as is a value that is missing; an
// option of another system that Rota has not is in a remark, or among what is needed. `name` is the script's, for
// sentences.
Result<Directives> read_directives(std::string_view script, const std::string& name);

}  // namespace rota::cli

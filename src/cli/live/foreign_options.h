// What other systems' directives ask for that Rota has no option of the same kind for: #SBATCH lines have their names,
// and #PBS lines are another language, which is put into Rota's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace rota::cli {

// What becomes of an option that Rota has not.
enum class Without : std::uint8_t {
  goes_on,  // nobody's job runs elsewhere or on less for it: it is left out, and that is told
  stops,    // it says where the job may run, or what it needs there: without it the job might run where it must not
};

// Of sbatch, as "--nodelist" or "-w".
Without without_slurm_option(std::string_view name);

// The words of a #PBS line as options of Rota: keys of cli/live/submit_options.h with their values, and what there is
// no equal for. Fails with half a sentence where a value makes no sense.
struct PbsOptions {
  std::vector<std::pair<std::string, std::string>> values;
  std::vector<std::string> left_out;  // as they stand there, and nobody's loss
  std::vector<std::string> needed;    // without which the job might run where it must not
};
Result<PbsOptions> pbs_options(const std::vector<std::string>& words);

}  // namespace rota::cli

// The figures of `rota simulate --plots DIR`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/rehearse/simulate_run.h"

namespace rota::cli {

// Writes the charts of each workload into a folder, which is made where it is not there: NAME.svg, with -WORKLOAD
// before the ending where there are several, and NAME.pdf beside it where the program rsvg-convert is installed. A
// remark says what was written. Fails with a sentence where a file cannot be.
Result<void> write_plots(const std::string& folder, const std::vector<Run>& runs);

}  // namespace rota::cli

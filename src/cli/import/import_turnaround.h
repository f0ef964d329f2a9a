// How long after the end of a job its nodes are there for the next one.
#pragma once

#include "base/time.h"
#include "log/sacct.h"

namespace rota::cli {

// What the log shows: of the jobs that were waiting when another one ended on a node that they then had, nine of ten
// started no sooner after it. 0: no gap shows, or too few jobs show any. O(jobs x nodes of a job)
Duration turnaround_of(const log::SacctLog& log);

}  // namespace rota::cli

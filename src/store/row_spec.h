// What a job of the history asked for.
#pragma once

#include "model/job.h"
#include "model/machine.h"
#include "store/job_history.h"

namespace rota::store {

// Its priority is its own: that of its partition comes on top. What this machine does not have, or has no longer, is
// left out.
JobSpec spec_of(const HistoryRow& row, const Machine& machine);

}  // namespace rota::store

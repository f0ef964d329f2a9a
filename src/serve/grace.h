// Jobs that are let run beyond their limits: under which rule, and why that harms no other. It is shown while they run,
// and kept in their rows of the history.
#pragma once

#include <string>

#include "serve/job_lookup.h"

namespace rota::serve {

// As the knob of the overrun rule is written; empty: a limit is the end.
std::string overrun_rule(const ChainKnobs& knobs);
// How a job that runs, or has just ended, was let go on beyond its limit until then; nothing: it was not.
store::Grace grace_of(const Desk& desk, const JobLookup& jobs, JobId id, const Job& job, Instant until);
// As a sentence; of one that runs in the present.
std::string grace_text(const store::Grace& grace, bool runs);

}  // namespace rota::serve

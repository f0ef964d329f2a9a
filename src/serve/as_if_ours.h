// A state in which another resource manager's jobs are ours: what a policy would do with them, were it to decide. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "model/fact.h"
#include "serve/job_book.h"

namespace rota::serve {

// Whether a job waits for nothing but its turn, by the manager's word for why it waits; of any other, such as a limit
// or another job, nothing here tells when it is over.
bool waits_for_room(std::string_view reason);

// A snapshot in which jobs that are not ours run and wait as if they were. Those that do not wait for room, and those
// that never fit as far as is known, stay what they are, and are never started.
std::vector<Fact> as_if_ours(std::vector<Fact> facts, const Machine& machine, const JobBook& book);

}  // namespace rota::serve

// Why a job started when it did, in words for files and for people.
#pragma once

#include <cstdint>
#include <string>

#include "model/start_note.h"

namespace rota::report {

// Half a sentence, such as "backfilled: it ends by its limit before job 7 is to start, day 0, 01:00:00". unix_start:
// Unix time of the workload's second 0; 0: not known.
std::string start_reason(const StartNote& note, std::int64_t unix_start);

}  // namespace rota::report

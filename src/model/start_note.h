// Why a job started when it did, and where, in its last dispatch; and when it ran before. For a job of a log only where
// may be known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/action.h"
#include "model/node_space.h"

namespace rota {

// A dispatch before the last one, or the part of it before a move.
struct EarlierRun {
  Instant from = kEpoch;
  Instant to = kEpoch;
  Duration kept{0};  // of it, so much need not be done again; > 0
};

struct StartNote {
  bool started = false;  // and it is known why
  Rule rule = Rule::head_fits;
  std::int64_t promised = -1;         // number of the job whose promise mattered; -1: none
  Instant promise = kNever;           // that job's promised start
  std::int64_t free = 0;              // processors free when it was decided
  std::int64_t needed = 0;            // processors that the promised job asks for
  std::string lacks = {};             // that job, where more than counts decide (model/shortage.h, lacking)
  std::vector<Share> where = {};      // empty: processors are only counted, or it never started
  std::vector<EarlierRun> runs = {};  // of which something is kept, in order
};

}  // namespace rota

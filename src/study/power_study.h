// The experiments of Cao, Cao, Dai, Zhu and Chi, "node start/stop for HPC clusters based on task load monitoring"
// (Application Research of Computers 28(12), 2011), made again: a queue of 320, 240 or 160 nodes whose nodes are
// switched by a load factor every 30 to 240 minutes; and then the rule that wakes nodes on demand.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "study/study.h"
#include "study/x64_streams.h"

namespace rota::study {

// One rehearsal of a stream.
struct PowerCase {
  X64Stream stream = X64Stream::skipping;
  std::int64_t nodes = 320;
  std::string policy;
};

struct PowerRow {
  PowerCase setting;
  double minutes = 0;  // from the start of the log to the last end
  double work = 0;     // per cent of the nodes' time, as are
  double idle = 0;
  double off = 0;
  double wait = 0;       // hours, the mean
  double cycles = 0;     // a node and day
  double off_share = 0;  // as `off`, but from the first submission on
};

// Each on its own, on so many threads; in the order of the cases.
Result<std::vector<PowerRow>> rehearse_power(const std::vector<PowerCase>& cases, std::size_t threads);

// The policy of the paper, looking every so many minutes; 0: every node is always on.
std::string load_factor_policy(X64Stream stream, std::int64_t minutes);

Study power_study();

}  // namespace rota::study

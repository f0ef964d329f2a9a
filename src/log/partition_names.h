// The partitions that a log names, against those that a cluster has.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "log/log_top.h"
#include "model/machine.h"

namespace rota::log {

// Fails if jobs are of a partition that the machine does not have: they would run where they never could, under limits
// that were never theirs. The sentence names them all, with the nearest name of each, and goes on with what can be done
// about it.
// `jobs_of`: how many there are of each number; `shown` and `cluster`: log and cluster for messages.
struct PartitionsOfLog {
  const NumberedNames& names;
  const std::map<std::uint32_t, std::int64_t>& jobs_of;
  std::string shown;
};
Result<void> partitions_known(const PartitionsOfLog& log, const Machine& machine, const std::string& cluster,
                              const std::string& advice);

}  // namespace rota::log

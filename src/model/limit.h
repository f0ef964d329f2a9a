// The most that the jobs of a user, an account, a QOS or a partition may hold at one time, all of them together. Plain
// data, of a cluster file's [[limits]].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rota {

// What jobs hold, or may hold.
struct LimitedUse {
  std::int64_t jobs = 0;
  std::int64_t processors = 0;
  std::int64_t nodes = 0;
  std::int64_t memory = 0;  // bytes
  std::int64_t accelerators = 0;
  std::int64_t processor_seconds = 0;  // up to their time limits

  bool operator==(const LimitedUse&) const = default;
};

struct Limit {
  static constexpr std::int64_t kNone = INT64_MAX;
  static constexpr const char* kEach = "*";

  // Whose jobs: those that are of all that is named. Empty: of any; kEach: of each one by itself.
  std::string user, account, qos, partition;  // an account: with those below it, unless a user is named
  std::string accelerator_type = {};         // and that ask for accelerators of this type; empty: whatever they ask for
  std::vector<std::string> except_qos = {};  // jobs of these count, and do not break it,
  std::vector<std::string> except_partitions = {};  // nor do jobs of these
  LimitedUse most = {kNone, kNone, kNone, kNone, kNone, kNone};
  std::string reason = {};  // Slurm's word for a job that waits for this; empty: Rota's own
};

}  // namespace rota

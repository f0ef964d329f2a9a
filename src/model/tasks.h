// What few jobs have: tasks that a CPU or an accelerator computes. Kept beside the jobs, by their numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/time.h"

namespace rota {

inline constexpr std::uint32_t kMostTasksOfJob = 1'000'000;

// The tasks of one job, all alike. They lie on the job's nodes in equal parts.
struct TaskSpec {
  std::uint32_t count = 0;  // 1 .. kMostTasksOfJob
  Duration accelerator{0};  // what one takes on an accelerator of speed 1; > 0
  Duration cpu{0};       // on a node of CPU factor 1; 0: as long as makes the job run on CPUs as long as its log says
  Duration start_up{0};  // before the first one, at every start of the job
  std::int64_t transfer = 0;  // bytes to an accelerator of another node, and as many back
  Duration limit{0};          // on a CPU: a task that has not ended by then is done again on another one; 0: none

  bool operator==(const TaskSpec&) const = default;
};

// Empty where no job has any.
struct TaskTable {
  std::optional<TaskSpec> of_others;                         // of jobs that are not named
  std::map<std::int64_t, std::optional<TaskSpec>> of_named;  // nothing: has none, whatever others have

  bool empty() const { return !of_others && of_named.empty(); }
  const TaskSpec* of(std::int64_t job) const {
    const auto found = of_named.find(job);
    const std::optional<TaskSpec>& spec = found == of_named.end() ? of_others : found->second;
    return spec ? &*spec : nullptr;
  }
};

}  // namespace rota

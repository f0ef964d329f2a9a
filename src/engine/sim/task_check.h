// Looks over the shoulder of simulated accelerators, with a ledger of its own: no accelerator computes two tasks at a
// time or has more inside than its container holds, no task is lost and none is done twice.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/sim/pipeline.h"
#include "policy/bind/bind_jobs.h"

namespace rota::sim {

class TaskCheck {
 public:
  // Containers hold what is being read, computed and written, and what is in the two queues.
  TaskCheck(std::size_t containers, const PipelineShape& shape)
      : containers_(containers), most_inside_(3 + shape.read_slots + shape.write_slots) {}

  void came(JobId job, std::uint32_t tasks) { jobs_[job] = {tasks, 0, 0}; }
  void began(JobId job) { ++jobs_[job].begun; }
  void finished(JobId job);
  void lost(JobId job);
  // Its begun tasks are; with `all` those that are finished as well.
  void stopped(JobId job, bool all);
  void ended(JobId job);  // by itself: it says that all its tasks are done
  void forgot(JobId job) { jobs_.erase(job); }

  void admitted(ContainerId container, Instant now, const Passage& passage);
  void emptied(ContainerId container) { containers_[container.value] = {}; }  // its node went

  std::int64_t checks() const { return checks_; }
  const std::optional<std::string>& breach() const { return breach_; }  // the first one

 private:
  struct Ledger {
    std::int64_t tasks = 0;
    std::int64_t begun = 0;  // and not finished
    std::int64_t finished = 0;
  };
  struct Container {
    Instant computed = kEpoch;       // its last task, until then
    std::deque<Instant> writes_end;  // of what is inside
  };
  void expect(bool holds, const char* what);

  std::vector<Container> containers_;
  std::map<JobId, Ledger> jobs_;
  std::size_t most_inside_;
  std::int64_t checks_ = 0;
  std::optional<std::string> breach_;
};

}  // namespace rota::sim

// For tests: a cluster brought into the state that a test speaks of, a line for each fact. Times in seconds; jobs are
// numbered from 1 in order of submission.
#pragma once

#include <cstdint>
#include <string>

#include "model/cluster.h"

namespace rota {

struct Asking {
  std::uint32_t processors = 1;
  std::int64_t limit = 10;
  std::int32_t priority = 0;
  std::uint32_t user = UINT32_MAX;
};

// Folds any fact in, now.
template <class Kind>
void fold(Cluster& cluster, const Kind& what) {
  cluster.fold(cluster.now(), cluster.sequence() + 1, what);
}
inline JobId submit(Cluster& cluster, const JobSpec& spec) {
  const JobId id = cluster.next_job();
  fold(cluster, Submitted{id, spec, spec.limit});
  return id;
}

class World {
 public:
  explicit World(const ClusterOptions& options) : cluster_(options) {}
  explicit World(std::int64_t processors) : cluster_(counted(processors)) {}

  static ClusterOptions counted(std::int64_t processors) {
    ClusterOptions options;
    options.processors = processors;
    options.waiting.by_queue = true;
    options.user_history = true;
    return options;
  }

  void at(std::int64_t second) { cluster_.open_cycle(at_seconds(second)); }

  JobId waiting(const Asking& asks) {
    JobSpec spec;
    spec.number = ++numbers_;
    spec.submit = cluster_.now();
    spec.processors = asks.processors;
    spec.limit = seconds(asks.limit);
    spec.priority = asks.priority;
    spec.user = asks.user;
    return submit(cluster_, spec);
  }
  JobId running(const Asking& asks) {
    const JobId id = waiting(asks);
    fold(Started{id, false});
    return id;
  }
  JobId backfilled(const Asking& asks) {
    const JobId id = waiting(asks);
    fold(Started{id, true});
    return id;
  }
  void ends(JobId id) { fold(Finished{id}); }
  void promise(JobId id, std::int64_t second) { fold(Promised{id, at_seconds(second)}); }
  void close_cycle() { fold(CycleClosed{}); }
  template <class Kind>
  void fold(const Kind& what) {
    rota::fold(cluster_, what);
  }

  Cluster& cluster() { return cluster_; }
  const Job& job(JobId id) const { return cluster_.job(id); }

 private:
  Cluster cluster_;
  std::int64_t numbers_ = 0;
};

}  // namespace rota

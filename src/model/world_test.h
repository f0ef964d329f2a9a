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
    return cluster_.submitted(spec, spec.limit);
  }
  JobId running(const Asking& asks) {
    const JobId id = waiting(asks);
    cluster_.started({id, false});
    return id;
  }
  JobId backfilled(const Asking& asks) {
    const JobId id = waiting(asks);
    cluster_.started({id, true});
    return id;
  }
  void ends(JobId id) { cluster_.finished({id, false}); }
  void promise(JobId id, std::int64_t second) { cluster_.promised({id, at_seconds(second)}); }
  void close_cycle() {
    cluster_.close_cycle([](JobId, const Job&) {});
  }

  Cluster& cluster() { return cluster_; }
  const Job& job(JobId id) const { return cluster_.job(id); }

 private:
  Cluster cluster_;
  std::int64_t numbers_ = 0;
};

}  // namespace rota

// What became of the tasks of a rehearsal's jobs and how busy the accelerators were: for tables and pages.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace rota::report {

struct TaskUse {
  std::int64_t jobs = 0;          // that have tasks and started
  std::int64_t on_cpu = 0;        // tasks finished there
  std::int64_t local = 0;         // on an accelerator of the node where they lay
  std::int64_t remote = 0;        // of another node
  std::int64_t redone = 0;        // begun in vain: a job was stopped, or an accelerator sent to sleep
  std::int64_t bytes = 0;         // moved between nodes, there and back
  std::int64_t bound = 0;         // nodes or slots, to an accelerator node
  std::int64_t rebound = 0;       // how often one of them, to another
  std::int64_t accelerators = 0;  // of the cluster
  Duration computing{0};          // of all accelerators together
  Duration length{0};             // from the first arrival until the last job was gone
  std::int64_t checks = 0;        // that the tasks' own check made

  std::int64_t done() const { return on_cpu + local + remote; }
  double use() const { return ratio(computing.count(), length.count() * accelerators); }
  double accelerated_share() const { return ratio(local + remote, done()); }
  double remote_share() const { return ratio(remote, done()); }

 private:
  static double ratio(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
  }
};

}  // namespace rota::report

// The parameters of slurm.conf that decide which job's turn it is and which jobs start. Names and defaults are Slurm's
// (22.05).
#pragma once

#include <cstdint>

#include "base/time.h"
#include "model/action.h"

namespace rota {

// PriorityType=priority/multifactor: what each factor, which is from 0 to 1, is multiplied by.
struct SlurmWeights {
  std::int64_t age = 0;
  std::int64_t job_size = 0;
  std::int64_t fair_share = 0;
  std::int64_t partition = 0;
  std::int64_t qos = 0;
  // For what a job asks for, as a part of its partition's (PriorityWeightTRES).
  std::int64_t processors = 0;
  std::int64_t memory = 0;
  std::int64_t nodes = 0;
  std::int64_t accelerators = 0;
  bool fair_tree = true;
  std::int64_t dampening = 1;  // without the fair tree: by so much the factor sinks more slowly with use
  Duration max_age = seconds(7 * 86'400);
  bool favor_small = false;
  bool relative_to_time = false;        // size counts per minute of the limit (PriorityFlags=SMALL_RELATIVE_TO_TIME)
  Duration calc_period = seconds(300);  // ages and use are reckoned anew so often,
  Duration calc_phase{0};               // so long after second 0 and a whole number of periods

  // When priorities were reckoned last.
  Instant reckoned_at(Instant now) const {
    const Duration since = (now - kEpoch - calc_phase) % calc_period;
    return now - (since + calc_period) % calc_period;
  }

  bool operator==(const SlurmWeights&) const = default;
};

struct SlurmKnobs {
  bool planner = false;        // whether a link plans as Slurm does
  Duration clock{0};           // Unix time at second 0 of the log, or what is left of it
  Duration tick = seconds(1);  // slurmctld looks so often whether something has happened; 0: at once
  // The backfill pass.
  Duration interval = seconds(30);  // between two of them; 0: there is none (sched/builtin)
  Duration phase{0};                // the first one comes so long after second 0 of the log
  Duration resolution = seconds(60);
  Duration window = seconds(86'400);
  std::int32_t max_job_test = 500;
  std::int32_t max_job_start = 0;  // 0: as many as there are, as in all that follow
  std::int32_t max_job_user = 0;
  std::int32_t max_job_part = 0;
  std::int32_t part_count_reserve = 0;
  // The main pass.
  Duration batch_delay = seconds(3);  // between two of them
  std::int32_t queue_depth = 100;
  std::int32_t partition_depth = 0;
  Duration sched_interval = seconds(60);  // so often it looks at the whole queue
  // Which running jobs give way (PreemptType, PreemptMode).
  Preemption preempt = Preemption::none;
  bool by_qos = false;                    // those of a QOS that the job's own stands over; else those of lower priority
  Duration exempt{0};                     // jobs that have run no longer do not
  Duration requeue_delay = seconds(121);  // a job that gave way is looked at again so much later
  // The order of the queue.
  bool multifactor = false;
  SlurmWeights weights;

  // Down to a whole number of steps of slurmctld's clock.
  Instant rounded_down(Instant at, Duration step) const { return at - (at - kEpoch + clock) % step; }

  bool by_shares() const { return planner && multifactor && weights.fair_share > 0; }

  bool operator==(const SlurmKnobs&) const = default;
};

}  // namespace rota

// What another order would change of the starts of jobs that another resource manager starts: the queue as it stands is
// rehearsed twice, in the manager's own order and in the one that is advised, with the same run times; no job comes.
// One thread.
#pragma once

#include <map>
#include <vector>

#include "control/manager_jobs.h"
#include "serve/forecaster.h"

namespace rota::serve {

class OrderAdvice {
 public:
  struct Starts {  // in half of the futures by then; kNever: not within the horizon
    Instant own = kNever, advised = kNever;
  };
  // Jobs that start within the horizon of a forecast, in one order at least; in the other they wait until its end at
  // most.
  struct Sum {
    std::int64_t jobs = 0;
    std::int64_t sooner = 0, later = 0;
    Duration mean_own{0}, mean_advised{0};  // waits from then on
    Instant at = kNever;                    // when that was rehearsed
  };

  OrderAdvice(const Desk& desk, const JobBook& book, Forecaster& forecaster)
      : desk_(desk), book_(book), forecaster_(forecaster) {}

  // What the jobs' places are worth now; none: nothing is advised. Rehearsed at most a fiftieth of the time.
  void rehearse(const std::vector<ManagerPlace>& places);
  // nullptr: nothing is advised, or it was not rehearsed yet.
  const Starts* of(JobId job) const;
  Sum sum() const;

 private:
  void rehearsed(const Result<Forecasted>& own, const Result<Forecasted>& advised);

  const Desk& desk_;
  const JobBook& book_;
  Forecaster& forecaster_;
  std::map<JobId, Starts> starts_;
  Instant at_ = kNever;
  Instant next_ = kEpoch;  // not before
  bool under_way_ = false;
};

}  // namespace rota::serve

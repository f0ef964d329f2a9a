// What may come of a state: it is rehearsed many times, each time with other run times and other arrivals, by the
// policy that decides and the controller that runs live. Each future is drawn from a seed and its number, so that the
// same question has the same answer. Nothing here has a clock or a thread: a caller with little time counts futures.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "control/controller.h"
#include "forecast/arrivals.h"
#include "forecast/run_times.h"
#include "model/limit_book.h"
#include "model/share_tree.h"

namespace rota::forecast {

// The state that is asked about. All that is named must outlive the forecast.
struct Present {
  Instant now = kEpoch;
  std::vector<Fact> facts;           // its snapshot
  std::int64_t processors = 0;       // of the cluster,
  const Machine* machine = nullptr;  // and its nodes; nullptr: processors are counted
  const Chain* chain = nullptr;
  std::shared_ptr<const LimitBook> limits = nullptr;  // of the machine; nullptr: it has none
  std::shared_ptr<const ShareTree> shares = nullptr;  // by which the policy goes; nullptr: the cluster has none
  bool another_decided = false;                       // another policy, until now
  bool shared = false;  // others have filled the cluster: it may break laws of ours (ClusterOptions::shared)
};

struct Question {
  std::vector<JobId> jobs = {};      // whose starts are asked for; they wait
  std::vector<Duration> looks = {};  // when to look at the nodes, from now on, in order
  std::uint64_t seed = 1;
  Duration horizon = seconds(28 * 86'400LL);  // no future goes farther
  // Nothing is drawn: every job takes as long as the policy counts on, and no job comes. All futures are alike then.
  bool as_expected = false;
  bool none_comes = false;  // run times are drawn, and no job comes
};

// What one future shows at one look.
struct Look {
  std::int64_t busy = 0;        // processors that jobs hold
  std::int64_t nodes_on = 0;    // or booting; 0 where processors are counted
  std::int64_t waiting = 0;     // jobs
  std::int64_t milliwatts = 0;  // on average since the look before; 0 where no watts are told
};

struct Future {
  std::vector<Instant> starts;  // of the jobs asked for; kNever: not within the horizon
  std::vector<Look> looks;
};

class Forecast {
 public:
  // Looks the past up once for all futures: O(past jobs + jobs of the state). Where nothing is drawn it is not asked.
  Forecast(Present present, const PastJobs& past, Question question);
  ~Forecast();
  Forecast(const Forecast&) = delete;
  Forecast& operator=(const Forecast&) = delete;

  // Goes on with the future that is being rehearsed, or begins the next, for so many events at most. Fails with a
  // sentence where the policy fails. A future costs O(jobs of the state + what happens until the last start asked for,
  // or the last look).
  Result<void> go_on(std::int64_t events);
  // The next one whole.
  Result<void> rehearse_one();

  const std::vector<Future>& futures() const { return futures_; }
  const Question& question() const { return question_; }
  int weeks() const { return arrivals_.period() >= seconds(7 * 86'400LL) ? arrivals_.periods() : 0; }
  // Starts of the job asked for in this place, in order.
  std::vector<Instant> starts_of(std::size_t job) const;
  // Starts of the jobs asked for, in the future that is being rehearsed and as far as that has come; empty: none is
  // being rehearsed.
  std::vector<Instant> starts_so_far() const;

 private:
  struct Known {  // a job of the state
    JobId id;
    std::uint32_t user;
    std::shared_ptr<const RunTimes> run_times;  // nullptr: it is not drawn but
    Duration expected{0};                       // that, from now on
  };

  struct World;  // the future that is being rehearsed

  void take_at_its_word();
  void draw_from(const PastJobs& past);

  Duration draw(const Known& job, std::uint64_t number) const;
  Result<void> begin();
  bool switches() const;
  sim::EngineOptions engine_options() const;

  Present present_;
  Question question_;
  PastArrivals arrivals_;
  std::vector<Known> known_;
  std::vector<Future> futures_;
  std::unique_ptr<World> world_;
};

// When a job would start if every job took its whole limit, no job came any more, and each one in order of the queue
// got the earliest time that is left: as Slurm reports expected starts. kNever: nothing is known.
Instant by_limits(const Present& present, JobId job);

}  // namespace rota::forecast

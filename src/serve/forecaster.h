// Forecasts of a live state: what is known of past jobs comes from the history, the futures are rehearsed a few
// milliseconds at a time between all else that the service does, and what becomes of a forecast teaches how to read
// the next ones. One thread: the service's.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "forecast/correction.h"
#include "forecast/forecast.h"
#include "forecast/misses.h"
#include "serve/as_if_ours.h"
#include "serve/desk.h"
#include "serve/job_book.h"
#include "serve/new_rows.h"
#include "serve/their_shares.h"
#include "store/job_history.h"

namespace rota::serve {

struct ForecastAsked {
  std::vector<JobId> jobs = {};      // that wait
  std::vector<Duration> looks = {};  // at the nodes, from now on
  std::int64_t futures = 500;        // at most
  std::uint64_t seed = 1;
  std::uint32_t uid = 0;  // the user who asks
  bool operates = false;
  // Another manager's jobs that wait go by this, the highest first, in place of what the policy would say, and no job
  // comes. Empty: by the policy, and jobs come.
  std::map<JobId, std::int64_t> priorities = {};
};

struct Forecasted {
  // Shares of the futures, in hundredths.
  static constexpr auto kShares = forecast::Misses::kShares;
  static constexpr std::array<int, 3> kLookShares{5, 50, 95};
  struct Start {
    JobId job;
    forecast::Misses::Foretold by = {};  // in so many of the futures it has started; kNever: in fewer
  };
  using Figures = std::array<std::int64_t, kLookShares.size()>;
  struct Look {
    Duration after{0};
    Figures busy = {}, nodes_on = {}, waiting = {}, milliwatts = {};
  };
  static constexpr std::int64_t kFewPastJobs = 20;
  Instant now = kEpoch;
  std::int64_t futures = 0;
  std::int64_t past_jobs = 0;  // from which run times and arrivals were drawn
  int weeks = 0;               // of past arrivals; 0: less than one is known
  std::int64_t learned = 0;    // forecasts that have come true and by which these were read; 0: too few
  Duration spent{0};           // of the service's time
  std::vector<Start> starts;
  std::vector<Look> looks;

  // Futures that are drawn from so few past jobs differ too little: what comes may well lie outside all of them.
  bool few_past_jobs() const { return past_jobs < kFewPastJobs; }
};

class Forecaster {
 public:
  using Answer = std::function<void(const Result<Forecasted>&)>;

  Forecaster(const Desk& desk, const JobBook& book, const ReservationDesk& reservations)
      : desk_(desk), book_(book), reservations_(reservations) {}

  // Forecasts the state as it stands; the answer comes later, in a turn of its own. Fails with a sentence where there
  // is too much to do: for this user, or for all users but operators.
  void ask(ForecastAsked asked, Answer answer);

  // Where another manager has the jobs: what it says that no fact does, as known last.
  void throttle(std::int64_t array, std::uint32_t most);
  void used(TheirUse use) { use_ = std::move(use); }
  // See as_if_ours.h.
  std::string not_foretold(JobId job) const;

 private:
  struct Task {
    ForecastAsked asked;
    Answer answer;
    std::shared_ptr<const Chain> chain = {};
    std::shared_ptr<const Machine> machine = {};
    std::unique_ptr<forecast::Forecast> forecast = {};
    Instant now = kEpoch;
    std::int64_t past_jobs = 0;
    std::chrono::steady_clock::duration spent{0};
  };
  // A job that was forecast and has not started: its start in each hundredth of the futures.
  struct Promising {
    Instant at;
    std::vector<Instant> starts;
  };

  void turn();
  Result<bool> work(Task& task);
  Result<void> begin(Task& task);
  Result<bool> read_past();
  void keep_history(std::vector<store::HistoryRow> rows);
  forecast::PastJob past_job(const store::HistoryRow& row) const;
  TheirState their_state(const JobLookup& jobs) const;
  forecast::Present present_for(const Task& task);
  forecast::Misses misses_by(Instant now) const;
  Forecasted conclude(const Task& task);
  void keep(const Task& task);
  void compare();
  void came_true(const Promising& forecast, Instant start);
  void recall();

  const Desk& desk_;
  const JobBook& book_;
  const ReservationDesk& reservations_;
  std::deque<Task> tasks_;
  forecast::PastJobs past_;
  std::int64_t past_jobs_ = 0;
  std::vector<store::HistoryRow> first_rows_;  // while the history is read for the first time
  NewRows new_rows_;
  forecast::Correction correction_;  // of jobs that this service starts,
  forecast::Misses misses_;          // and of those that another manager does
  std::map<JobId, Promising> open_;
  std::uint64_t asked_ = 0;
  std::map<std::int64_t, std::uint32_t> throttles_;  // by array
  TheirUse use_;
  NamesByNumber users_;
};

}  // namespace rota::serve

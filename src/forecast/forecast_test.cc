#include "forecast/forecast.h"

#include <gtest/gtest.h>

#include "engine/sim/rehearsal.h"
#include "forecast/calibrate.h"

namespace rota::forecast {
namespace {

// Jobs of one user in a row: numbers from 1 on, all at the epoch unless they say otherwise.
struct Listed final : sim::Source {
  explicit Listed(std::vector<sim::Arrival> jobs) : all(std::move(jobs)) {}
  bool next(sim::Arrival& arrival) override {
    if (at == all.size()) return false;
    arrival = all[at++];
    return true;
  }
  std::vector<sim::Arrival> all;
  std::size_t at = 0;
};

sim::Arrival job(std::uint32_t processors, Duration limit, Duration run_time, Instant submit = kEpoch) {
  sim::Arrival arrival;
  arrival.spec.submit = submit;
  arrival.spec.limit = limit;
  arrival.spec.processors = processors;
  arrival.spec.user = 1;
  arrival.run_time = run_time;
  return arrival;
}

// The state of a cluster some time after these jobs came.
class StateAt final : public JobSink, public Alarm {
 public:
  StateAt(std::vector<sim::Arrival> jobs, const Chain& chain, std::int64_t processors, Instant at,
          const Machine* machine = nullptr)
      : source_(std::move(jobs)) {
    present.now = at;
    present.processors = processors;
    present.chain = &chain;
    present.machine = machine;
    sim::RehearsalOptions options;
    options.processors = processors;
    options.machine = options.engine.metered = machine;
    sim::Rehearsal rehearsal(options, chain, source_, *this);
    rehearsal_ = &rehearsal;
    rehearsal.loop().set(*this, at);
    EXPECT_TRUE(rehearsal.run());
  }
  void job_gone(JobId, const Job&) override {}
  void ring() override { present.facts = rehearsal_->controller().snapshot(); }

  Present present;

 private:
  Listed source_;
  sim::Rehearsal* rehearsal_ = nullptr;
};

PastJobs halves(int times) {
  PastJobs past;
  for (int i = 0; i < times; ++i) {
    const sim::Arrival each = job(4, seconds(1000), seconds(500));
    past.add({each.spec, each.run_time});
  }
  return past;
}

class Forecasts : public ::testing::Test {
 protected:
  Chain chain = *Chain::parse("easy");
  // One runs since the epoch on all there is, another waits behind it, and a third behind that.
  StateAt state{
      {job(4, seconds(1000), seconds(500)), job(4, seconds(1000), seconds(500)), job(4, seconds(1000), seconds(500))},
      chain,
      4,
      at_seconds(100)};

  std::vector<Instant> starts(const PastJobs& past, std::size_t which, std::uint64_t seed = 1, int futures = 100) {
    Forecast forecast(state.present, past, {.jobs = {JobId{1}, JobId{2}}, .seed = seed});
    for (int i = 0; i < futures; ++i) EXPECT_TRUE(forecast.rehearse_one());
    return forecast.starts_of(which);
  }
};

TEST_F(Forecasts, know_jobs_that_always_take_half_their_limit) {
  const PastJobs past = halves(40);
  EXPECT_EQ(quantile(starts(past, 0), 0.5), at_seconds(500));
  EXPECT_EQ(quantile(starts(past, 1), 0.5), at_seconds(1000));
}

TEST_F(Forecasts, take_anything_up_to_the_limit_where_nothing_is_known) {
  const std::vector<Instant> first = starts({}, 0, 1, 400);
  EXPECT_GE(first.front(), at_seconds(100));
  EXPECT_LE(first.back(), at_seconds(1000));
  EXPECT_LT(quantile(first, 0.25), at_seconds(450));
  EXPECT_GT(quantile(first, 0.75), at_seconds(650));
}

TEST_F(Forecasts, are_the_same_with_the_same_seed_and_in_pieces) {
  EXPECT_EQ(starts({}, 1), starts({}, 1));
  EXPECT_NE(starts({}, 1), starts({}, 1, 2));
  Forecast pieces(state.present, {}, {.jobs = {JobId{1}, JobId{2}}});
  while (pieces.futures().size() < 100) ASSERT_TRUE(pieces.go_on(1));
  EXPECT_EQ(pieces.starts_of(1), starts({}, 1));
}

TEST_F(Forecasts, draw_nothing_where_every_job_takes_what_is_counted_on) {
  PastJobs past = halves(40);  // of which nothing is asked
  Forecast forecast(state.present, past, {.jobs = {JobId{1}, JobId{2}}, .as_expected = true});
  EXPECT_TRUE(forecast.starts_so_far().empty());
  while (forecast.futures().empty()) {
    ASSERT_TRUE(forecast.go_on(1));
    if (forecast.futures().empty()) {
      EXPECT_EQ(forecast.starts_so_far().size(), 2U);
    }
  }
  EXPECT_EQ(forecast.futures().front().starts, (std::vector<Instant>{at_seconds(1000), at_seconds(2000)}));
}

TEST_F(Forecasts, end_at_their_horizon_although_the_next_event_lies_far_behind_it) {
  const StateAt endless{{job(4, kLongest, kLongest), job(4, seconds(1000), seconds(500))}, chain, 4, at_seconds(100)};
  Forecast forecast(endless.present, {}, {.jobs = {JobId{1}}, .as_expected = true});
  ASSERT_TRUE(forecast.rehearse_one());
  EXPECT_EQ(forecast.futures().front().starts, std::vector<Instant>{kNever});
  Forecast drawn(endless.present, {}, {.jobs = {JobId{1}}});
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(drawn.rehearse_one());
  const std::vector<Instant> starts = drawn.starts_of(0);
  EXPECT_LT(quantile(starts, 0.5), at_seconds(3600));
  for (const Instant start : starts)
    EXPECT_TRUE(start == kNever || start <= at_seconds(100) + drawn.question().horizon);
}

TEST_F(Forecasts, count_on_arrivals_that_came_at_this_time_of_past_weeks) {
  PastJobs past;
  const Instant now = at_seconds(100) + 4 * seconds(7 * 86'400);
  for (int week = 0; week < 4; ++week) {  // each a little later than now, with a place in front
    sim::Arrival each = job(4, seconds(1000), seconds(400), at_seconds(200) + week * seconds(7 * 86'400));
    each.spec.priority = 5;
    past.add({each.spec, each.run_time});
  }
  const Chain by_priority = *Chain::parse("easy");
  StateAt later({job(4, seconds(1000), seconds(500), now - seconds(100)),
                 job(4, seconds(1000), seconds(500), now - seconds(100))},
                by_priority, 4, now);
  Forecast forecast(later.present, past, {.jobs = {JobId{1}}});
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(forecast.rehearse_one());
  // Run times are 400 s by what is known; the newcomer runs first, for 400 s again.
  EXPECT_GE(forecast.starts_of(0)[10], now + seconds(300 + 400) - seconds(20));
}

TEST_F(Forecasts, tell_what_is_in_use_by_and_by) {
  Forecast forecast(state.present, halves(40), {.jobs = {}, .looks = {seconds(100), seconds(2900)}});
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(forecast.rehearse_one());
  for (const Future& future : forecast.futures()) {
    ASSERT_EQ(future.looks.size(), 2U);
    EXPECT_EQ(future.looks[0].busy, 4);
    EXPECT_EQ(future.looks[1].busy, 0) << "all three are over after 3,000 s at most";
  }
}

TEST_F(Forecasts, stand_beside_what_limits_say) {
  EXPECT_EQ(by_limits(state.present, JobId{1}), at_seconds(1000));
  EXPECT_EQ(by_limits(state.present, JobId{2}), at_seconds(2000));
}

// Two nodes that take half a minute to boot, and sleep where no job needs them.
class Sleepers : public ::testing::Test {
 protected:
  Sleepers() {
    for (const char* name : {"one", "two"}) {
      Node node;
      node.name = name;
      node.power.idle = 100'000;
      node.power.boot = seconds(30);
      node.power.shutdown = seconds(20);
      machine.nodes.push_back(node);
    }
    machine.processors = 2;
  }
  Machine machine;
  Chain chain = *Chain::parse("easy+power=demand");
};

TEST_F(Sleepers, are_woken_in_futures_too) {
  constexpr Instant kCame = at_seconds(20'000);
  StateAt state({job(1, seconds(10), seconds(10)), job(2, seconds(10), seconds(10), kCame)}, chain, 2,
                kCame + seconds(4), &machine);
  Forecast forecast(state.present, {}, {.jobs = {JobId{1}}, .looks = {seconds(10), seconds(20'000)}});
  ASSERT_TRUE(forecast.rehearse_one());
  const Future& future = forecast.futures().front();
  EXPECT_EQ(future.starts[0], kCame + seconds(30)) << "both boot since it came";
  EXPECT_EQ(future.looks[0].nodes_on, 2);
  EXPECT_EQ(future.looks[1].nodes_on, 0) << "they sleep again";
  EXPECT_GT(future.looks[0].milliwatts, future.looks[1].milliwatts);
}

TEST_F(Sleepers, that_were_told_to_boot_come_without_a_power_rule_too) {
  constexpr Instant kCame = at_seconds(20'000);
  for (Node& node : machine.nodes) node.power.idle = 0;  // no watts are told
  StateAt state({job(1, seconds(10), seconds(10)), job(2, seconds(10), seconds(10), kCame)}, chain, 2,
                kCame + seconds(4), &machine);
  const Chain easy = *Chain::parse("easy");
  state.present.chain = &easy;
  Forecast forecast(state.present, {}, {.jobs = {JobId{1}}});
  ASSERT_TRUE(forecast.rehearse_one());
  EXPECT_EQ(forecast.futures().front().starts[0], kCame + seconds(30));
}

// A log in which half the jobs use up their limits and half next to nothing of them.
std::vector<sim::Arrival> coin_tosses() {
  Random lots(7);
  std::vector<sim::Arrival> jobs;
  Instant at = kEpoch;
  for (int i = 0; i < 1500; ++i) {
    at += seconds(lots.between(0, 1150));
    const bool whole = lots.chance(0.5);
    jobs.push_back(job(4, seconds(1000), whole ? seconds(1000) : seconds(10 + lots.between(0, 60)), at));
  }
  return jobs;
}

TEST(Calibration, of_jobs_by_lot_is_about_right) {
  const Chain chain = *Chain::parse("easy");
  const auto log = [] { return std::make_unique<Listed>(coin_tosses()); };
  const auto trials = calibrate(log, chain, {.processors = 4, .moments = 300, .futures = 100});
  ASSERT_TRUE(trials);
  const Score forecast = score_of(*trials, Way::forecast);
  EXPECT_EQ(forecast.trials, 300);
  EXPECT_NEAR(forecast.inside90, 0.9, 0.08);
  EXPECT_GT(forecast.inside50, 0.4);
  EXPECT_LT(forecast.mean_error, 0.75 * score_of(*trials, Way::by_limits).mean_error);
  EXPECT_EQ(score_of(*trials, Way::promise).trials, score_of(*trials, Way::forecast_of_promised).trials);
}

TEST(Calibration, sees_no_start_before_its_moment_and_no_promise_broken) {
  const Chain chain = *Chain::parse("conservative");
  const auto log = [] { return std::make_unique<Listed>(coin_tosses()); };
  const auto trials = calibrate(log, chain, {.processors = 4, .moments = 100, .futures = 20});
  ASSERT_TRUE(trials);
  for (const Trial& trial : *trials) {
    EXPECT_GT(trial.start, trial.at);
    EXPECT_GE(trial.forecast.low90, trial.at);
    EXPECT_LE(trial.start, trial.promise);
    EXPECT_EQ(trial.by_limits, trial.promise) << "limits at their word are what this policy promises";
  }
}

}  // namespace
}  // namespace rota::forecast

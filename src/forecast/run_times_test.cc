#include "forecast/run_times.h"

#include <gtest/gtest.h>

namespace rota::forecast {
namespace {

JobSpec spec_of(std::uint32_t user, Duration limit) {
  JobSpec spec;
  spec.user = user;
  spec.limit = limit;
  return spec;
}

void add(PastJobs& past, std::uint32_t user, Duration limit, Duration run_time, int times) {
  for (int i = 0; i < times; ++i) past.add({spec_of(user, limit), run_time});
}

RunTimes times_of(const PastJobs& past, const std::vector<RunsYet>& run_yet, const JobSpec& spec, Duration elapsed,
                  const std::vector<RunsYet>& of_others = {}) {
  std::vector<RunsYet> all = run_yet;
  all.insert(all.end(), of_others.begin(), of_others.end());
  return RunTimes::of(past, run_yet, RunTimes::of_all_users(past, all, spec.limit), spec, elapsed);
}

Duration median(const RunTimes& times) { return times.left(0.5); }

TEST(RunTimes, are_anything_up_to_the_limit_where_nothing_is_known) {
  const RunTimes times = times_of({}, {}, spec_of(1, seconds(1000)), Duration{0});
  EXPECT_EQ(times.left(0.25), seconds(250));
  EXPECT_EQ(times.left(1), seconds(1000));
}

TEST(RunTimes, follow_what_the_user_s_jobs_took) {
  PastJobs past;
  add(past, 1, seconds(1000), seconds(500), 20);
  EXPECT_EQ(median(times_of(past, {}, spec_of(1, seconds(1000)), Duration{0})), seconds(500));
  EXPECT_EQ(median(times_of(past, {}, spec_of(1, seconds(3000)), Duration{0})), seconds(1500)) << "the same share";
}

TEST(RunTimes, follow_the_user_before_others_and_late_jobs_before_early_ones) {
  PastJobs past;
  add(past, 1, seconds(1000), seconds(100), 60);
  add(past, 1, seconds(1000), seconds(900), 40);
  add(past, 2, seconds(1000), seconds(10), 300);
  EXPECT_EQ(median(times_of(past, {}, spec_of(1, seconds(1000)), Duration{0})), seconds(900));
  EXPECT_EQ(median(times_of(past, {}, spec_of(3, seconds(1000)), Duration{0})), seconds(10))
      << "a user with no jobs yet";
}

TEST(RunTimes, of_a_job_that_runs_are_those_of_jobs_that_ran_for_longer) {
  PastJobs past;
  add(past, 1, seconds(1000), seconds(100), 50);
  add(past, 1, seconds(1000), seconds(700), 10);
  const RunTimes times = times_of(past, {}, spec_of(1, seconds(1000)), seconds(200));
  EXPECT_EQ(times.left(0), seconds(500));
  EXPECT_EQ(median(times), seconds(500));
  const RunTimes beyond = times_of(past, {}, spec_of(1, seconds(1000)), seconds(800));
  EXPECT_EQ(beyond.left(1), seconds(200)) << "none ran for so long: up to its limit";
}

TEST(RunTimes, without_a_limit_double_once_all_that_is_known_is_outlived) {
  PastJobs past;
  add(past, 1, kLongest, Duration{200}, 39);
  const JobSpec spec = spec_of(1, kLongest);
  EXPECT_EQ(median(times_of(past, {}, spec, Duration{0})), seconds(1)) << "as all before it";
  const RunTimes times = times_of(past, {}, spec, seconds(3600));
  EXPECT_EQ(median(times), seconds(3600));
  EXPECT_EQ(times.left(0.75), seconds(3 * 3600));
  EXPECT_LT(times.left(0.95), seconds(31 * 3600));
  EXPECT_EQ(median(times_of({}, {}, spec, Duration{0})), seconds(600)) << "of which nothing is known at all";
  EXPECT_EQ(median(times_of({}, {}, spec, seconds(60))), seconds(540));
}

TEST(RunTimes, of_jobs_behind_one_without_a_limit_that_runs_are_no_centuries) {
  PastJobs past;
  add(past, 1, kLongest, seconds(10), 4);
  const JobSpec spec = spec_of(1, kLongest);
  const std::vector<RunsYet> run_yet(8, RunsYet{spec, seconds(100)});
  EXPECT_GT(median(times_of(past, run_yet, spec, Duration{0})), seconds(100)) << "for those that run yet do so";
  EXPECT_LT(times_of(past, run_yet, spec, Duration{0}).left(0.9), seconds(3600));
}

TEST(RunTimes, know_that_those_that_run_yet_are_longer_than_those_that_have_ended) {
  PastJobs past;
  add(past, 1, seconds(1000), seconds(100), 4);
  add(past, 1, seconds(1000), seconds(800), 1);
  const JobSpec spec = spec_of(1, seconds(1000));
  EXPECT_LT(median(times_of(past, {}, spec, Duration{0})), seconds(200));
  const std::vector<RunsYet> run_yet(8, RunsYet{spec, seconds(300)});
  EXPECT_GT(median(times_of(past, run_yet, spec, Duration{0})), seconds(400));
}

TEST(RunTimes, know_that_of_others_while_few_have_ended) {
  PastJobs past;
  add(past, 1, seconds(1000), seconds(100), 4);
  add(past, 2, seconds(1000), seconds(800), 1);
  const JobSpec spec = spec_of(3, seconds(1000));
  const std::vector<RunsYet> of_others(8, RunsYet{spec_of(4, seconds(1000)), seconds(300)});
  EXPECT_LT(median(times_of(past, {}, spec, Duration{0})), seconds(200));
  EXPECT_GT(median(times_of(past, {}, spec, Duration{0}, of_others)), seconds(250));
  const std::vector<RunsYet> of_another_class(8, RunsYet{spec_of(4, seconds(9000)), seconds(300)});
  EXPECT_LT(median(times_of(past, {}, spec, Duration{0}, of_another_class)), seconds(200));
  for (std::size_t i = 0; i < PastJobs::kOfClass; ++i) add(past, 2, seconds(1000), seconds(100), 1);
  EXPECT_EQ(median(times_of(past, {}, spec, Duration{0}, of_others)), seconds(100));
}

TEST(RunTimes, of_few_jobs_of_others_are_those_of_all_of_them) {
  PastJobs past;
  for (int i = 1; i <= 9; ++i) add(past, 1, seconds(1000), seconds(100 * i), 1);
  const RunTimes times = times_of(past, {}, spec_of(2, seconds(1000)), Duration{0});
  for (int i = 1; i <= 9; ++i) EXPECT_NEAR(static_cast<double>(times.left(i / 9.0).count()), 100'000 * i, 1000);
}

TEST(RunTimes, of_one_that_outlives_all_that_is_known_are_anything_up_to_its_limit) {
  PastJobs past;
  add(past, 1, seconds(600), seconds(1), 24);
  const JobSpec spec = spec_of(1, seconds(600));
  for (const std::size_t others : {0U, 1U}) {
    std::vector<RunsYet> run_yet(others, RunsYet{spec, seconds(50)});
    run_yet.push_back({spec, seconds(100)});
    const RunTimes times = times_of(past, run_yet, spec, seconds(100));
    EXPECT_NEAR(static_cast<double>(median(times).count()), 250'000, 2000);
    EXPECT_LT(times.left(0.1), seconds(60));
    EXPECT_GT(times.left(0.9), seconds(440));
  }
}

TEST(RunTimes, grow_with_the_lot_and_are_never_nothing) {
  PastJobs past;
  for (int i = 1; i < 50; ++i) add(past, 1, seconds(1000), seconds(i * 37 % 1000), 1);
  const RunTimes times = times_of(past, {}, spec_of(1, seconds(1000)), Duration{0});
  Duration before{0};
  for (int i = 0; i <= 100; ++i) {
    const Duration left = times.left(i / 100.0);
    EXPECT_GE(left, std::max(before, seconds(1)));
    before = left;
  }
  EXPECT_LE(before, seconds(1000));
}

TEST(PastJobs, forget_the_oldest) {
  PastJobs past;
  for (std::size_t i = 0; i < PastJobs::kMost + 10; ++i) {
    past.add({spec_of(i < 10 ? 7 : 8, seconds(100)), seconds(10)});
  }
  EXPECT_EQ(past.all().size(), PastJobs::kMost);
  int of_seven = 0;
  int of_eight = 0;
  past.for_user(7, [&](const PastJob&) { ++of_seven; });
  past.for_user(8, [&](const PastJob&) { ++of_eight; });
  EXPECT_EQ(of_seven, 0);
  EXPECT_EQ(of_eight, static_cast<int>(PastJobs::kOfUser));
}

}  // namespace
}  // namespace rota::forecast

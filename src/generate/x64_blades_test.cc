#include "generate/x64_blades.h"

#include <gtest/gtest.h>

#include "generate/sample_test.h"
#include "generate/statistics_test.h"
#include "log/swf.h"

namespace rota::generate {
namespace {

log::Workload made(const X64Blades& settings = {}) {
  X64Blades x = settings;
  const auto recipe = x.recipe();
  EXPECT_TRUE(recipe) << recipe.error().message;
  return generate(*recipe);
}

double node_minutes(const log::Workload& workload) { return work_of(workload) / 8 / 60; }

double share_of_nodes(const log::Workload& workload, std::uint32_t nodes) {
  return share_of(workload, [nodes](const JobSpec& job) { return job.processors == 8 * nodes; });
}

// Share of the jobs that arrive on each of the days.
std::vector<double> days_of(const log::Workload& workload) {
  std::vector<double> days(35);
  for (const JobSpec& job : workload.jobs) {
    days[static_cast<std::size_t>((job.submit - kEpoch) / seconds(86400))] +=
        1.0 / static_cast<double>(workload.jobs.size());
  }
  return days;
}

TEST(X64Blades, has_the_published_totals) {
  const log::Workload workload = made();
  EXPECT_NEAR(node_minutes(workload), 8.987e6, 8.987e6 * 0.002);
  EXPECT_EQ(workload.nodes, 320);
  EXPECT_EQ(workload.processors, 2560);
  EXPECT_NEAR(to_seconds(workload.jobs.back().submit - kEpoch) / 60, 48'910, 120);
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    const JobSpec& job = workload.jobs[i];
    ASSERT_TRUE(job.processors % 16 == 0 && job.processors <= 512) << job.processors;
    ASSERT_LE(workload.run_times[i], seconds(3600));
    ASSERT_EQ(job.limit, seconds(3600));
  }
}

TEST(X64Blades, is_like_the_calibrated_stream) {
  const std::filesystem::path path = shared_folder() / "workloads" / "x64-blades-pf.swf";
  SKIP_WITHOUT(path);
  const auto read = log::read_swf(path.string());
  ASSERT_TRUE(read) << read.error().message;
  const log::Workload ours = made();
  EXPECT_NEAR(static_cast<double>(ours.jobs.size()) / static_cast<double>(read->jobs.size()), 1.0, 0.03);
  EXPECT_NEAR(node_minutes(ours) / node_minutes(*read), 1.0, 0.002);
  EXPECT_NEAR(mean_of(runs_of(ours)) / mean_of(runs_of(*read)), 1.0, 0.03);
  for (const std::uint32_t nodes : {2U, 4U, 8U, 16U, 32U, 64U}) {
    EXPECT_NEAR(share_of_nodes(ours, nodes), share_of_nodes(*read, nodes), 0.04) << nodes;
  }
  const auto full = [](const log::Workload& w) {
    return static_cast<double>(std::ranges::count(w.run_times, seconds(3600))) / static_cast<double>(w.jobs.size());
  };
  EXPECT_NEAR(full(ours), full(*read), 0.03);
  const std::array<double, 24> hours = hours_of(ours);
  const std::array<double, 24> their_hours = hours_of(*read);
  for (std::size_t hour = 0; hour < 24; ++hour) EXPECT_NEAR(hours[hour], their_hours[hour], 0.012) << hour;
  const std::vector<double> days = days_of(ours);
  const std::vector<double> their_days = days_of(*read);
  for (std::size_t day = 0; day < 34; ++day) EXPECT_NEAR(days[day], their_days[day], 0.02) << day;
}

TEST(X64Blades, rests_at_night_at_weekends_and_on_the_holiday) {
  const log::Workload workload = made();
  const std::vector<double> days = days_of(workload);
  const auto mean = [&](std::initializer_list<std::size_t> which) {
    double sum = 0;
    for (const std::size_t day : which) sum += days[day];
    return sum / static_cast<double>(which.size());
  };
  const double working = mean({14, 15, 16, 17, 18, 21, 22, 23, 24, 25});
  EXPECT_NEAR(mean({19, 20, 26, 27, 33}) / working, 0.37, 0.1);
  EXPECT_NEAR(mean({3, 4, 5, 6, 7, 8, 9, 10}) / working, 0.31, 0.08);
  EXPECT_GT(days[12], 0.7 * working);  // Saturday 10 October was a working day
  const std::array<double, 24> hours = hours_of(workload);
  EXPECT_LT(hours[3], 0.3 * hours[15]);
}

TEST(X64Blades, takes_another_amount_of_work_and_another_mix) {
  X64Blades x;
  x.work = 1e5;
  x.shares = {1, 0, 0, 0, 0, 0};
  x.full = 1;
  const log::Workload workload = made(x);
  EXPECT_NEAR(node_minutes(workload), 1e5, 120);
  EXPECT_EQ(share_of_nodes(workload, 2), 1.0);
  EXPECT_EQ(mean_of(runs_of(workload)), 3600);
}

TEST(X64Blades, refuses_settings_under_which_no_job_arrives) {
  X64Blades x;
  x.shares = {};
  EXPECT_NE(x.recipe().error().message.find("every --share-N is 0"), std::string::npos);
  x = {};
  x.night = 0;
  x.span = seconds(10'800);
  EXPECT_NE(x.recipe().error().message.find("no job could ever arrive"), std::string::npos);
}

}  // namespace
}  // namespace rota::generate

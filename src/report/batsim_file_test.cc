#include "report/batsim_file.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "base/text.h"
#include "report/sample_test.h"

namespace rota::report {
namespace {

TEST(BatsimFile, HasItsColumnsAndPlaces) {
  Outcome outcome;
  outcome.workload = "log";
  outcome.jobs = {ended_job(1, 0, 0, 100, 4), ended_job(2, 10, 10, 30, 2), ended_job(3, 20, 80, 10, 5)};
  outcome.jobs[1].state = JobState::timed_out;
  Job refused;
  refused.spec = sample_job(4, 30, 60, 999).spec;
  refused.state = JobState::rejected;
  outcome.jobs.push_back(refused);
  std::ostringstream out;
  write_jobs_batsim(out, outcome);
  const auto lines = split(out.view(), '\n');
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_TRUE(lines[0].starts_with("job_id,workload_name,profile,submission_time,requested_number_of_resources,"));
  EXPECT_EQ(std::ranges::count(lines[0], ','), 16);
  EXPECT_EQ(lines[1], "1,log,1,0,4,200,1,COMPLETED_SUCCESSFULLY,0,100,100,0,100,1,0-3,-1,");
  EXPECT_EQ(lines[2], "2,log,2,10,2,60,0,COMPLETED_WALLTIME_REACHED,20,30,50,10,40,1.333,4-5,-1,");
  EXPECT_EQ(lines[3], "3,log,3,20,5,20,1,COMPLETED_SUCCESSFULLY,100,10,110,80,90,9,0-4,-1,");
  EXPECT_EQ(lines[4], "4,log,4,30,999,120,0,REJECTED,-1,0,-1,-1,-1,-1,,-1,");
}

TEST(BatsimFile, SaysWhichJobsWereCancelledWhileTheyRan) {
  Outcome outcome;
  outcome.jobs = {ended_job(1, 0, 0, 100, 4)};
  outcome.jobs[0].cancelling = true;
  std::ostringstream out;
  write_jobs_batsim(out, outcome);
  EXPECT_TRUE(out.str().contains(",0,COMPLETED_KILLED,0,100,100,0,100,1,0-3,")) << out.str();
}

// Whatever the schedule, a processor has one job at a time, and none is numbered beyond the cluster.
TEST(BatsimFile, DealsEachProcessorToOneJobAtATime) {
  const Outcome outcome = rehearsed(sample_jobs(2000, 64, 3), 64, false);
  const auto places = dealt_processors(outcome);
  std::map<std::int64_t, std::vector<std::pair<Instant, Instant>>> uses;
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::int64_t count = 0;
    for (const std::string_view range : split(places[i], ' ')) {
      const std::size_t dash = range.find('-');
      const std::int64_t first = parse_integer(range.substr(0, dash)).value();
      const std::int64_t last = dash == std::string_view::npos ? first : parse_integer(range.substr(dash + 1)).value();
      for (std::int64_t p = first; p <= last; ++p, ++count)
        uses[p].emplace_back(outcome.jobs[i].start, outcome.jobs[i].end);
    }
    EXPECT_EQ(count, outcome.jobs[i].spec.processors);
  }
  EXPECT_LE(uses.rbegin()->first, 63);
  for (auto& [processor, times] : uses) {
    std::ranges::sort(times);
    for (std::size_t i = 1; i < times.size(); ++i) EXPECT_LE(times[i - 1].second, times[i].first);
  }
}

}  // namespace
}  // namespace rota::report

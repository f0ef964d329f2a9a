#include "report/jobs_file.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/text.h"
#include "report/sample_test.h"

namespace rota::report {
namespace {

Outcome one_of_each() {
  Outcome outcome;
  outcome.workload = "log";
  outcome.policy = "easy";
  outcome.processors = 64;
  Job done = ended_job(7, 100, 20, 300, 4);
  done.backfilled = true;
  done.kills = 2;
  done.first_promise = at_seconds(90);
  Job stopped = ended_job(8, 101, 0, 10, 1);
  stopped.spec.submit += Duration{250};
  stopped.start += Duration{250};
  stopped.end += Duration{1};
  stopped.spec.user = UINT32_MAX;
  stopped.state = JobState::timed_out;
  Job refused;
  refused.spec = sample_job(9, 102, 60, 999).spec;
  refused.state = JobState::rejected;
  outcome.jobs = {done, stopped, refused};
  return outcome;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> all;
  for (const std::string_view line : split(text, '\n')) all.emplace_back(line);
  return all;
}

TEST(JobsCsv, HasARowForEachJobWithFractionsOnlyWhereThereAreSome) {
  std::ostringstream out;
  write_jobs_csv(out, one_of_each());
  EXPECT_EQ(lines(out.str()),
            (std::vector<std::string>{
                "number,submit,start,end,wait,processors,limit,user,backfilled,kills,first_promise,state",
                "7,100,120,420,20,4,600,0,1,2,90,completed", "8,101.250,101.250,111.001,0,1,20,,0,0,,timed_out",
                "9,102,,,,999,120,2,0,0,,rejected", ""}));
}

TEST(JobsCsv, SaysWhichJobsWereCancelledWhileTheyRan) {
  Outcome outcome = one_of_each();
  outcome.jobs[0].cancelling = true;
  std::ostringstream out;
  write_jobs_csv(out, outcome);
  EXPECT_EQ(lines(out.str())[1], "7,100,120,420,20,4,600,0,1,2,90,cancelled");
  EXPECT_TRUE(lines(out.str())[2].ends_with(",timed_out"));
}

TEST(JobsCsv, SaysHowLongJobsStoodStillWhereSomeDid) {
  Outcome outcome = one_of_each();
  outcome.jobs[0].stood = seconds(30);
  outcome.jobs[0].done = seconds(5);
  std::ostringstream out;
  write_jobs_csv(out, outcome);
  const auto all = lines(out.str());
  EXPECT_TRUE(all[0].ends_with(",first_promise,state,suspended")) << all[0];
  EXPECT_EQ(all[1], "7,100,120,420,15,4,600,0,1,2,90,completed,30");
  EXPECT_TRUE(all[2].ends_with(",timed_out,0")) << all[2];
  EXPECT_TRUE(all[3].ends_with(",rejected,")) << all[3];
}

TEST(JobsCsv, SaysHowJobsEndedWhoseRealStartIsNotTold) {
  Outcome outcome = one_of_each();
  outcome.jobs[2].state = JobState::waiting;
  outcome.ended_as = {JobState::completed, JobState::timed_out, JobState::failed};
  std::ostringstream out;
  write_jobs_csv(out, outcome);
  EXPECT_EQ(lines(out.str())[3], "9,102,,,,999,120,2,0,0,,failed");
}

TEST(JobsCsv, NamesTheSiteWhereThereAreSeveral) {
  Outcome outcome = one_of_each();
  outcome.sites = {"texel", "a name, with a comma and more than thirty-two characters"};
  outcome.site_of = {SiteId{1}, SiteId{0}, {}};
  std::ostringstream out;
  write_jobs_csv(out, outcome);
  const auto all = lines(out.str());
  EXPECT_TRUE(all[0].ends_with(",first_promise,state,site"));
  EXPECT_TRUE(all[1].ends_with(",completed,\"a name, with a comma and more than thirty-two characters\"")) << all[1];
  EXPECT_TRUE(all[2].ends_with(",timed_out,texel"));
  EXPECT_TRUE(all[3].ends_with(",rejected,"));
}

TEST(JobsCsv, NamesNodesWhereNoReasonsOfStartsAreKnown) {
  Outcome outcome = one_of_each();
  auto machine = std::make_shared<Machine>();
  machine->nodes.resize(2);
  machine->nodes[0].name = "n1";
  machine->nodes[1].name = "n2";
  outcome.machine = machine;
  outcome.starts.resize(2);
  outcome.starts[0].where = {{NodeId{1}, 2}, {NodeId{0}, 2}};
  std::ostringstream out;
  write_jobs_csv(out, outcome);
  const auto all = lines(out.str());
  EXPECT_TRUE(all[0].ends_with(",state,partition,nodes,why"));
  EXPECT_TRUE(all[1].ends_with(",completed,,n1 n2,")) << all[1];
  EXPECT_TRUE(all[2].ends_with(",timed_out,,,")) << all[2];
  EXPECT_TRUE(all[3].ends_with(",rejected,,,")) << all[3];
}

TEST(JobsCsv, TellsTheEnergyOfEachJobWhereThereIsAny) {
  Outcome outcome = one_of_each();
  outcome.energy_of_jobs = {1'250'000, 2'000'400};  // microjoules; the refused job has none
  std::ostringstream out;
  write_jobs_csv(out, outcome);
  const auto all = lines(out.str());
  EXPECT_TRUE(all[0].ends_with(",state,energy_j")) << all[0];
  EXPECT_TRUE(all[1].ends_with(",completed,1.250")) << all[1];
  EXPECT_TRUE(all[2].ends_with(",timed_out,2")) << all[2];
  EXPECT_TRUE(all[3].ends_with(",rejected,0")) << all[3];
}

TEST(JobsCsv, TellsTheCostOfEachJobWhereThereIsAny) {
  Outcome outcome = one_of_each();
  outcome.energy_of_jobs = {1'250'000, 2'000'000};
  outcome.cost_of_jobs = {{1'250'000, Cost::kMillionth - 1}, {2'000'000, 0}};
  std::ostringstream out;
  write_jobs_csv(out, outcome);
  const auto all = lines(out.str());
  EXPECT_TRUE(all[0].ends_with(",state,energy_j,cost")) << all[0];
  EXPECT_TRUE(all[1].ends_with(",1.250,1.250001")) << all[1];
  EXPECT_TRUE(all[2].ends_with(",2,2")) << all[2];
  EXPECT_TRUE(all[3].ends_with(",rejected,0,0")) << all[3];
}

TEST(JobsCsv, WritesNegativeAndVeryLongTimesWhole) {
  Outcome outcome;
  outcome.jobs = {ended_job(1, 0, 0, 10, 1)};
  outcome.jobs[0].spec.submit = kEpoch - Duration{1500};
  outcome.jobs[0].spec.limit = kLongest;
  outcome.jobs[0].first_promise = kEpoch + kLongest;
  std::ostringstream out;
  write_jobs_csv(out, outcome);
  EXPECT_EQ(lines(out.str())[1], "1,-1.500,0,10,1.500,1,,1,0,0,,completed");
}

TEST(JobsCsv, LosesNothingWhereItsBufferEnds) {
  const Outcome outcome = rehearsed(sample_jobs(5000, 64, 1), 64, false);
  std::ostringstream out;
  write_jobs_csv(out, outcome);
  const auto all = lines(out.str());
  ASSERT_EQ(all.size(), 5002U);
  for (std::size_t i = 1; i <= 5000; ++i) {
    ASSERT_TRUE(all[i].starts_with(std::to_string(i) + ",")) << all[i];
    ASSERT_TRUE(all[i].ends_with(",completed")) << all[i];
    ASSERT_EQ(std::ranges::count(all[i], ','), 11) << all[i];
  }
}

}  // namespace
}  // namespace rota::report

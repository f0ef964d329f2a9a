#include "rehearse/jobs_swf.h"

#include <gtest/gtest.h>

#include <memory>
#include <sstream>

#include "log/swf.h"
#include "log/swf_writer.h"
#include "report/sample_test.h"

namespace rota {
namespace {

report::Outcome one_of_each() {
  report::Outcome outcome;
  outcome.workload = "a\n1 2 3";
  outcome.policy = "easy";
  outcome.processors = 64;
  Job done = report::ended_job(7, 100, 20, 300, 4);
  Job stopped = report::ended_job(8, 101, 0, 10, 1);
  stopped.spec.submit += Duration{250};
  stopped.start += Duration{250};
  stopped.end += Duration{1};
  stopped.spec.user = UINT32_MAX;
  stopped.state = JobState::timed_out;
  Job refused;
  refused.spec = report::sample_job(9, 102, 60, 999).spec;
  refused.state = JobState::rejected;
  outcome.jobs = {done, stopped, refused};
  return outcome;
}

std::string written() {
  log::Workload workload;
  workload.unix_start = 1'700'000'000;
  workload.users[2] = "anna";
  std::ostringstream out;
  write_jobs_swf(out, one_of_each(), workload);
  return out.str();
}

TEST(JobsSwf, HasEighteenFieldsWithTheRehearsalsWaits) {
  EXPECT_TRUE(
      written().ends_with("\n7 100 20 300 4 -1 -1 4 600 -1 1 0 -1 -1 -1 -1 -1 -1\n"
                          "8 101.25 0 9.751 1 -1 -1 1 20 -1 0 -1 -1 -1 -1 -1 -1 -1\n"
                          "9 102 -1 -1 -1 -1 -1 999 120 -1 5 2 -1 -1 -1 -1 -1 -1\n"))
      << written();
}

TEST(JobsSwf, SaysHowRecordedJobsEnded) {
  report::Outcome outcome;
  outcome.jobs = {report::ended_job(7, 100, 20, 300, 4), report::ended_job(8, 101, 0, 10, 1)};
  outcome.jobs[1].state = JobState::failed;
  outcome.jobs[0].cancelling = true;
  std::ostringstream out;
  write_jobs_swf(out, outcome, {});
  EXPECT_TRUE(
      out.str().ends_with("\n7 100 20 300 4 -1 -1 4 600 -1 5 0 -1 -1 -1 -1 -1 -1\n"
                          "8 101 0 10 1 -1 -1 1 20 -1 0 1 -1 -1 -1 -1 -1 -1\n"))
      << out.str();
}

TEST(JobsSwf, KeepsItsHeaderOnLinesOfItsOwnWhateverTheNamesHold) {
  EXPECT_EQ(written().find("\n1 2 3"), std::string::npos);
  for (const char* line : {"; MaxProcs: 64\n", "; UnixStartTime: 1700000000\n", "; User: 2 anna\n", "; MaxJobs: 3\n"})
    EXPECT_NE(written().find(line), std::string::npos) << line;
}

TEST(JobsSwf, HasPartitionsAndQueuesAsTheLogNumbersThem) {
  report::Outcome outcome;
  outcome.jobs = {report::ended_job(7, 100, 20, 300, 4), report::ended_job(8, 101, 0, 10, 1)};
  outcome.jobs[0].spec.partition.value = 0;  // of the cluster file
  auto labels = std::make_shared<report::JobLabels>();
  labels->partition = {2, UINT32_MAX};
  labels->queue = {7, UINT32_MAX};
  outcome.labels = labels;
  log::Workload workload;
  workload.groups[3] = "chem";
  workload.queues[7] = "long";
  std::ostringstream out;
  write_jobs_swf(out, outcome, workload);
  EXPECT_TRUE(
      out.str().ends_with("; Queue: 7 long\n; Group: 3 chem\n"
                          "7 100 20 300 4 -1 -1 4 600 -1 1 0 -1 -1 7 2 -1 -1\n"
                          "8 101 0 10 1 -1 -1 1 20 -1 1 1 -1 -1 -1 -1 -1 -1\n"))
      << out.str();
}

TEST(JobsSwf, AgreesWithTheOtherWriterOnWhatBothSay) {
  JobSpec spec;
  spec.number = 3;
  spec.processors = 8;
  spec.nodes = 2;
  spec.memory = std::int64_t{4} << 30U;
  spec.limit = seconds(60);
  spec.partition.value = 5;
  report::Outcome outcome;
  outcome.jobs.emplace_back();
  outcome.jobs[0].spec = spec;
  outcome.jobs[0].state = JobState::completed;
  outcome.jobs[0].start = at_seconds(0);
  outcome.jobs[0].end = at_seconds(30);
  std::ostringstream rehearsed, plain;
  write_jobs_swf(rehearsed, outcome, {});
  {
    log::SwfWriter writer(plain);
    log::SwfRow row = log::swf_row(spec, seconds(30));
    row.set(log::SwfField::wait, 0);
    row.set(log::SwfField::status, 1);
    writer.row(row);
  }
  EXPECT_TRUE(rehearsed.str().ends_with("\n" + plain.str())) << rehearsed.str();
}

}  // namespace
}  // namespace rota

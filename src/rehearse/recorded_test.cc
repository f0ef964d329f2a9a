#include "rehearse/recorded.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "log/json_lines.h"
#include "log/sacct.h"

namespace rota {
namespace {

// Submitted at 10:00:00; of the two hours of the first, which waited for a minute, it ran in half an hour.
constexpr std::string_view kSacct =
    "JobIDRaw|Submit|Start|End|Elapsed|State|AllocCPUS\n"
    "1|2024-06-10T10:00:00|2024-06-10T10:01:00|2024-06-10T12:01:00|00:30:00|COMPLETED|8\n"
    "2|2024-06-10T10:00:00|2024-06-10T10:02:00|2024-06-10T10:12:00|00:10:00|COMPLETED|8\n";

std::vector<Job> recorded_jobs(const log::Workload& workload) {
  RehearseOptions options;
  options.processors = 16;
  options.keep_jobs = true;
  auto row = recorded(workload, options);
  EXPECT_TRUE(row) << row.error().message;
  return row ? std::move(row->outcome.jobs) : std::vector<Job>{};
}

void expect_as_sacct_says(const log::Workload& workload) {
  const std::vector<Job> jobs = recorded_jobs(workload);
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_EQ(jobs[0].start, at_seconds(60));
  EXPECT_EQ(jobs[0].end, at_seconds(7260));
  EXPECT_EQ(jobs[0].run_time(), seconds(1800));
  EXPECT_EQ(jobs[0].wait(), seconds(60));
  EXPECT_EQ(jobs[1].end, at_seconds(720));
  EXPECT_EQ(jobs[1].run_time(), seconds(600));
}

TEST(Recorded, AJobThatWasSuspendedEndsWhenItDid) {
  const auto workload = log::parse_sacct(kSacct, "log.txt", {.keep_recorded = true});
  ASSERT_TRUE(workload) << workload.error().message;
  expect_as_sacct_says(*workload);
}

TEST(Recorded, TheSameThroughJsonLines) {
  const auto read = log::read_sacct_log(log::LineBlocks::over(kSacct, "log.txt"), {});
  ASSERT_TRUE(read) << read.error().message;
  std::ostringstream out;
  {
    log::JsonLinesWriter writer(out);
    for (const log::SwfRow& row : read->rows) writer.job(row, {});
  }
  const auto workload = log::parse_json_lines(out.str(), "log.jsonl", {.keep_recorded = true});
  ASSERT_TRUE(workload) << workload.error().message;
  expect_as_sacct_says(*workload);
}

std::string where(const report::Outcome& outcome, std::size_t job) {
  std::string text;
  for (const Share& share : outcome.starts[job].where)
    text += fmt::format("{}:{} ", outcome.machine->nodes[share.node.value].name, share.processors);
  return text;
}

TEST(Recorded, JobsRanOnTheNodesThatTheLogTells) {
  const std::string times = "|2024-06-10T10:00:00|2024-06-10T10:01:00|2024-06-10T10:11:00|COMPLETED|";
  const auto workload = log::parse_sacct(fmt::format("JobIDRaw|Submit|Start|End|State|AllocCPUS|NodeList\n1{}8|n[2-4]"
                                                     "\n2{}3|n[1,9]\n3{}2|n1\n4{}1|None assigned\n5{}12|n[1,4]\n",
                                                     times, times, times, times, times),
                                         "log.txt", {.keep_recorded = true});
  ASSERT_TRUE(workload) << workload.error().message;
  RehearseOptions options;
  options.processors = 20;
  options.keep_jobs = true;
  auto machine = std::make_shared<Machine>();
  for (const auto& [name, processors] : {std::pair{"n4", 8U}, {"n3", 4U}, {"n2", 2U}, {"n1", 6U}}) {
    Node& node = machine->nodes.emplace_back();
    node.name = name;
    node.processors = processors;
  }
  options.machine = machine;
  const auto row = recorded(*workload, options);
  ASSERT_TRUE(row) << row.error().message;
  ASSERT_EQ(row->outcome.starts.size(), 5U);
  EXPECT_EQ(where(row->outcome, 0), "n2:2 n3:3 n4:3 ") << "as evenly as they have them";
  EXPECT_EQ(where(row->outcome, 1), "") << "there is no n9 any more";
  EXPECT_EQ(where(row->outcome, 2), "n1:2 ");
  EXPECT_EQ(where(row->outcome, 3), "");
  EXPECT_EQ(where(row->outcome, 4), "n1:6 n4:6 ");
  EXPECT_FALSE(row->outcome.starts[0].started) << "why, no log tells";
  machine->nodes.resize(1);
  EXPECT_TRUE(recorded(*workload, options)->outcome.starts.empty()) << "a cluster without these nodes";
  options.machine = nullptr;
  EXPECT_TRUE(recorded(*workload, options)->outcome.starts.empty());
}

TEST(Recorded, AJobThatRanBeforeDidNotWaitThenAndHeldItsProcessors) {
  const auto workload = log::parse_sacct(
      "JobIDRaw|Submit|Start|End|Elapsed|State|AllocCPUS\n"
      "1|2024-06-10T10:00:00|2024-06-10T10:01:00|2024-06-10T10:11:00|00:10:00|REQUEUED|8\n"
      "1|2024-06-10T10:11:00|2024-06-10T10:13:00|2024-06-10T10:33:00|00:20:00|COMPLETED|8\n",
      "log.txt", {.keep_recorded = true});
  ASSERT_TRUE(workload) << workload.error().message;
  EXPECT_EQ(workload->run_times[0], seconds(1200));
  const std::vector<Job> jobs = recorded_jobs(*workload);
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].wait(), seconds(60 + 120));
  EXPECT_EQ(jobs[0].start, at_seconds(13 * 60));
  EXPECT_EQ(jobs[0].end, at_seconds(33 * 60));
  EXPECT_EQ(jobs[0].run_time(), seconds(600 + 1200));
}

// As a service tells it: 100 s before its last start it ran for 20 s in vain and for 30 s that were kept.
TEST(Recorded, WhatWasKeptOfEarlierRunsIsBeforeTheLastStart) {
  auto workload = log::parse_sacct(kSacct, "log.txt", {.keep_recorded = true});
  ASSERT_TRUE(workload) << workload.error().message;
  workload->recorded[0] = {.wait = seconds(50), .earlier = seconds(20), .kept = seconds(30)};
  workload->run_times[0] = seconds(90);
  const Job job = recorded_jobs(*workload)[0];
  EXPECT_EQ(job.start - job.spec.submit, seconds(100));
  EXPECT_EQ(job.end - job.start, seconds(60));
  EXPECT_EQ(job.wait(), seconds(50));
  EXPECT_EQ(job.run_time(), seconds(110));
}

}  // namespace
}  // namespace rota

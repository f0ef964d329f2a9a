// What Slurm 22.05.8 printed, its marks put in by hand.
#include "engine/slurm/job_rows.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rota::slurm {
namespace {

constexpr std::string_view kMark = "~k3x9qz~";

// "|" stands for a mark, in these texts.
std::string marked(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += kMark.size())
    text.replace(at, 1, kMark);
  return text;
}

constexpr const char* kRuns =
    "3|3|N/A|RUNNING|65534|65534|nobody|physics|main|normal|None|2026-11-29T21:45:21|2026-11-29T21:45:21|"
    "2026-11-29T21:45:22|2026-11-29T21:55:22|10:00|3|1|1|cpu=3,mem=300M,node=1,billing=3|n3|0|0|1|OK|(null)|(null)|"
    "(null)|(null)||my job|\n";
constexpr const char* kFailed =
    "10|10|N/A|FAILED|65534|65534|nobody|physics|main|normal|NonZeroExitCode|2026-11-29T21:45:48|"
    "2026-11-29T21:45:48|2026-11-29T21:45:48|2026-11-29T21:45:49|1-00:00:00|7|2|2|"
    "cpu=7,mem=400M,node=2,billing=7,gres/gpu=2,license/"
    "matlab=2|n[5-6]|9|0|0|NO|matlab:2|(null)|(null)|(null)||new\nline|\n";
constexpr const char* kTask =
    "4|4|5|PENDING|65534|65534|nobody|physics|main,debug|normal|JobArrayTaskLimit|2026-11-29T21:45:21|N/A|N/A|N/A|"
    "UNLIMITED|1|1|0|cpu=1,mem=100M,node=1,billing=1||0|0|1|OK|(null)|(null)|(null)|"
    "afterok:1(unfulfilled),afterany:3_*(unfulfilled)|n2|wrap|\n";

Result<JobRows> queued(const std::string& text) {
  static std::string kept;
  kept = marked(text);
  return read_squeue(kept, kMark);
}

TEST(SlurmJobRows, ARowTellsAllOfAJobThatRuns) {
  const auto read = queued(kRuns);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->rows.size(), 1U);
  const JobRow& row = read->rows[0];
  EXPECT_EQ(row.number(), 3);
  EXPECT_EQ(row.stage, Stage::running);
  EXPECT_EQ(row.user, "nobody");
  EXPECT_EQ(row.reason, "");
  EXPECT_EQ(row.start - row.submit, 1000);
  EXPECT_EQ(row.limit, seconds(600));
  EXPECT_EQ(row.memory, 300 << 20);
  EXPECT_EQ(row.nodes, "n3");
  EXPECT_EQ(row.most_nodes, 1U);
  EXPECT_EQ(row.name, "my job");
}

TEST(SlurmJobRows, ANameWithALineBreakIsOneName) {
  const auto read = queued(std::string(kFailed) + kRuns);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->rows.size(), 2U);
  const JobRow& row = read->rows[0];
  EXPECT_EQ(row.name, "new\nline");
  EXPECT_EQ(row.outcome, Outcome::failed);
  EXPECT_EQ(row.status, 9);
  EXPECT_EQ(row.accelerators, 2);
  EXPECT_EQ(row.limit, seconds(86'400));
  EXPECT_FALSE(row.requeue);
  EXPECT_TRUE(row.exclusive);
  EXPECT_EQ(read->rows[1].number(), 3);
}

TEST(SlurmJobRows, ATaskHasANumberThatNoJobHas) {
  const auto read = queued(kTask);
  ASSERT_TRUE(read);
  const JobRow& row = read->rows[0];
  EXPECT_EQ(row.array, 4);
  EXPECT_EQ(row.index, 5);
  EXPECT_GT(row.number(), std::int64_t{1} << 40U);
  EXPECT_EQ(shown_job(row.number()), "4_5");
  EXPECT_EQ(shown_job(4), "4");
  EXPECT_EQ(row.limit, kLongest);
  EXPECT_EQ(row.start, -1);
  EXPECT_EQ(row.nodes, "");
  EXPECT_EQ(row.required_nodes, "n2");
  EXPECT_EQ(after_of(row.dependency), "afterok:1 afterany:3");
}

TEST(SlurmJobRows, WhatAJobWaitsForIsToldAsRotasUsersDo) {
  EXPECT_EQ(after_of(""), "");
  EXPECT_EQ(after_of("afterany:3_*(unfulfilled)?afterok:1(unfulfilled)"), "afterany:3 afterok:1 any");
  EXPECT_EQ(after_of("after:3_9+5(unfulfilled)"), "after:3_9+5");
  EXPECT_EQ(after_of("singleton(unfulfilled)"), "singleton");
}

TEST(SlurmJobRows, ArraysThatWaitTellHowManyTasksRunAtOnce) {
  const auto throttles = read_throttles(marked("3|2-9%2|\n4|0-3|\n5|1,3,...%14|\n6|7|\nodd\n"), kMark);
  EXPECT_EQ(throttles, (std::map<std::int64_t, std::uint32_t>{{3, 2}, {5, 14}}));
}

TEST(SlurmJobRows, ANameCannotForgeARow) {
  std::string forged = marked(kRuns);
  const std::string name = "x\n9|9|N/A|RUNNING|0|0|root|";
  forged.replace(forged.find("my job"), 6, name);
  const auto read = read_squeue(forged, kMark);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->rows.size(), 1U);
  EXPECT_EQ(read->rows[0].name, name);
}

TEST(SlurmJobRows, WhatIsCutOffIsRefusedWhole) {
  const std::string whole = marked(std::string(kRuns) + kTask);
  int good = 0;
  for (std::size_t length = 1; length <= whole.size(); ++length)
    good += read_squeue(std::string_view(whole).substr(0, length), kMark) ? 1 : 0;
  EXPECT_EQ(good, 2) << "behind each row";
  EXPECT_FALSE(read_squeue("slurm_load_jobs error: Unable to contact slurm controller\n", kMark));
  EXPECT_TRUE(read_squeue("", kMark)) << "no job is there";
}

TEST(SlurmJobRows, OddRowsAreCountedAndLeftOut) {
  for (const auto& [good, odd] : {std::pair{"RUNNING", "DREAMING"},
                                  {"3|3|N/A", "three|3|N/A"},
                                  {"2026-11-29T21:45:21|2026", "soon|2026"},
                                  {"10:00|3|", "10:00|0|"}}) {
    std::string text = kRuns;
    text.replace(text.find(good), std::string_view(good).size(), odd);
    const auto read = queued(text + kTask);
    ASSERT_TRUE(read) << odd;
    EXPECT_EQ(read->unread, 1) << odd;
    EXPECT_EQ(read->rows.size(), 1U) << odd;
  }
}

constexpr const char* kAccounted =
    "4_3|COMPLETED|65534|65534|nobody|physics|main|normal|2026-11-29T21:45:21|2026-11-29T21:45:52|"
    "2026-11-29T21:45:52|2026-11-29T21:46:22|00:10:00|1|1|1|billing=1,cpu=1,mem=100M,node=1|n2|0:0|wrap\n"
    "10|FAILED|65534|65534|nobody|physics|main|normal|2026-11-29T21:45:48|2026-11-29T21:45:48|2026-11-29T21:45:48|"
    "2026-11-29T21:45:48|00:10:00|7|7|2|billing=7,cpu=7,mem=400M,node=2|n[5-6]|3:9|new\nline\n"
    "11|CANCELLED by 0|65534|65534|nobody|physics|main|normal|2026-11-29T21:45:48|Unknown|None|2026-11-29T21:45:50|"
    "00:10:00|0|2|1|billing=1,cpu=1|None assigned|0:0|wrap\n"
    "12_[4-9]|CANCELLED by 0|65534|65534|nobody|physics|main|normal|2026-11-29T21:45:48|Unknown|None|"
    "2026-11-29T21:45:50|00:10:00|0|2|1|billing=1,cpu=1|None assigned|0:0|wrap\n";

TEST(SlurmJobRows, TheAccountingTellsHowJobsHaveEnded) {
  const std::string text = marked(kAccounted);
  const auto read = read_sacct(text, kMark);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->rows.size(), 3U);
  EXPECT_EQ(read->unread, 1) << "tasks that are one row";
  EXPECT_EQ(shown_job(read->rows[0].number()), "4_3");
  EXPECT_EQ(read->rows[0].outcome, Outcome::completed);
  EXPECT_EQ(read->rows[1].status, 3 << 8 | 9);
  EXPECT_EQ(read->rows[2].outcome, Outcome::cancelled);
  EXPECT_EQ(read->rows[2].nodes, "");
  EXPECT_EQ(read->rows[2].start, -1);
  EXPECT_EQ(read->rows[2].processors, 2U);
}

TEST(SlurmJobRows, TheAccountingIsRefusedWhereItIsCutOff) {
  const std::string text = marked(kAccounted);
  EXPECT_FALSE(read_sacct(std::string_view(text).substr(0, text.size() - 3), kMark));
}

}  // namespace
}  // namespace rota::slurm

#include "report/table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "base/text.h"
#include "report/comparison.h"
#include "report/sample_test.h"

namespace rota::report {
namespace {

Summary summary(const std::string& policy, double wait, double slowdown) {
  Summary s;
  s.workload = "log";
  s.policy = policy;
  s.processors = 100;
  s.jobs = 28'481;
  s.makespan = seconds(29'363'626);
  s.utilization = 0.6856;
  s.wait_mean = wait;
  s.wait_median = 0;
  s.wait_p95 = wait * 10;
  s.wait_max = 1e6;
  s.bounded_slowdown = slowdown;
  s.response_ratio = slowdown * 2;
  return s;
}

std::string printed(const std::vector<Summary>& summaries, bool colour = false) {
  std::ostringstream out;
  write_table(out, summaries, {.colour = colour});
  return out.str();
}

TEST(Table, WhatNoJobAsksForHasNoColumn) {
  Summary with = summary("easy", 10, 2);
  EXPECT_EQ(printed({with}).find("memory"), std::string::npos);
  with.memory_used = 0.5;
  const std::string text = printed({with, summary("fcfs", 20, 3)});
  EXPECT_NE(text.find("used %  memory %"), std::string::npos) << text;
  EXPECT_NE(text.find("68.56     50.00"), std::string::npos) << text;
  EXPECT_NE(text.find("68.56         -"), std::string::npos) << text;
  EXPECT_EQ(text.find("accelerators"), std::string::npos);
}

TEST(Table, StandsAlignedWithUnitsAndGroupedThousands) {
  Summary easy = summary("easy", 6837, 92.58);
  easy.backfilled_starts = 17'073;
  easy.backfill_completion = 0.98765;
  easy.killed = 210;
  easy.lost_work = 3600 * 1234.4;
  easy.timed_out = 1024;
  easy.delayed = 12;
  easy.delay_mean = 245;
  easy.cpu_seconds = 0.0123;
  const std::string text = printed({summary("fcfs", 353776, 6814.97), easy});
  EXPECT_EQ(text,
            R"(log: 28,481 jobs on 100 processors

                                    -------- wait before the start ---------  - times slower than alone -
policy    jobs    makespan  used %        mean  median       95 %    longest          slowdown   response
fcfs    28,481  339 d 21 h   68.56     4 d 2 h     0 s  40 d 23 h  11 d 14 h          6,814.97  13,629.94
easy    28,481  339 d 21 h   68.56  1 h 54 min     0 s       19 h  11 d 14 h             92.58     185.16

        -- backfill --  ---------- stopped ----------  - later than promised -
policy  starts  kept %  killed  lost proc h  at limit          jobs         by      CPU
fcfs         0       -       0            0         0             0          -  0.000 s
easy    17,073    98.8     210        1,234     1,024            12  4 min 5 s  0.012 s

Choose easy: jobs waited 1 h 54 min on average, 98 % less than under fcfs (4 d 2 h).
Unless promises, kills or jobs stopped at their limits matter more than the mean: then fcfs (jobs that start later than
  promised: 0 against 12; dispatches that are killed: 0 against 210; jobs stopped at their limits: 0 against 1,024),
  with a mean wait of 4 d 2 h.
The cluster was 68.6 % used under every policy.
How much of this is chance was not measured: `rota simulate --weeks` does that.
)");
}

TEST(Table, MarksNoPolicyForPromisesThatWereNotMade) {
  std::vector<Summary> rows{summary("fcfs", 100, 5), summary("easy", 100, 5), summary("conservative", 100, 5)};
  rows[0].promises = false;
  rows[1].delayed = 12;
  const auto late = std::ranges::find(promise_figures(), std::string_view("later than promised"), &Figure::group);
  EXPECT_EQ(late->shown(rows[0]), "-");
  EXPECT_EQ(best(*late, rows), (std::vector<bool>{false, false, true}));
}

TEST(Table, FitsIn120ColumnsWithLargeNumbers) {
  Summary large = summary("conservative+rb-har-literal", 98.5 * 86400, 1234567.89);
  large.jobs = 10'000'000;
  large.backfilled_starts = 12'345'678;
  large.backfill_completion = 0.987;
  large.killed = 1'234'567;
  large.lost_work = 3600.0 * 12'345'678;
  large.delayed = 1'234'567;
  large.delay_mean = 86399;
  large.cycles = 20'000'000;
  large.cpu_seconds = 123.456;
  const std::string text = printed({large, summary("easy", 1, 1)});
  for (const std::string_view line : split(text, '\n')) EXPECT_LE(line.size(), 120U) << line;
}

TEST(Table, GoesOnBelowWhereTheTerminalIsNarrower) {
  const std::vector<Summary> rows{summary("fcfs", 353776, 6814.97), summary("conservative", 6837, 92.58)};
  const std::string wide = printed(rows);
  for (std::size_t columns = 20; columns <= 140; columns += 3) {
    std::ostringstream out;
    write_table(out, rows, {.columns = columns});
    std::size_t title = 0;  // the line that says what it is of is as long as it is
    for (const std::string_view line : split(out.view(), '\n')) {
      if (title++ > 0 && columns >= 40) {
        EXPECT_LE(line.size(), columns) << line;
      }
    }
    for (const char* figure : {"11 d 14 h", "6,814.97", "28,481", "0.000 s"}) {
      EXPECT_NE(out.view().find(figure), std::string_view::npos) << figure << " at " << columns;
    }
  }
  std::ostringstream same;
  write_table(same, rows, {.columns = 200});
  EXPECT_EQ(same.view(), wide);
}

TEST(Table, GivesALongPolicyNameALineOfItsOwn) {
  const std::string name(45, 'x');
  const std::string text = printed({summary(name, 1, 1), summary("easy", 1, 1)});
  EXPECT_NE(text.find(name + "\n      "), std::string::npos) << text;
}

TEST(Table, MarksTheBestFigureOnlyInColourAndOnlyWhereTheyDiffer) {
  const std::vector<Summary> two{summary("fcfs", 100, 5), summary("easy", 50, 5)};
  EXPECT_EQ(printed(two).find('\x1b'), std::string::npos);
  const std::string text = printed(two, true);
  EXPECT_NE(text.find("\x1b[1;32m"), std::string::npos);
  EXPECT_EQ(text.find("\x1b[1;32m     5.00"), std::string::npos) << "the slowdowns are equal";
}

TEST(Table, NamesThePolicyWhoseJobsWereRefusedOrNotFinished) {
  std::vector<Summary> two{summary("fcfs", 100, 5), summary("easy", 50, 5)};
  two[0].rejected = two[1].rejected = 3;
  two[1].unfinished = 1;
  const std::string text = printed(two);
  EXPECT_NE(text.find("; 3 rejected (more than the cluster can ever give); easy: 1 job not finished"),
            std::string::npos)
      << text;
}

TEST(Table, SaysWhyWhereTheFirstRowDoesNotKnow) {
  std::vector<Summary> two{summary("recorded", 100, 5), summary("easy", 50, 5)};
  two[1].rejected = 3;
  two[1].first_rejected = 9;
  two[1].why_rejected = "asks for 96 processors; the cluster has 64";
  const std::string text = printed(two);
  EXPECT_NE(text.find("easy: 3 jobs rejected (the first, job 9, asks for 96 processors; the cluster has 64)"),
            std::string::npos)
      << text;
}

TEST(Table, StartsAnewWhereTheWorkloadChanges) {
  std::vector<Summary> two{summary("easy", 100, 5), summary("easy", 50, 5)};
  two[1].workload = "other";
  const std::string text = printed(two);
  EXPECT_NE(text.find("\nother: 28,481 jobs"), std::string::npos) << text;
}

TEST(Table, HasTheSitesBelowEachPolicy) {
  std::vector<Summary> two{summary("fcfs", 100, 5), summary("easy", 50, 5)};
  for (Summary& s : two) {
    s.sites = {summary(s.policy, 70, 5), summary(s.policy, 30, 5)};
    s.sites[0].site = "texel";
    s.sites[1].site = "ameland";
    s.sites[1].exchanged.jobs_in = 17;
    s.sites[1].exchanged.bytes_in = std::int64_t{20} << 30U;
  }
  const std::string text = printed(two);
  const auto fcfs = text.rfind("\nfcfs ");
  const auto easy = text.rfind("\neasy ");
  ASSERT_NE(fcfs, std::string::npos);
  EXPECT_LT(text.find("\n  texel", fcfs), text.find("\n  ameland", fcfs));
  EXPECT_LT(text.find("\n  ameland", fcfs), easy);
  EXPECT_NE(text.find("\n  ameland", easy), std::string::npos);
  EXPECT_NE(text.find(" 20G "), std::string::npos) << text;
}

TEST(Comparison, IsOfTheSameJobsOnAsManyProcessors) {
  std::vector<Summary> rows{summary("fcfs", 100, 5), summary("easy", 100, 5), summary("conservative", 100, 5)};
  rows[1].rejected = 3;  // by one policy alone
  EXPECT_EQ(same_workload(rows, 0), 3U);
  rows[1].identity = 1;  // as many, and others
  EXPECT_EQ(same_workload(rows, 0), 1U);
  EXPECT_FALSE(comparable(rows[0], rows[1]));
  EXPECT_TRUE(comparable(rows[0], rows[2]));
  rows[2].processors = 99;
  EXPECT_FALSE(comparable(rows[0], rows[2]));
  EXPECT_EQ(printed(rows).find("Choose"), std::string::npos);
}

TEST(Comparison, AFigureThatIsMissingSomewhereHasNoBest) {
  std::vector<Summary> two{summary("fcfs", 100, 5), summary("easy", 50, 5)};
  const auto wait =
      std::ranges::find_if(service_figures(), [](const Figure& f) { return std::string(f.name) == "mean"; });
  EXPECT_EQ(best(*wait, two), (std::vector<bool>{false, true}));
  two[0].wait_mean.reset();
  EXPECT_EQ(best(*wait, two), (std::vector<bool>{false, false}));
  EXPECT_EQ(wait->shown(two[0]), "-");
}

TEST(Table, MarksAPolicyBehindTheBestByNoiseAsTheBestToo) {
  const Figure& wait = *std::ranges::find(service_figures(), std::string_view("mean"), &Figure::name);
  std::vector rows{summary("a", 100, 1), summary("b", 90, 1), summary("c", 500, 1)};
  const auto over = [&](std::size_t row, const std::vector<double>& waits) {
    rows[row].copies.assign(waits.size(), rows[row]);
    for (std::size_t i = 0; i < waits.size(); ++i) rows[row].copies[i].wait_mean = waits[i];
  };
  EXPECT_EQ(best(wait, rows), (std::vector{false, true, false}));
  over(0, {100, 95, 104});
  over(1, {98, 101, 96});
  over(2, {500, 510, 490});
  EXPECT_EQ(best(wait, rows), (std::vector{true, true, false}));
  over(0, {198, 201, 196});
  EXPECT_EQ(best(wait, rows), (std::vector{false, true, false}));
  over(0, {100, 95, 104});
  rows.pop_back();
  EXPECT_EQ(best(wait, rows), (std::vector{false, false})) << "all are alike";
  rows[0].wait_mean = 1;  // in the log as it is, and behind in every copy
  for (Summary& copy : rows[0].copies) *copy.wait_mean += 1000;
  EXPECT_EQ(best(wait, rows), (std::vector{false, true}));
}

}  // namespace
}  // namespace rota::report

// Several exports, rows of -D, requests beyond processors, and what users write into names.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "log/sacct.h"
#include "log/sacct_columns.h"

namespace rota::log {
namespace {

const std::string kNames =
    "JobIDRaw|JobID|User|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|AllocCPUS|ReqCPUS|NNodes|ReqNodes|"
    "ReqMem|ReqTRES|AllocTRES\n";

struct Row {
  std::string id = "100";
  std::string submit = "2024-03-01T10:00:00";
  std::string start = "2024-03-01T10:01:00";
  std::string end = "2024-03-01T10:11:00";
  std::string elapsed = "600";
  std::string state = "COMPLETED";
  std::string cpus = "8";
  std::string nodes = "1";
  std::string wanted = "1";
  std::string tres = "cpu=8,mem=16G,node=1";
  std::string eligible = "";
  std::string shown = "";

  std::string text() const {
    return fmt::format("{}|{}|anna|{}|{}|{}|{}|{}|60|{}|{}|{}|{}|{}|16G|{}|{}\n", id, shown.empty() ? id : shown,
                       submit, eligible.empty() ? submit : eligible, start, end, elapsed, state, cpus, cpus, nodes,
                       wanted, tres, tres);
  }
};

Result<SacctLog> log_of(const std::string& text, const SwfOptions& options = {}) {
  return read_sacct_log(LineBlocks::over(text, "sacct.txt"), options);
}
SacctLog read(const std::string& rows, const SwfOptions& options = {}) {
  auto log = log_of(kNames + rows, options);
  EXPECT_TRUE(log) << log.error().message;
  if (!log) return {};
  EXPECT_EQ(log->report.rows, log->report.kept + log->report.dropped()) << "each row is told";
  return std::move(*log);
}
std::int64_t found(const ImportReport& report, std::string_view what) {
  for (const auto& finding : report.findings)
    if (finding.what.starts_with(what)) return finding.rows;
  return 0;
}
JobAttributes asked(const SacctLog& log, std::int64_t job) {
  return log.attributes ? log.attributes->attributes_of(job) : JobAttributes{};
}

TEST(SacctExports, TellOfAJobOnceThatStandsInTwo) {
  const Row waits{.id = "7", .start = "Unknown", .end = "Unknown", .elapsed = "0", .state = "PENDING"};
  const Row runs{.id = "7", .end = "Unknown", .elapsed = "30", .state = "RUNNING"};
  const Row ended{.id = "7"};
  const std::string one = waits.text() + Row{}.text();
  const std::string two = kNames + Row{}.text() + runs.text();
  const std::string three = kNames + ended.text();
  const SacctLog log = read(one + two + three);
  ASSERT_EQ(log.rows.size(), 2U);
  EXPECT_EQ(log.report.rows, 5);
  EXPECT_EQ(found(log.report, "told again"), 3);
  EXPECT_EQ(log.rows[0][SwfField::number], 7);
  EXPECT_EQ(log.rows[0][SwfField::run], 600);
}

TEST(SacctExports, TellWhichColumnsTheyLack) {
  const SacctLog whole = read(Row{}.text());
  ASSERT_EQ(whole.exports.size(), 1U);
  EXPECT_TRUE(whole.exports[0].lacks.size() == 0) << whole.exports[0].lacks[0];
  const auto few =
      log_of("JobIDRaw|Submit|Start|End|NCPUS\n1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:01:00|1\n");
  ASSERT_TRUE(few) << few.error().message;
  ASSERT_EQ(few->exports[0].lacks.size(), 6U);
  EXPECT_TRUE(few->exports[0].lacks[0].starts_with("Eligible: "));
}

TEST(SacctExports, OfSeveralClustersAreRefused) {
  const std::string names = "JobIDRaw|Cluster|Submit|Start|End|NCPUS\n";
  const std::string times = "|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:01:00|1\n";
  const auto log = log_of(fmt::format("{}1|ares{}1|zeus{}", names, times, times));
  ASSERT_FALSE(log);
  EXPECT_EQ(
      log.error().message,
      "sacct.txt:3: column Cluster is \"zeus\", and rows before it are of \"ares\": a log is of one cluster. Ask "
      "sacct for the one that is wanted, with --clusters=ares or --clusters=zeus; rota import slurm takes the jobs "
      "of the cluster that config.txt is of. Mend the row, or drop such rows with --skip-bad-rows.");
}

TEST(SacctExports, OfSeveralClustersAreReadForOne) {
  const std::string names = "JobIDRaw|Cluster|Submit|Start|End|NCPUS\n";
  const std::string times = "|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:01:00|1\n";
  const std::string text = fmt::format("{}1|ares{}2|zeus{}3|ares{}", names, times, times, times);
  const auto log = log_of(text, {.cluster = "Zeus"});
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_EQ(log->rows.size(), 1U);
  EXPECT_EQ(log->rows[0][SwfField::number], 2);
  EXPECT_EQ(log->cluster, "zeus");
  EXPECT_EQ(found(log->report, "jobs of other clusters: dropped"), 2);
  EXPECT_EQ(log->report.rows, log->report.kept + log->report.dropped());
}

TEST(SacctDispatches, OfOneJobAreOneJob) {
  const SacctLog log =
      read(Row{.id = "5", .end = "2024-03-01T10:05:00", .elapsed = "240", .state = "NODE_FAIL"}.text() +
           Row{.id = "5",
               .submit = "2024-03-01T10:05:00",
               .start = "2024-03-01T10:06:00",
               .end = "2024-03-01T10:07:00",
               .elapsed = "60",
               .state = "PREEMPTED"}
               .text() +
           Row{.id = "5", .submit = "2024-03-01T10:07:00", .start = "2024-03-01T10:20:00", .end = "2024-03-01T10:30:00"}
               .text());
  ASSERT_EQ(log.rows.size(), 1U);
  EXPECT_EQ(log.rows[0][SwfField::number], 5);
  EXPECT_EQ(log.rows[0][SwfField::wait], (1 + 1 + 13) * 60) << "before each of its starts";
  EXPECT_EQ(log.rows[0][SwfField::run], 600);
  EXPECT_EQ(log.rows[0].earlier, seconds(240 + 60));
  EXPECT_EQ(found(log.report, "ran before and were queued again: these 0.7 processor hours"), 1);
  EXPECT_EQ(found(log.report, "earlier starts"), 2);
}

TEST(SacctDispatches, WaitForWhatIsToldOfEach) {
  Row again{.id = "5", .submit = "2024-03-01T10:12:00", .start = "2024-03-01T10:20:00", .end = "2024-03-01T10:30:00"};
  again.eligible = "2024-03-01T10:15:00";
  const SacctLog log = read(Row{.id = "5", .state = "REQUEUED"}.text() + again.text());
  ASSERT_EQ(log.rows.size(), 1U);
  EXPECT_EQ(log.rows[0][SwfField::wait], 60 + 5 * 60) << "not while nobody had queued it, or it was held";
  EXPECT_EQ(log.rows[0].earlier, seconds(600));
  const auto began = read(Row{.id = "9", .start = "2024-03-01T10:20:00", .end = "2024-03-01T10:30:00"}.text());
  EXPECT_EQ(log.unix_start + 6 * 60 + 600, began.unix_start + began.rows[0][SwfField::wait]) << "and began when it did";
  const SacctLog gave_way = read(Row{.id = "5", .state = "PREEMPTED"}.text() + again.text());
  EXPECT_EQ(gave_way.unix_start + 240, log.unix_start) << "it came when it was submitted";
  EXPECT_EQ(gave_way.rows[0].earlier, seconds(600 + 240));
}

TEST(SacctDispatches, NumbersThatComeAgainLaterAreOthersJobs) {
  const SacctLog log =
      read(Row{.id = "5"}.text() +
           Row{.id = "5", .submit = "2025-03-01T10:00:00", .start = "2025-03-01T10:00:00", .end = "2025-03-01T10:10:00"}
               .text());
  ASSERT_EQ(log.rows.size(), 2U);
  EXPECT_EQ(log.rows[1][SwfField::number], 6);
}

TEST(SacctDispatches, KeepTheOneThatRan) {
  const SacctLog log = read(Row{.id = "5", .state = "REQUEUED"}.text() +
                            Row{.id = "5",
                                .submit = "2024-03-01T10:11:00",
                                .start = "None",
                                .end = "2024-03-01T10:12:00",
                                .elapsed = "0",
                                .state = "CANCELLED by 0"}
                                .text() +
                            Row{}.text());
  EXPECT_EQ(found(log.report, "queued again and did not run"), 1);
  EXPECT_EQ(log.report.kept, 2) << "it ran, and was cancelled before it ran again";
  EXPECT_EQ(found(log.report, "not started"), 0);
}

TEST(SacctDispatches, OfAJobThatRanAndWaitsAgainAreDroppedAsSuch) {
  const SacctLog log = read(Row{.id = "5", .state = "REQUEUED"}.text() +
                            Row{.id = "5",
                                .submit = "2024-03-01T10:11:00",
                                .start = "Unknown",
                                .end = "Unknown",
                                .elapsed = "0",
                                .state = "PENDING"}
                                .text() +
                            Row{.id = "6", .state = "REQUEUED"}.text() + Row{}.text());
  EXPECT_EQ(found(log.report, "ran, and queued again when the log was taken"), 2);
  EXPECT_EQ(found(log.report, "not started"), 0);
  EXPECT_EQ(log.report.kept, 1);
}

TEST(SacctDispatches, OfAJobThatLostItsNodeAndWaitsAgainAreDroppedAsSuch) {
  for (const char* lost : {"NODE_FAIL", "PREEMPTED", "FAILED"}) {
    Row again{.id = "5", .submit = "2024-03-01T10:11:00", .start = "Unknown", .elapsed = "0", .tres = ""};
    again.end = "Unknown";
    again.state = "PENDING";
    const SacctLog waits = read(Row{.id = "5", .state = lost}.text() + again.text() + Row{}.text());
    EXPECT_EQ(found(waits.report, "ran, and queued again when the log was taken"), 1) << lost;
    EXPECT_EQ(waits.report.kept, 1) << lost;
    again.end = "2024-03-01T10:15:00";
    again.state = "CANCELLED by 7";
    const SacctLog cancelled = read(Row{.id = "5", .state = lost}.text() + again.text());
    ASSERT_EQ(cancelled.rows.size(), 1U) << lost;
    EXPECT_EQ(cancelled.rows[0][SwfField::status], kSwfCancelled) << lost;
    EXPECT_EQ(cancelled.rows[0][SwfField::run], 600) << lost;
  }
}

TEST(SacctDispatches, OfAJobThatWasCancelledInItsFirstSecondAreAJobThatRan) {
  const Row at_once{.id = "1", .end = "2024-03-01T10:01:00", .elapsed = "0", .state = "CANCELLED by 7"};
  Row never = at_once;
  never.id = "2",
  never.tres = "";  // an older Slurm tells its end as its start, and as many processors as were asked for
  for (const bool keep : {false, true}) {
    const SacctLog log = read(at_once.text() + never.text(), {.keep_cancelled = keep});
    ASSERT_EQ(log.rows.size(), keep ? 2U : 1U);
    EXPECT_EQ(log.rows[0][SwfField::number], 1);
    EXPECT_EQ(log.rows[0][SwfField::run], 1);
    EXPECT_EQ(log.rows[0][SwfField::wait], 60);
    EXPECT_EQ(log.rows[0][SwfField::status], kSwfCancelled);
    EXPECT_EQ(found(log.report, "cancelled within their first second"), 1);
    EXPECT_EQ(found(log.report, "cancelled before they started"), keep ? 0 : 1);
  }
}

TEST(SacctDispatches, OfAJobThatRunsAgainAreNoneThatHasEnded) {
  const SacctLog log = read(Row{.id = "5", .state = "NODE_FAIL"}.text() +
                            Row{.id = "5",
                                .submit = "2024-03-01T10:11:00",
                                .start = "2024-03-01T10:12:00",
                                .end = "Unknown",
                                .elapsed = "40",
                                .state = "RUNNING"}
                                .text() +
                            Row{}.text());
  EXPECT_EQ(log.report.kept, 1);
  EXPECT_EQ(found(log.report, "still running when the log was taken"), 1);
  EXPECT_EQ(found(log.report, "earlier starts of jobs that were queued again"), 1);
}

TEST(SacctDispatches, OfAJobThatEndedBeforeItStartedAreNoJob) {
  const Row never{.start = "2024-03-01T10:05:00", .end = "2024-03-01T10:05:00", .elapsed = "0", .cpus = "0"};
  Row deadline = never, revoked = never, ran = never;
  deadline.id = "1", deadline.state = "DEADLINE";
  revoked.id = "2", revoked.state = "REVOKED";
  ran = Row{.id = "3", .state = "DEADLINE"};
  const SacctLog log = read(deadline.text() + revoked.text() + ran.text());
  ASSERT_EQ(log.rows.size(), 1U);
  EXPECT_EQ(log.rows[0][SwfField::number], 3);
  EXPECT_EQ(log.rows[0][SwfField::status], 0);
  EXPECT_EQ(found(log.report, "ended before they started (DEADLINE, REVOKED, ...): dropped"), 2);
}

TEST(SacctDispatches, OfAJobThatEndedWithNoStartAreNotToldAsWaiting) {
  const auto end_of = [](const std::string& id, const std::string& state) {
    return Row{.id = id, .start = "None", .end = "2024-03-01T10:05:00", .elapsed = "0", .state = state}.text();
  };
  const SacctLog log = read(end_of("1", "FAILED") + end_of("2", "DEADLINE") + end_of("3", "PENDING") + Row{}.text());
  EXPECT_EQ(found(log.report, "ended before they started"), 2);
  EXPECT_EQ(found(log.report, "not started when the log was taken"), 1);
  EXPECT_EQ(log.report.kept, 1);
}

TEST(SacctRequests, AreToldOfEachJobOnce) {
  const std::string uneven =
      Row{.id = "3", .nodes = "3", .wanted = "3", .tres = "cpu=8,gres/gpu=4,gres/fpga=1,node=3"}.text();
  const SacctLog log = read(uneven + uneven + Row{.id = "4"}.text());
  EXPECT_EQ(found(log.report, "accelerators spread unevenly"), 1);
  EXPECT_EQ(found(log.report, "other resources"), 1);
}

TEST(SacctDispatches, OfAResizedJobGoOn) {
  const SacctLog log = read(
      Row{.id = "5", .end = "2024-03-01T10:05:00", .elapsed = "240", .state = "RESIZING"}.text() +
      Row{.id = "5", .submit = "2024-03-01T10:05:00", .start = "2024-03-01T10:05:00", .elapsed = "360", .cpus = "4"}
          .text());
  ASSERT_EQ(log.rows.size(), 1U);
  EXPECT_EQ(log.rows[0][SwfField::run], 600);
  EXPECT_EQ(log.rows[0][SwfField::processors], 8);
  EXPECT_EQ(log.rows[0][SwfField::status], 1);
}

TEST(SacctRequests, AcceleratorsAndLicencesAreKept) {
  const SacctLog log = read(
      Row{.id = "1", .nodes = "2", .wanted = "2", .tres = "cpu=8,gres/gpu:a100=4,gres/gpu=4,node=2"}.text() +
      Row{.id = "2", .tres = "cpu=8,license/matlab=4,license/simulink=1,node=1"}.text() +
      Row{.id = "3", .nodes = "3", .wanted = "3", .tres = "cpu=8,gres/gpu=4,node=3"}.text() + Row{.id = "4"}.text());
  EXPECT_EQ(asked(log, 1).accelerators, 2);
  EXPECT_EQ(asked(log, 1).accelerator_type, "a100");
  EXPECT_EQ(asked(log, 1).nodes, 2U);
  EXPECT_EQ(named_licences_text(asked(log, 2).licences), "matlab:4,simulink");
  EXPECT_EQ(asked(log, 3).accelerators, 2);
  EXPECT_EQ(found(log.report, "accelerators spread unevenly"), 1);
  EXPECT_EQ(asked(log, 4), JobAttributes{});
}

TEST(SacctRequests, OfAJobThatNeverRanAreNotHeldAgainstOneNode) {
  const Row cancelled{.id = "2",
                      .start = "None",
                      .end = "2024-03-01T10:05:00",
                      .elapsed = "0",
                      .state = "CANCELLED by 7",
                      .tres = "cpu=128,gres/gpu=128,node=1"};
  EXPECT_EQ(read(Row{}.text() + cancelled.text()).report.kept, 1);
  const SacctLog kept = read(Row{}.text() + cancelled.text(), {.keep_cancelled = true});
  EXPECT_EQ(kept.report.kept, 2);
  EXPECT_EQ(found(kept.report, "never ran, and asked for more accelerators"), 1);
  EXPECT_FALSE(log_of(kNames + Row{.tres = "cpu=128,gres/gpu=128,node=1"}.text())) << "it ran on a node";
}

TEST(SacctRequests, NodesAreThoseThatWereAskedFor) {
  const SacctLog log =
      read(Row{.id = "1", .nodes = "3", .wanted = "1"}.text() + Row{.id = "2", .nodes = "3", .wanted = "3"}.text() +
               Row{.id = "3", .nodes = "4", .wanted = "2"}.text() + Row{.id = "4", .cpus = "4"}.text(),
           {.memory_counts = false});
  EXPECT_EQ(log.rows[0].nodes, 0U) << "it happened to be spread";
  EXPECT_EQ(log.rows[1].nodes, 3U) << "8 processors, unevenly";
  EXPECT_EQ(log.rows[2].nodes, 4U) << "of a range: its processors may be more than two nodes have";
  EXPECT_EQ(log.rows[3].nodes, 1U);
}

TEST(SacctRequests, OfARangeOfNodesAcceleratorsAreThoseOnEach) {
  const auto on_each = [](const std::string& asks, const std::string& had) {
    const auto log =
        log_of(fmt::format("JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocCPUS|NNodes|ReqNodes|ReqTRES|AllocTRES\n1|"
                           "2024-03-01T10:00:00|2024-03-01T10:01:00|2024-03-01T10:11:00|600|COMPLETED|64|4|2|{}|{}\n",
                           asks, had));
    EXPECT_TRUE(log) << log.error().message;
    return log ? asked(*log, 1).accelerators : -1;
  };
  EXPECT_EQ(on_each("cpu=32,gres/gpu=4,node=2", "cpu=64,gres/gpu=8,node=4"), 2) << "--gres=gpu:2";
  EXPECT_EQ(on_each("cpu=32,gres/gpu=4,node=2", "cpu=64,gres/gpu=4,node=4"), 1) << "--gpus=4";
  EXPECT_EQ(on_each("cpu=32,gres/gpu=2,node=2", "cpu=64,gres/gpu=32,node=4"), 1) << "whole nodes";
  EXPECT_EQ(on_each("cpu=32,gres/gpu=4,node=2", ""), 2);
}

TEST(SacctRequests, LargeNumbersOfNodesHaveALetter) {
  const SacctLog log = read(Row{.id = "1", .cpus = "2048", .nodes = "1K", .wanted = "1K"}.text() +
                            Row{.id = "2", .cpus = "2048", .nodes = "1.50K", .wanted = "1536"}.text() +
                            Row{.id = "3", .cpus = "2048", .nodes = "2K", .wanted = "2K"}.text());
  ASSERT_EQ(log.rows.size(), 3U);
  EXPECT_EQ(log.rows[0].nodes, 1024U);
  EXPECT_EQ(log.rows[1].nodes, 1536U);
  EXPECT_EQ(log.rows[2].nodes, 2048U);
  for (const std::string odd : {"K", "1.5", "-1K", "9999999G", "1KK"})
    EXPECT_FALSE(log_of(kNames + Row{.nodes = odd}.text())) << odd;
}

TEST(SacctTimes, WaitingBeginsWhenAJobIsEligible) {
  const SacctLog log =
      read(Row{.eligible = "2024-03-01T10:00:40"}.text() + Row{.id = "2", .eligible = "Unknown"}.text());
  EXPECT_EQ(log.rows[1][SwfField::number], 100);
  EXPECT_EQ(log.rows[1][SwfField::submit], 40);
  EXPECT_EQ(log.rows[1][SwfField::wait], 20);
  EXPECT_EQ(log.rows[0][SwfField::wait], 60);
  EXPECT_EQ(found(log.report, "eligible later than submitted"), 1);
}

TEST(SacctTimes, ASuspensionOfAnHourIsNoClockChange) {
  const auto suspended = [](const Row& row) { return found(read(row.text()).report, "End - Start is not Elapsed"); };
  const auto changed = [](const Row& row) { return found(read(row.text()).report, "started and ended on two sides"); };
  const Row june{
      .submit = "2024-06-10T10:00:00", .start = "2024-06-10T10:00:00", .end = "2024-06-10T12:00:00", .elapsed = "3600"};
  const Row since_1970{.submit = "1711846800", .start = "1711846800", .end = "1711854000", .elapsed = "5400"};
  const Row march{
      .submit = "2024-03-31T01:30:00", .start = "2024-03-31T01:30:00", .end = "2024-03-31T03:30:00", .elapsed = "3600"};
  const Row back{
      .submit = "2024-12-01T01:30:00", .start = "2024-12-01T01:30:00", .end = "2024-12-01T02:30:00", .elapsed = "7200"};
  for (const Row& row : {june, since_1970}) EXPECT_EQ(suspended(row), 1) << row.start;
  for (const Row& row : {march, back}) EXPECT_EQ(changed(row), 1) << row.start;
}

TEST(SacctTimes, AJobThatEndsAtOnceKeepsItsLimit) {
  const auto workload = parse_sacct(kNames + Row{.end = "2024-03-01T10:01:00", .elapsed = "0"}.text(), "log.txt");
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->jobs[0].limit, seconds(3600));
  EXPECT_EQ(workload->run_times[0], seconds(1));
}

TEST(SacctComponents, AreCounted) {
  const SacctLog log = read(Row{.id = "8", .shown = "8+0"}.text() + Row{.id = "9", .shown = "8+1"}.text());
  EXPECT_EQ(found(log.report, "components of heterogeneous jobs"), 2);
}

TEST(SacctArrays, RunAsManyTasksAtOnceAsTheirSubmitLineSays) {
  const std::string times = "|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:01:00|1|sbatch -a 1-9%4 x\n";
  const auto log = log_of(fmt::format("JobIDRaw|JobID|Submit|Start|End|NCPUS|SubmitLine\n8|7_1{}9|9{}", times, times));
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->rows[0].throttle, 4U);
  EXPECT_EQ(log->rows[0].array, 7);
  EXPECT_EQ(log->rows[1].throttle, 0U) << "no task of an array";
  EXPECT_EQ(log->rows[1].array, 0);
}

TEST(SacctArrays, ComeWithTheirFirstTaskWhereTheirThrottleIsKnown) {
  const auto waits = [](const std::string& line) {
    const std::string day = "2024-01-01T00:0";
    const auto log = log_of(fmt::format(
        "JobIDRaw|JobID|Submit|Eligible|Start|End|NCPUS|SubmitLine\n8|7_1|{0}0:00|{0}0:05|{0}0:10|{0}1:00|1|{1}\n"
        "7|7_2|{0}0:00|{0}1:00|{0}1:00|{0}2:00|1|{1}\n",
        day, line));
    EXPECT_EQ(found(log->report, "eligible after others of their array had started"), 1);
    return std::pair(log->rows[0][SwfField::wait], log->rows[1][SwfField::wait]);
  };
  EXPECT_EQ(waits("sbatch -a 1-2%1 x"), std::pair(std::int64_t{5}, std::int64_t{55}));
  EXPECT_EQ(waits("sbatch -a 1-2 x"), std::pair(std::int64_t{5}, std::int64_t{0}));
}

TEST(SacctNodes, AreThoseOfTheLastStartAndKeptOnce) {
  const std::string start = "|2024-01-01T00:00:00|2024-01-01T00:0";
  const auto log =
      log_of(fmt::format("JobIDRaw|Submit|Start|End|State|NCPUS|NodeList\n1{}0:00|2024-01-01T00:01:00|NODE_FAIL|1|"
                         "n9\n1|2024-01-01T00:01:00|2024-01-01T00:02:00|2024-01-01T00:03:00|COMPLETED|1|n[1-3,7]\n2{}0:"
                         "00|2024-01-01T00:01:00|COMPLETED|1|n[1-3,7]\n3{}0:00|2024-01-01T00:01:00|COMPLETED|1|bgq["
                         "000x133]\n4{}0:00|2024-01-01T00:01:00|COMPLETED|1|None assigned\n",
                         start, start, start, start));
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_EQ(log->rows.size(), 4U);
  EXPECT_EQ(log->node_lists->text(log->rows[0].ran_on), "n[1-3,7]");
  EXPECT_EQ(log->rows[1].ran_on, log->rows[0].ran_on);
  EXPECT_EQ(log->rows[2].ran_on, 0U);
  EXPECT_EQ(log->rows[3].ran_on, 0U);
  EXPECT_EQ(found(log->report, "NodeList is no host list such as n[1-3,7]: left unknown where they ran"), 1);
}

TEST(SacctNames, MayHaveAnythingInThem) {
  const std::string names = "JobIDRaw|JobName|Submit|Start|End|NCPUS\n";
  const std::string times = "|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:01:00|4\n";
  const auto log = log_of(
      fmt::format("{}1|a|b|c{}2|\"quoted{}3|two\nlines|and a bar{}4||{}", names, times, times, times, times.substr(1)));
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->rows.size(), 4U);
  EXPECT_EQ(log->report.rows, 4);
  for (const SwfRow& row : log->rows) EXPECT_EQ(row[SwfField::processors], 4);
}

TEST(SacctNames, ARowThatIsCutOffIsTold) {
  const std::string names = "JobIDRaw|JobName|Submit|Start|End|NCPUS\n";
  const std::string times = "|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:01:00|4\n";
  const std::string says = "the row has 3 columns where the first line names 6 (is it cut off?)";
  const auto last = log_of(fmt::format("{}1|a{}2|b|2024-01-0", names, times));
  ASSERT_FALSE(last);
  EXPECT_TRUE(last.error().message.starts_with("sacct.txt:3: " + says)) << last.error().message;
  const auto amid = log_of(fmt::format("{}1|a|2024-01-0\n{}2|b{}", names, names, times));
  ASSERT_FALSE(amid);
  EXPECT_TRUE(amid.error().message.starts_with("sacct.txt:2: " + says)) << amid.error().message;
  const auto next = log_of(fmt::format("{}1|a|2024-01-0\n2|b{}3|c{}", names, times, times));
  ASSERT_FALSE(next);
  EXPECT_TRUE(next.error().message.starts_with("sacct.txt:2: " + says)) << next.error().message;
  const auto before = log_of(fmt::format("{}1|a|2024-01-0\n2|b{}", names, times), {.skip_bad_rows = true});
  ASSERT_TRUE(before);
  EXPECT_EQ(before->rows.size(), 1U) << "the row after it is not taken for the rest of a name";
}

TEST(SacctDelimiters, MayBeCommasBetweenListsWithCommas) {
  const std::string times = ",2024-01-01T00:00:00,2024-01-01T00:00:00,2024-01-01T00:01:00,";
  const auto log =
      log_of(fmt::format("JobIDRaw,Submit,Start,End,NCPUS,AllocTRES,ReqTRES,NodeList\n1{}8,cpu=8,mem=4G,gres/"
                         "gpu=2,cpu=8,mem=4G,n[1,3-5]\n2{}4,cpu=4,cpu=4,n1,m2\n3{}2,,,n7\n",
                         times, times, times));
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_EQ(log->rows.size(), 3U);
  for (const auto& [row, processors] : {std::pair{0U, 8}, {1U, 4}, {2U, 2}})
    EXPECT_EQ(log->rows[row][SwfField::processors], processors);
}

TEST(SacctDelimiters, MayBeAnyThing) {
  for (const std::string delimiter : {";", "\t", "@@", "|"}) {
    std::string text =
        "JobIDRaw|Submit|Start|End|NCPUS\n1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:01:00|4\n";
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += delimiter.size())
      text.replace(at, 1, delimiter);
    EXPECT_TRUE(looks_like_sacct(text.substr(0, text.find('\n')))) << delimiter;
    const auto log = log_of(text);
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_EQ(log->rows[0][SwfField::processors], 4) << delimiter;
  }
  const auto fixed = log_of("JobIDRaw     Submit               Start    End   NCPUS\n");
  ASSERT_FALSE(fixed);
  EXPECT_TRUE(fixed.error().message.starts_with("sacct.txt:1: the columns are parted by blanks"))
      << fixed.error().message;
}

TEST(SacctExports, HaveNamesWithNewlinesInTheLastColumn) {
  const std::string names = "JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocCPUS|JobName\n";
  const std::string row = "|2024-03-01T10:00:00|2024-03-01T10:01:00|2024-03-01T10:11:00|600|COMPLETED|4|";
  const auto log = log_of(fmt::format("{}1{}two\nlines\n2{}plain\n3{}a|b\n\nc\n", names, row, row, row));
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->rows.size(), 3U);
  EXPECT_EQ(log->report.rows, 3);
  EXPECT_FALSE(log_of(fmt::format("{}1{}plain\n2|2024-03-01T10:0\n", names, row))) << "a row that is cut off is told";
}

TEST(SacctExports, AskForNoGpusThatCameWithANodeOfTheirOwn) {
  const std::string names = "JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocCPUS|ReqTRES|AllocTRES\n";
  const std::string row = "|2024-03-01T10:00:00|2024-03-01T10:01:00|2024-03-01T10:11:00|600|COMPLETED|4|";
  const auto log =
      log_of(fmt::format("{}1{}cpu=1,node=1|cpu=4,gres/gpu=2,node=1\n2{}|gres/gpu=2,node=1\n", names, row, row));
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(asked(*log, 1).accelerators, 0);
  EXPECT_EQ(asked(*log, 2).accelerators, 2) << "where no requests are told, what it had stands for them";
  EXPECT_EQ(found(log->report, "had accelerators or licences of which ReqTRES tells nothing"), 1);
}

}  // namespace
}  // namespace rota::log

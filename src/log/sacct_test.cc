#include "log/sacct.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.h"
#include "log/log.h"
#include "log/sacct_cell.h"

namespace rota::log {
namespace {

const std::string kNames =
    "JobIDRaw|User|Account|Partition|QOS|Submit|Start|End|Elapsed|Timelimit|State|AllocCPUS|ReqCPUS|NNodes|ReqMem\n";

// A row with these columns; every argument but the first few has a usual value.
struct Row {
  std::string id = "100", submit = "2024-03-01T10:00:00", start = "2024-03-01T10:01:00", end = "2024-03-01T10:11:00",
              elapsed = "00:10:00", limit = "01:00:00", state = "COMPLETED", cpus = "8", nodes = "2", memory = "16G",
              user = "anna";
  std::string text() const {
    return fmt::format("{}|{}|physics|batch|normal|{}|{}|{}|{}|{}|{}|{}|8|{}|{}\n", id, user, submit, start, end,
                       elapsed, limit, state, cpus, nodes, memory);
  }
};

Result<SacctLog> log_of(const std::string& text, const SwfOptions& options = {}) {
  return read_sacct_log(LineBlocks::over(text, "sacct.txt"), options);
}

SacctLog read(const std::string& rows, const SwfOptions& options = {}) {
  auto log = log_of(kNames + rows, options);
  EXPECT_TRUE(log) << log.error().message;
  return log ? *log : SacctLog{};
}

std::string sentence(const std::string& text, const SwfOptions& options = {}) {
  const auto log = log_of(text, options);
  return log ? "no error" : log.error().message;
}

std::int64_t found(const ImportReport& report, std::string_view what) {
  for (const auto& finding : report.findings)
    if (finding.what == what) return finding.rows;
  return 0;
}

TEST(ReadSacct, PutsAJobOnTheTermsOfSwf) {
  const SacctLog log = read(Row{}.text());
  ASSERT_EQ(log.rows.size(), 1U);
  const SwfRow& row = log.rows[0];
  EXPECT_EQ(row[SwfField::number], 100);
  EXPECT_EQ(row[SwfField::submit], 0);
  EXPECT_EQ(log.unix_start, 1'709'287'200);
  EXPECT_EQ(row[SwfField::wait], 60);
  EXPECT_EQ(row[SwfField::run], 600);
  EXPECT_EQ(row[SwfField::processors], 8);
  EXPECT_EQ(row[SwfField::requested_processors], 8);
  EXPECT_EQ(row[SwfField::requested_time], 3600);
  EXPECT_EQ(row[SwfField::requested_memory], 2 * 1024 * 1024) << "kilobytes for each processor";
  EXPECT_EQ(row[SwfField::status], 1);
  EXPECT_EQ(row.nodes, 2U);
  EXPECT_EQ(row.node_memory, std::int64_t{8} << 30U);
  EXPECT_EQ(log.users.at(static_cast<std::uint32_t>(row[SwfField::user])), "anna");
  EXPECT_EQ(log.groups.at(1), "physics");
  EXPECT_EQ(log.partitions.at(1), "batch");
  EXPECT_EQ(log.queues.at(1), "normal");
  EXPECT_TRUE(log.report.findings.empty());
}

TEST(ReadSacct, ReadsColumnsInAnyOrderAndPassesOverOthers) {
  const auto log = log_of(
      "Comment|end|AllocTRES|START|Submit|jobid|TimelimitRaw|ElapsedRaw|\n"
      "nice|1709287800|billing=3,cpu=12,mem=4G|1709287200|1709287100|55|30|600|\n");
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->rows[0][SwfField::number], 55);
  EXPECT_EQ(log->rows[0][SwfField::processors], 12);
  EXPECT_EQ(log->rows[0][SwfField::requested_time], 1800);
  EXPECT_EQ(log->rows[0][SwfField::run], 600);
  EXPECT_EQ(log->rows[0][SwfField::status], -1);
}

TEST(ReadSacct, DropsWhatNeverRanAndWhatHasNotEnded) {
  const SacctLog log =
      read(Row{}.text() + Row{.id = "100.batch"}.text() +
           Row{.id = "101",
               .start = "None",
               .end = "2024-03-01T10:05:00",
               .elapsed = "00:00:00",
               .state = "CANCELLED by 1000"}
               .text() +
           Row{.id = "102",
               .start = "2024-03-01T10:05:00",
               .end = "2024-03-01T10:05:00",
               .elapsed = "00:00:00",
               .state = "CANCELLED"}
               .text() +
           Row{.id = "103", .start = "Unknown", .end = "Unknown", .elapsed = "00:00:00", .state = "PENDING"}.text() +
           Row{.id = "104", .end = "Unknown", .state = "RUNNING"}.text());
  EXPECT_EQ(log.rows.size(), 1U);
  EXPECT_EQ(log.report.rows, 6);
  EXPECT_EQ(log.report.kept, 1);
  EXPECT_EQ(found(log.report, "steps of jobs: passed over"), 1);
  EXPECT_EQ(found(log.report, "cancelled before they started: dropped"), 2);
  EXPECT_EQ(found(log.report, "not started when the log was taken: dropped"), 1);
  EXPECT_EQ(found(log.report, "still running when the log was taken: dropped"), 1);
}

TEST(ReadSacct, KeepsCancelledJobsWhenAskedTo) {
  const SacctLog log = read(Row{.start = "None",
                                .end = "2024-03-01T10:05:00",
                                .elapsed = "00:00:00",
                                .state = "CANCELLED by 1000",
                                .cpus = "0"}
                                .text(),
                            {.keep_cancelled = true});
  EXPECT_EQ(log.rows[0][SwfField::run], 0);
  EXPECT_EQ(log.rows[0][SwfField::wait], 300);
  EXPECT_EQ(log.rows[0][SwfField::status], 5);
  EXPECT_EQ(log.rows[0][SwfField::processors], -1);
  EXPECT_EQ(log.rows[0][SwfField::requested_processors], 8);
}

TEST(ReadSacct, TrustsElapsedAcrossAClockChange) {
  const SacctLog spring = read(Row{.submit = "2024-03-31T01:30:00",
                                   .start = "2024-03-31T01:30:00",
                                   .end = "2024-03-31T03:10:00",
                                   .elapsed = "00:40:00"}
                                   .text());
  EXPECT_EQ(spring.rows[0][SwfField::run], 2400);
  EXPECT_EQ(spring.rows[0].suspended, Duration{0}) << "the clock was changed";
  EXPECT_EQ(found(spring.report, "started and ended on two sides of a clock change: Elapsed taken as the run time"), 1);
  const SacctLog autumn = read(Row{.submit = "2024-10-27T02:50:00",
                                   .start = "2024-10-27T02:50:00",
                                   .end = "2024-10-27T02:10:00",
                                   .elapsed = "00:20:00"}
                                   .text());
  EXPECT_EQ(autumn.rows[0][SwfField::run], 1200);
  EXPECT_EQ(autumn.rows[0].suspended, Duration{0});
  const SacctLog odd = read(Row{.elapsed = "00:13:00"}.text());
  EXPECT_EQ(odd.rows[0].suspended, Duration{0}) << "it ran for longer than from Start to End";
  const SacctLog suspended = read(Row{.elapsed = "00:03:00"}.text());
  EXPECT_EQ(suspended.rows[0][SwfField::run], 180);
  EXPECT_EQ(suspended.rows[0].suspended, seconds(420));
  EXPECT_EQ(found(suspended.report, "End - Start is not Elapsed (suspended?): Elapsed taken as the run time"), 1);
  const SacctLog unsure = read(Row{}.text() + Row{.id = "5", .end = "2024-03-01T09:00:00", .elapsed = ""}.text());
  EXPECT_EQ(found(unsure.report, "ended before they started, and Elapsed is not there: dropped"), 1);
}

TEST(ReadSacct, GivesNumbersToMembersOfArraysAndToDoubledOnes) {
  const auto log = log_of(
      "JobID|Submit|Start|End|NCPUS\n"
      "200|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:01:00|1\n"
      "150_1|2024-01-01T00:00:01|2024-01-01T00:00:01|2024-01-01T00:01:00|1\n"
      "160+0|2024-01-01T00:00:02|2024-01-01T00:00:02|2024-01-01T00:01:00|1\n"
      "170|2024-01-01T00:00:04|2024-01-01T00:00:04|2024-01-01T00:01:00|1\n"
      "200|2024-01-02T00:00:03|2024-01-02T00:00:03|2024-01-02T00:01:00|1\n");
  ASSERT_TRUE(log) << log.error().message;
  std::vector<std::int64_t> numbers;
  for (const SwfRow& row : log->rows) numbers.push_back(row[SwfField::number]);
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{200, 201, 202, 170, 203}));
  EXPECT_EQ(found(log->report, "job numbers missing or doubled (members of arrays): new ones given"), 3);
  EXPECT_EQ(most_processors(*log), 4);
}

TEST(ReadSacct, SortsBySubmitTimeAndCountsFromTheFirst) {
  const SacctLog log =
      read(Row{.id = "2", .submit = "2024-03-01T10:00:30"}.text() + Row{.id = "3"}.text() + Row{.id = "4"}.text());
  EXPECT_EQ(log.rows[0][SwfField::number], 3);
  EXPECT_EQ(log.rows[1][SwfField::number], 4);
  EXPECT_EQ(log.rows[2][SwfField::submit], 30);
}

TEST(ReadSacct, LeavesUnlimitedTimeLimitsUnknown) {
  const SacctLog log = read(Row{.limit = "UNLIMITED"}.text() + Row{.id = "2", .limit = "Partition_Limit"}.text());
  EXPECT_EQ(log.rows[0][SwfField::requested_time], -1);
  EXPECT_EQ(found(log.report, "no time limit (UNLIMITED, Partition_Limit, or not told): requested time left unknown"),
            2);
}

TEST(ReadSacct, ReadsMemoryInEveryForm) {
  const auto on_node = [](const char* memory) { return read(Row{.memory = memory}.text()).rows[0].node_memory; };
  EXPECT_EQ(on_node("16G"), std::int64_t{8} << 30U) << "in all, on two nodes";
  EXPECT_EQ(on_node("4000Mn"), std::int64_t{4000} << 20U);
  EXPECT_EQ(on_node("2Gc"), std::int64_t{8} << 30U) << "four processors on each node";
  EXPECT_EQ(on_node("1024"), std::int64_t{512} << 20U) << "megabytes without a unit";
  EXPECT_EQ(on_node("0n"), 0);
  EXPECT_EQ(on_node(""), 0);
  EXPECT_EQ(on_node("16?"), 0) << "what sacct prints where nothing was asked";
  EXPECT_EQ(on_node("18446744073709551616.00M"), 0) << "the same with --noconvert";
  EXPECT_EQ(read(Row{.nodes = "3"}.text()).rows[0].node_memory, (std::int64_t{16} << 30U) / 3) << "spread unevenly";
}

TEST(ReadSacct, CountsNoProcessorsThatASuspendedJobHadGivenUp) {
  const Row suspended{.id = "1", .end = "2024-03-01T11:21:00", .elapsed = "00:10:00", .cpus = "8"};
  const Row beside{.id = "2", .cpus = "12"};
  EXPECT_EQ(most_processors(read(suspended.text() + beside.text())), 12) << "both may have had the same ones";
  EXPECT_EQ(most_processors(read(suspended.text())), 8) << "nothing else is known";
  EXPECT_EQ(most_processors(read(Row{}.text() + beside.text())), 20);
}

TEST(ReadSacct, DoesNotTakeALastRowThatMayBeCutOff) {
  std::string text = kNames + Row{}.text() + Row{.id = "200", .memory = "2000M"}.text();
  text.resize(text.size() - 3);  // "200" is an amount of memory, too
  EXPECT_EQ(sentence(text),
            "sacct.txt:3: the last row ends without a newline (is it cut off?). Mend the row, or drop such rows with "
            "--skip-bad-rows.");
  const auto log = log_of(text, {.skip_bad_rows = true});
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->rows.size(), 1U);
  EXPECT_EQ(found(log->report, "rows that cannot be read: dropped"), 1);
}

constexpr const char* kWholeNodes =
    "given all the memory of their nodes (--mem=0): as much as sacct says that they asked for, else as they were given";

TEST(ReadSacct, TakesTheMemoryThatIsBesideTheProcessorsThatAJobHad) {
  struct Case {
    const char *what, *cells;  // AllocCPUS|ReqCPUS|NNodes|ReqNodes|ReqMem|AllocTRES
    std::int64_t node_megabytes, processor_kilobytes;
    int whole_nodes = 0;
  };
  for (const Case& one : {
           Case{"memory for each processor, whole cores", "2|1|1|1|3000M|cpu=2,mem=6000M", 6000, 3000 * 1024},
           Case{"the same in the old form", "2|1|1|1|3000Mc|cpu=2,mem=6000M", 6000, 3000 * 1024},
           Case{"memory for each node, whole cores", "2|1|1|1|3000M|cpu=2,mem=3000M", 3000, 1500 * 1024},
           Case{"memory for each node, on more than asked for", "12|9|3|2|8000M|cpu=12,mem=12000M", 4000, 1000 * 1024},
           Case{"the same, in any spread", "8|8|2|1|4000M|cpu=8,mem=8000M", 4000, 1000 * 1024},
           Case{"for each processor, unevenly on two nodes", "6|5|2|2|5000M|cpu=6,mem=6000M", 3000, 1000 * 1024},
           Case{"rounded by sacct", "4|3|1|1|11.72G|cpu=4,mem=15.62G", 15994, 3998 * 1024},
           Case{"whole nodes", "8|1|1|1|100M|cpu=8,mem=800M", 800, 100 * 1024},
           Case{"whole nodes and all their memory", "8|1|1|1|7000M|cpu=8,mem=8000M", 7000, 875 * 1024, 1},
           Case{"the same on several nodes", "24|1|3|1|7000M|cpu=24,mem=23000M", 7000, 875 * 1024, 1},
           Case{"the same where sacct does not say what is asked", "16|2|2|2|0n|mem=15000M", 7500, 960000, 1},
           Case{"hyperthreads left idle", "8|4|2|1|400M|cpu=8,mem=400M", 200, 50 * 1024},
       }) {
    const auto log =
        log_of(fmt::format("JobID|Submit|Start|End|State|AllocCPUS|ReqCPUS|NNodes|ReqNodes|ReqMem|AllocTRES\n7|2024-03-"
                           "01T11:00:00|2024-03-01T11:00:10|2024-03-01T11:01:15|COMPLETED|{}\n",
                           one.cells));
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_EQ(log->rows[0].node_memory >> 20U, one.node_megabytes) << one.what;
    EXPECT_LE(std::abs(log->rows[0][SwfField::requested_memory] - one.processor_kilobytes), 1024) << one.what;
    EXPECT_EQ(found(log->report, kWholeNodes), one.whole_nodes) << one.what;
  }
}

TEST(ReadSacct, CountsJobsWhoseGivenMemoryIsUnknown) {
  const auto log = log_of(
      "JobID|Submit|Start|End|State|AllocCPUS|ReqCPUS|NNodes|ReqMem\n"
      "7|2024-03-01T11:00:00|2024-03-01T11:00:10|2024-03-01T11:01:15|COMPLETED|2|1|1|3000M\n");
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->rows[0].node_memory >> 20U, 3000);
  EXPECT_EQ(
      found(log->report, "had more processors than they asked for, and AllocTRES does not tell their memory: as asked"),
      1);
}

TEST(ReadSacct, CountsJobsOfUnknownMemory) {
  const char* const impossible = "ReqMem is more memory than there can be: memory left unknown";
  const char* const all_there_is =
      "ReqMem is 0 (--mem=0, or none told), and AllocTRES does not tell what they were given: memory left unknown";
  for (const auto& [memory, lost, given] : {std::tuple{"99999999T", 1, 0},
                                            {"99999999999999999999G", 1, 0},
                                            {"0", 0, 1},
                                            {"0n", 0, 1},
                                            {"0Mc", 0, 1},
                                            {"", 0, 0},
                                            {"16?", 0, 0},
                                            {"18446744073709551616.00M", 0, 0},
                                            {"16G", 0, 0}}) {
    const SacctLog log = read(Row{.memory = memory}.text());
    EXPECT_EQ(found(log.report, impossible), lost) << memory;
    EXPECT_EQ(found(log.report, all_there_is), given) << memory;
  }
  const auto told = log_of(
      "JobID|Submit|Start|End|State|AllocCPUS|NNodes|ReqMem|AllocTRES\n"
      "7|2024-03-01T11:00:00|2024-03-01T11:00:10|2024-03-01T11:01:15|COMPLETED|2|1|0|cpu=2,node=1\n"
      "8|2024-03-01T11:00:00|2024-03-01T11:00:10|2024-03-01T11:01:15|COMPLETED|2|1|99999999T|cpu=2,mem=4G,node=1\n");
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(found(told->report, all_there_is), 0) << "memory does not count on this cluster";
  EXPECT_EQ(found(told->report, impossible), 0) << "it is told what the job was given";
}

TEST(ReadSacct, CountsStatesThatItDoesNotKnow) {
  const SacctLog log = read(Row{.id = "1", .state = "FOO"}.text() + Row{.id = "2"}.text());
  ASSERT_EQ(log.rows.size(), 2U);
  EXPECT_EQ(log.rows[0][SwfField::status], -1);
  EXPECT_EQ(found(log.report, "a state that is not known: taken as ended, with no status"), 1);
}

TEST(ReadSacct, SaysWhatIsWrongWithARow) {
  const std::string mend = ". Mend the row, or drop such rows with --skip-bad-rows.";
  EXPECT_EQ(sentence(kNames + Row{.submit = "yesterday"}.text()),
            "sacct.txt:2: column Submit is \"yesterday\", which is not a time such as 2024-03-31T01:59:59" + mend);
  EXPECT_EQ(sentence(kNames + Row{.submit = "Unknown"}.text()),
            "sacct.txt:2: column Submit is \"Unknown\", but each job must have that time" + mend);
  EXPECT_EQ(sentence(kNames + Row{.cpus = "-4"}.text()),
            "sacct.txt:2: column AllocCPUS is \"-4\", which is not a number from 0 to 2147483647" + mend);
  EXPECT_EQ(sentence(kNames + Row{.limit = "soon"}.text()),
            "sacct.txt:2: column Timelimit is \"soon\", which is not a duration such as 1-12:00:00" + mend);
  EXPECT_EQ(sentence(kNames + Row{.memory = "lots"}.text()),
            "sacct.txt:2: column ReqMem is \"lots\", which is not an amount of memory such as 16G or 4000Mc" + mend);
  EXPECT_EQ(sentence(kNames + Row{.id = "x1"}.text()),
            "sacct.txt:2: column JobIDRaw is \"x1\", which is not the number of a job" + mend);
  EXPECT_EQ(sentence(kNames + Row{.user = "\xe1nna"}.text()),
            "sacct.txt:2: column User is \"\\xe1nna\", which is not UTF-8 text" + mend);
  EXPECT_EQ(sentence(kNames + Row{.user = "a|b"}.text()),
            "sacct.txt:2: the row has 16 columns where the first line names 15" + mend);
  const SacctLog log = read(Row{}.text() + Row{.user = "a|b"}.text(), {.skip_bad_rows = true});
  EXPECT_EQ(found(log.report, "rows that cannot be read: dropped"), 1);
}

TEST(ReadSacct, SaysWhichColumnsItNeeds) {
  EXPECT_NE(sentence("100|anna\n").find("sacct.txt:1: the first line does not name the columns"), std::string::npos);
  EXPECT_NE(sentence("JobID|Submit|Start|NCPUS\n")
                .find("sacct.txt:1: the column End is missing. Write the log with sacct -X -P"),
            std::string::npos);
  EXPECT_NE(sentence("JobID|Submit|Start|End\n").find("no column tells the processors of a job"), std::string::npos);
  EXPECT_EQ(sentence(kNames),
            "sacct.txt: no job can be read from it because it has no rows. Does sacct -X -P show finished jobs in that "
            "time?");
}

// As sacct 22.05 has printed it, TZ=Europe/Berlin, with users and times made up.
const char* const kPrinted =
    R"(JobIDRaw|JobID|User|Submit|Eligible|Start|End|ElapsedRaw|Elapsed|TimelimitRaw|Timelimit|State|AllocCPUS|NCPUS|ReqCPUS|NNodes|ReqMem|ReqTRES|AllocTRES
100|100|root|2024-03-01T11:00:00|2024-03-01T11:00:00|2024-03-01T11:01:00|2024-03-01T11:11:00|600|00:10:00|60|01:00:00|COMPLETED|8|8|8|2|16G|cpu=8,mem=16G,node=2|cpu=8,mem=16G,node=2
101|101|root|2024-03-01T11:00:00|2024-03-01T11:00:00|Unknown|2024-03-01T11:05:00|0|00:00:00|1440|1-00:00:00|CANCELLED|8|8|8|2|8000M|cpu=8,mem=8000M,node=2|
103|103|root|2024-03-01T11:00:00|2024-03-01T11:00:00|2024-03-01T11:00:10|Unknown|85960677|994-21:57:57|1440|1-00:00:00|RUNNING|8|8|8|1|4000M|cpu=8,mem=4000M,node=1|cpu=8,mem=4000M,node=1
111|110+1|root|2024-03-01T11:00:00|2024-03-01T11:00:00|2024-03-01T11:00:10|2024-03-01T11:01:15|65|00:01:05|10|00:10:00|TIMEOUT|1|1|1|1|16?|cpu=1,node=1|cpu=1,node=1
112|112|root|2024-03-01T11:00:00|2024-03-01T11:00:00|2024-03-01T11:00:10|2024-03-01T11:01:15|65|00:01:05|||NODE_FAIL|1|1|1|1|16?|cpu=1,node=1|cpu=1,node=1
105|105_2|root|2024-03-01T11:00:00|2024-03-01T11:00:00|2024-03-01T11:00:10|2024-03-01T11:01:15|45|00:00:45|Partition_Limit|Partition_Limit|COMPLETED|1|1|1|1|16?|cpu=1,node=1|cpu=1,mem=0,node=1
120|120_[4-10]|root|2024-03-01T11:00:00|2024-03-01T11:00:00|Unknown|Unknown|0|00:00:00|10|00:10:00|PENDING|1|1|1|1|16?|cpu=1,node=1|
201|201|root|2024-03-31T01:30:00|2024-03-31T04:30:00|2024-03-31T01:30:00|2024-03-31T03:10:00|2400|00:40:00|60|01:00:00|COMPLETED|1|1|1|1|16?|cpu=1,node=1|cpu=1,node=1
202|202|root|2024-10-27T02:50:00|2024-10-27T02:50:00|2024-10-27T02:50:00|2024-10-27T02:10:00|1200|00:20:00|60|01:00:00|COMPLETED|1|1|1|1|2G|cpu=1,mem=2G,node=1|cpu=1,mem=2G,node=1
)";

TEST(ReadSacct, ReadsWhatSlurm2205Prints) {
  const auto log = log_of(kPrinted);
  ASSERT_TRUE(log) << log.error().message;
  std::vector<std::array<std::int64_t, 4>> rows;
  for (const SwfRow& row : log->rows)
    rows.push_back({row[SwfField::number], row[SwfField::run], row[SwfField::requested_time], row[SwfField::status]});
  EXPECT_EQ(rows, (std::vector<std::array<std::int64_t, 4>>{{100, 600, 3600, 1},
                                                            {105, 45, -1, 1},
                                                            {111, 65, 600, 0},
                                                            {112, 65, -1, 0},
                                                            {201, 2400, 3600, 1},
                                                            {202, 1200, 3600, 1}}));
  EXPECT_EQ(log->report.rows, 9);
  EXPECT_EQ(found(log->report, "cancelled before they started: dropped"), 1);
  EXPECT_EQ(found(log->report, "still running when the log was taken: dropped"), 1);
  EXPECT_EQ(found(log->report, "not started when the log was taken: dropped"), 1);
  EXPECT_EQ(found(log->report, "End - Start is not Elapsed (suspended?): Elapsed taken as the run time"), 1);
  EXPECT_EQ(found(log->report, "started and ended on two sides of a clock change: Elapsed taken as the run time"), 2);
  EXPECT_EQ(found(log->report,
                  "eligible later than submitted (held, begin time, or waiting for another job): they come when "
                  "they are eligible"),
            0)
      << "it started before";
}

TEST(ReadSacct, BecomesAWorkloadByTheRulesOfSwf) {
  const auto w = parse_sacct(kNames + Row{.id = "7", .limit = "UNLIMITED"}.text() +
                                 Row{.id = "8", .submit = "2024-03-01T10:00:10", .elapsed = "00:00:00"}.text(),
                             "logs/june.txt");
  ASSERT_TRUE(w) << w.error().message;
  EXPECT_EQ(w->name, "june.txt");
  EXPECT_EQ(w->processors, 8);
  EXPECT_EQ(w->jobs[0].limit, seconds(600));
  EXPECT_EQ(w->jobs[0].nodes, 2U);
  EXPECT_EQ(w->jobs[0].memory, std::int64_t{8} << 30U);
  EXPECT_EQ(w->run_times[1], seconds(1));
  EXPECT_EQ(w->partitions.at(1), "batch");
  EXPECT_EQ(found(w->report, "run time 0 or unknown: taken as jobs of 1 s"), 1);
}

TEST(FormatOf, TellsSacctFromSwf) {
  const auto format = [](const std::string& text) {
    auto blocks = LineBlocks::over(text, "log");
    const auto answer = format_of(blocks).value();
    EXPECT_EQ(blocks.next().value().size(), text.size()) << "nothing is used up";
    return answer;
  };
  EXPECT_EQ(format(kNames), LogFormat::sacct);
  EXPECT_EQ(format("; 1| 2| 3\n1 0 -1 1 1\n"), LogFormat::swf);
  EXPECT_EQ(format("1 0 -1 1 1\n"), LogFormat::swf);
  EXPECT_EQ(format("{\"meta\": {}, \"jobs\": [{\"job_id\": 1}]}\n"), LogFormat::sacct_json);
  EXPECT_EQ(format("{\"jobs\": [{\"job_id\": 1}]}\n"), LogFormat::sacct_json);
  EXPECT_EQ(format("{\"jobs\": [{\"id\": \"1\", \"subtime\": 0}]}\n"), LogFormat::batsim);
  EXPECT_EQ(format("{\"nb_res\": 4, \"jobs\": []}\n"), LogFormat::batsim);
  EXPECT_EQ(format("\xfe|\xff\n"), LogFormat::swf) << "whose reader says that it is binary";
}

TEST(SacctCell, ReadsTimesOfRealDaysOnly) {
  EXPECT_EQ(parse_sacct_time("1970-01-01T00:00:01").value(), 1);
  EXPECT_EQ(parse_sacct_time("2024-02-29T23:59:59").value(), 1'709'251'199);
  EXPECT_EQ(parse_sacct_time("None").value(), std::nullopt);
  for (const char* bad :
       {"2023-02-29T00:00:00", "2024-13-01T00:00:00", "2024-01-01T24:00:00", "2024-01-01 00:00:00",
        "1969-12-31T23:59:59", "3000-01-01T00:00:00", "2024-01-01T00:00:0x", "-5", "99999999999", "2024-01-01"})
    EXPECT_FALSE(parse_sacct_time(bad)) << bad;
}

TEST(SacctCell, ReadsWhatIsAskedInAll) {
  const auto tres = parse_sacct_tres("billing=4,cpu=12,gres/gpu:a100=2,gres/gpu=2,license/matlab=3,mem=16G,node=4");
  ASSERT_TRUE(tres);
  EXPECT_EQ(tres->processors, 12);
  EXPECT_EQ(tres->nodes, 4);
  EXPECT_EQ(tres->accelerators, 2);
  EXPECT_EQ(tres->accelerator_type, "a100");
  EXPECT_EQ(named_licences_text(tres->licences), "matlab:3");
  EXPECT_FALSE(tres->more || tres->others);
  EXPECT_TRUE(parse_sacct_tres("gres/gpu=3,gres/gpu:a100=2,gres/gpu:v100=1")->more);
  EXPECT_EQ(parse_sacct_tres("gres/gpu=3,gres/gpu:a100=2,gres/gpu:v100=1")->accelerators, 3);
  EXPECT_EQ(parse_sacct_tres("gres/gpu:v100=1,gres/gpu:a100=2")->accelerators, 3) << "the total is not told";
  const auto both = parse_sacct_tres("license/a=1,license/b=2,license/none=0");
  EXPECT_EQ(named_licences_text(both->licences), "a,b:2");
  EXPECT_FALSE(both->more);
  EXPECT_TRUE(parse_sacct_tres("gres/fpga=1")->others);
  EXPECT_FALSE(parse_sacct_tres("gres/gpumem=0,gres/gpuutil=0")->others);
  EXPECT_EQ(parse_sacct_tres("")->processors, -1);
  EXPECT_FALSE(parse_sacct_tres("cpu=many"));
}

TEST(SacctCell, ReadsAcceleratorsOfEachNodeAsOldSlurmToldThem) {
  EXPECT_EQ(parse_sacct_gres("gpu:2")->accelerators, 2);
  EXPECT_EQ(parse_sacct_gres("gpu:a100:4")->accelerators, 4);
  EXPECT_EQ(parse_sacct_gres("gpu:a100:4")->accelerator_type, "a100");
  EXPECT_EQ(parse_sacct_gres("PER_NODE:gpu:1")->accelerators, 1);
  EXPECT_EQ(parse_sacct_gres("gpu")->accelerators, 1);
  EXPECT_EQ(parse_sacct_gres("gpu:a100")->accelerator_type, "a100");
  EXPECT_EQ(parse_sacct_gres("")->accelerators, -1);
}

bool answered(const auto& result) { return result.has_value() || is_utf8(result.error().message); }

RC_GTEST_PROP(ReadSacct, NeverCrashesOnAnyBytes, (const std::string& text)) {
  RC_ASSERT(answered(log_of(text)));
  RC_ASSERT(answered(parse_sacct(kNames + text, "sacct.txt", {.skip_bad_rows = true})));
  std::string row = Row{}.text();
  if (!text.empty()) row[text.size() * 7919 % row.size()] = text[0];
  RC_ASSERT(answered(parse_sacct(kNames + row, "sacct.txt")));
}

TEST(Sacct, OfSeveralPartitionsTheFirstIsAGuessThatIsCounted) {
  const auto workload = parse_sacct(
      "JobIDRaw|Partition|Submit|Start|End|State|AllocCPUS|ReqCPUS\n"
      "1|big,small|1709280000|Unknown|1709280600|CANCELLED by 7|0|4\n"
      "2|small|1709280000|1709280000|1709280600|COMPLETED|4|4\n",
      "sacct.txt", {.keep_cancelled = true});
  ASSERT_TRUE(workload) << workload.error().message;
  ASSERT_EQ(workload->jobs.size(), 2U);
  const auto pending = std::ranges::find(workload->jobs, 1, [](const JobSpec& job) { return job.number; });
  ASSERT_NE(pending, workload->jobs.end());
  EXPECT_EQ(workload->partitions.at(pending->partition.value), "big");
  const auto& findings = workload->report.findings;
  const auto several = std::ranges::find(findings, kSeveralPartitions, &ImportReport::Finding::what);
  ASSERT_NE(several, findings.end());
  EXPECT_EQ(several->rows, 1);
  EXPECT_EQ(several->first_line, 2);
}

}  // namespace
}  // namespace rota::log

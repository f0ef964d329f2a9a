#include "log/swf.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "log/gzip.h"
#include "log/swf_reader.h"

namespace rota::log {
namespace {

const std::string kHeader = "; Version: 2.2\n; MaxProcs: 128\n;  MaxNodes: 16 (two kinds)\n; UnixStartTime: 1000\n";
const std::string kTail = " -1 -1 -1 -1 -1 -1 -1\n";  // fields 12 to 18

Workload parsed(const std::string& text, const SwfOptions& options = {}) {
  auto workload = parse_swf(text, "logs/test.swf", options);
  EXPECT_TRUE(workload) << workload.error().message;
  return workload ? *workload : Workload{};
}

std::string sentence(const std::string& text, const SwfOptions& options = {}) {
  const auto workload = parse_swf(text, "test.swf", options);
  return workload ? "no error" : workload.error().message;
}

std::int64_t found(const Workload& workload, std::string_view what, std::int64_t first_line) {
  for (const auto& finding : workload.report.findings)
    if (finding.what == what) {
      EXPECT_EQ(finding.first_line, first_line) << what;
      return finding.rows;
    }
  return 0;
}

TEST(ReadSwf, TurnsARowIntoAJob) {
  const Workload w = parsed(kHeader + "; Partition: 2 - batch\n7 100 5 60 8 55 1024 16 3600 2048 1 3 4 5 6 2 -1 -1\n");
  ASSERT_EQ(w.jobs.size(), 1U);
  EXPECT_EQ(w.name, "test");
  EXPECT_EQ(w.processors, 128);
  EXPECT_EQ(w.nodes, 16);
  EXPECT_EQ(w.unix_start, 1000);
  EXPECT_EQ(w.partitions.at(2), "batch");
  const JobSpec& job = w.jobs[0];
  EXPECT_EQ(job.number, 7);
  EXPECT_EQ(job.submit, at_seconds(100));
  EXPECT_EQ(job.limit, seconds(3600));
  EXPECT_EQ(w.run_times[0], seconds(60));
  EXPECT_EQ(job.processors, 8U);
  EXPECT_EQ(job.user, 3U);
  EXPECT_EQ(job.group, 4U);
  EXPECT_EQ(job.partition.value, 2U);
  EXPECT_EQ(job.nodes, 0U);
  EXPECT_EQ(job.memory, 0) << "memory a processor says nothing about a node";
  EXPECT_TRUE(w.report.findings.empty());
}

TEST(ReadSwf, FallsBackToRequestedProcessorsAndToTheRunTimeAsLimit) {
  const Workload w = parsed("1 0 -1 60 -1 -1 -1 16 -1 -1 1" + kTail);
  EXPECT_EQ(w.jobs[0].processors, 16U);
  EXPECT_EQ(w.jobs[0].limit, seconds(60));
  EXPECT_EQ(w.jobs[0].user, UINT32_MAX);
  EXPECT_FALSE(w.jobs[0].partition.valid());
  EXPECT_EQ(found(w, "no requested time: the run time taken as the limit", 1), 1);
}

TEST(ReadSwf, KeepsARunTimeBeyondTheLimit) {
  const Workload w = parsed("1 0 -1 60.5 4 -1 -1 -1 30 -1 1" + kTail);
  EXPECT_EQ(w.run_times[0], Duration{60'500});
  EXPECT_EQ(w.jobs[0].limit, seconds(30));
  EXPECT_EQ(found(w, "run time longer than the requested time: kept as recorded", 1), 1);
}

TEST(ReadSwf, TakesRowsWithoutRunTimeProcessorsOrSubmitTimeAsOneSecondJobs) {
  const std::string log = fmt::format(
      "1 -1 -1 60 4 -1 -1 -1 30 -1 1{}2 9 -1 0 4 -1 -1 -1 30 -1 1{}3 9 -1 60 -1 -1 -1 0 30 -1 1{}4 9 -1 -1 -1 -1 -1 -1 "
      "30 -1 0{}",
      kTail, kTail, kTail, kTail);
  const Workload w = parsed(log), published = parsed(log, {.published_limits = true});
  ASSERT_EQ(w.jobs.size(), 4U);
  ASSERT_EQ(published.jobs.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(w.run_times[i], seconds(1));
    EXPECT_EQ(w.jobs[i].limit, seconds(30)) << "what the user asked for";
    EXPECT_EQ(published.run_times[i], seconds(1));
    EXPECT_EQ(published.jobs[i].limit, seconds(1));
  }
  EXPECT_EQ(w.jobs[0].submit, at_seconds(1));
  EXPECT_EQ(w.jobs[0].processors, 4U);
  EXPECT_EQ(w.jobs[2].processors, 1U);
  EXPECT_EQ(found(w, "submit time unknown: taken as jobs of 1 s at the beginning", 1), 1);
  EXPECT_EQ(found(w, "run time 0 or unknown: taken as jobs of 1 s", 2), 2);
  EXPECT_EQ(found(w, "processors unknown: taken as jobs of 1 s on one processor", 3), 1);
}

TEST(ReadSwf, DropsJobsCancelledBeforeTheyStartedUnlessAskedToKeepThem) {
  const std::string log = fmt::format("1 0 -1 0 4 -1 -1 4 30 -1 5{}2 0 -1 10 4 -1 -1 4 30 -1 5{}", kTail, kTail);
  const Workload dropped = parsed(log);
  ASSERT_EQ(dropped.jobs.size(), 1U);
  EXPECT_EQ(dropped.jobs[0].number, 2);
  EXPECT_EQ(dropped.report.rows, 2);
  EXPECT_EQ(dropped.report.kept, 1);
  EXPECT_EQ(found(dropped, "cancelled before they started: dropped", 1), 1);
  const Workload kept = parsed(log, {.keep_cancelled = true});
  ASSERT_EQ(kept.jobs.size(), 2U);
  EXPECT_EQ(kept.run_times[1], seconds(1)) << "at second 1, behind job 2";
}

TEST(ReadSwf, SortsBySubmitTimeAndKeepsTheFileOrderOfTies) {
  const Workload w = parsed("1 50 -1 1 1\n2 10 -1 2 1\n3 50 -1 3 1\n4 10 -1 4 1\n5 20 -1 5 1\n");
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < w.jobs.size(); ++i) {
    numbers.push_back(w.jobs[i].number);
    EXPECT_EQ(w.run_times[i], seconds(w.jobs[i].number)) << "run times move with their jobs";
  }
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{2, 4, 5, 1, 3}));
  EXPECT_EQ(found(w, "not in order of submit time: sorted", 2), 2);
}

TEST(ReadSwf, NamesBothLinesOfADoubledJobNumber) {
  const std::string log = "; a\n2 0 -1 1 1\n\n1 0 -1 1 1\n; b\n2 5 -1 9 1\n";
  EXPECT_EQ(
      sentence(log),
      "test.swf:6: job number 2 is already that of line 2. Give each job a number of its own, or drop the later one "
      "with --skip-bad-rows.");
  const Workload w = parsed(log, {.skip_bad_rows = true});
  ASSERT_EQ(w.jobs.size(), 2U);
  EXPECT_EQ(w.jobs[0].number, 2);
  EXPECT_EQ(w.run_times[0], seconds(1));
  EXPECT_EQ(found(w, "job numbers that were there already: the later row dropped", 6), 1);
  EXPECT_EQ(w.report.kept, 2);
}

TEST(ReadSwf, NamesFileLineAndFieldOfABadRow) {
  const std::string log = kHeader + "1 0 -1 1 1\n2 0 -1 soon 1\n3 0 -1 1 1\n";
  EXPECT_EQ(sentence(log),
            "test.swf:6: field 4 (run time) is \"soon\", which is not a number. Mend the row, or drop such rows with "
            "--skip-bad-rows.");
  const Workload w = parsed(log, {.skip_bad_rows = true});
  EXPECT_EQ(w.jobs.size(), 2U);
  EXPECT_EQ(w.report.rows, 3);
  EXPECT_EQ(found(w, "rows that cannot be read: dropped", 6), 1);
}

TEST(ReadSwf, RefusesAnEmptyLog) {
  EXPECT_EQ(sentence(""),
            "test.swf: no job can be read from it because it has no rows. Is it a job log in SWF, in JSON lines, or "
            "written by sacct -P?");
  EXPECT_EQ(sentence(kHeader),
            "test.swf: no job can be read from it because it has no rows. Is it a job log in SWF, in JSON lines, or "
            "written by sacct -P?");
  EXPECT_EQ(sentence("x\n", {.skip_bad_rows = true}),
            "test.swf: no job can be read from it; all its rows were dropped (rows that cannot be "
            "read: 1, first in line 1). Is it a job log in SWF, in JSON lines, "
            "or written by "
            "sacct -P?");
}

TEST(ReadSwf, NoticesALogThatIsCutOff) {
  const std::string row = "1 0 -1 60 4 -1 -1 4 30 -1 1" + kTail;
  EXPECT_EQ(
      sentence(row + "2 0 -1 60 4 -1"),
      "test.swf:2: the last row has 6 fields and no end of line: the log is cut off. Mend the row, or drop such rows "
      "with --skip-bad-rows.");
  EXPECT_EQ(sentence(row + "2 0 -1"),
            "test.swf:2: the row has 3 of the 18 fields, too few for a job. Mend the row, or drop such rows with "
            "--skip-bad-rows.");
  std::string whole = row + row;
  whole[row.size()] = '2';
  whole.pop_back();
  EXPECT_EQ(parsed(whole).jobs.size(), 2U) << "only the last newline is missing";
  EXPECT_EQ(parsed(row + "2 0 -1 60 4 -1", {.skip_bad_rows = true}).jobs.size(), 1U);
}

TEST(ReadSwf, ReadsShortAndLongRowsAndCountsThem) {
  const Workload w = parsed("1 0 -1 1 1\n2 0 -1 1 1\n3 0 0 9 64 1 1 64 60 1 1 1 1 1 -1 1 1 1 {12,12} q_2h 4:ppn=16\n");
  EXPECT_EQ(w.jobs[2].nodes, 4U);
  EXPECT_EQ(found(w, "rows with fewer than 18 fields: the missing ones taken as unknown", 1), 2);
  EXPECT_EQ(found(w, "rows with more than 18 fields: the others ignored", 3), 1);
}

TEST(ReadSwf, RefusesBinaryAndForeignText) {
  EXPECT_NE(sentence(std::string("\x7f"
                                 "ELF\x02\x01\0\0\0",
                                 9))
                .find("test.swf:1: field 1 (job number)"),
            std::string::npos);
  EXPECT_NE(sentence("; Klus\xe1\xe8"
                     "ek\n1 0 -1 1 1\n")
                .find("test.swf:1: the comment \"; Klus\\xe1\\xe8ek\" is not UTF-8"),
            std::string::npos);
  const Workload w = parsed(
      "; Klus\xe1\xe8"
      "ek\n1 0 -1 1 1\n",
      {.skip_bad_rows = true});
  EXPECT_EQ(found(w, "comments that are not UTF-8: ignored", 1), 1);
}

TEST(ReadSwf, IgnoresHeaderValuesThatAreNoNumbersOrCannotBe) {
  const Workload w = parsed(
      "; MaxProcs: many\n; MaxNodes: -4\n; MaxProcs: 99999999999999999999\n; MaxProcs: 99999999999\n"
      "; UnixStartTime: 100000000001\n;;;\n;\n1 0 -1 1 1\n");
  EXPECT_EQ(w.processors, 0);
  EXPECT_EQ(w.nodes, 0);
  EXPECT_EQ(w.unix_start, 0);
  EXPECT_EQ(found(w, "header values that are not numbers: ignored", 1), 1);
  EXPECT_EQ(found(w, "header values that cannot be: ignored", 2), 4);
}

TEST(ReadSwf, ReadsFilesOfDosAndFilesWithTabs) {
  const Workload w = parsed("; MaxProcs: 64\r\n\r\n1\t0\t-1\t60\t4\r\n2 1 -1 60 4\r\n");
  EXPECT_EQ(w.jobs.size(), 2U);
  EXPECT_EQ(w.processors, 64);
}

TEST(ReadSwf, ReportsProgressUpToTheEnd) {
  double last = 0;
  SwfOptions options;
  options.progress = [&last](double share) { last = std::max(last, share); };
  parsed(kHeader + "1 0 -1 1 1\n", options);
  EXPECT_EQ(last, 1.0);
}

TEST(WriteSwf, IsReadBackAsTheSameJobs) {
  Workload w =
      parsed(fmt::format("{}; Partition: 2 batch\n; User: 3 anna\n7 100.25 5 60.001 8 55 1024 16 3600 2048 1 3 4 5 6 2 "
                         "-1 -1\n9 101 -1 1 1\n",
                         kHeader));
  std::ostringstream out;
  write_swf(out, w);
  const Workload again = parsed(out.str());
  ASSERT_EQ(again.jobs.size(), w.jobs.size());
  for (std::size_t i = 0; i < w.jobs.size(); ++i) {
    EXPECT_EQ(again.jobs[i].number, w.jobs[i].number);
    EXPECT_EQ(again.jobs[i].submit, w.jobs[i].submit);
    EXPECT_EQ(again.jobs[i].limit, w.jobs[i].limit);
    EXPECT_EQ(again.jobs[i].processors, w.jobs[i].processors);
    EXPECT_EQ(again.jobs[i].user, w.jobs[i].user);
    EXPECT_EQ(again.jobs[i].group, w.jobs[i].group);
    EXPECT_EQ(again.jobs[i].partition, w.jobs[i].partition);
    EXPECT_EQ(again.run_times[i], w.run_times[i]);
  }
  EXPECT_EQ(again.partitions, w.partitions);
  EXPECT_EQ(again.users, w.users);
  EXPECT_EQ(again.processors, w.processors);
  EXPECT_EQ(again.unix_start, w.unix_start);
}

// A log with everything in it that readers must agree on, whichever way it comes to them.
std::string mixed_log(int rows) {
  std::string log = kHeader;
  for (int i = 0; i < rows; ++i) {
    if (i % 97 == 0) log += fmt::format("; remark {}\n\n", i);
    log += fmt::format("{} {}{} -1 {} 4", i * 3, i * 7, i % 13 == 0 ? ".5" : "", i % 50);
    log += i % 31 == 0 ? "\n" : fmt::format(" -1 -1 4 60 -1 {} 1 1 -1 -1 1 -1 -1\n", i % 6);
  }
  return log;
}

TEST(SwfReader, GivesTheSameRowsWhateverTheBlocks) {
  const std::string log = mixed_log(40'000);
  std::string packed;
  for (std::size_t at = 0; at < log.size(); at += 777'777) packed += gzip(std::string_view(log).substr(at, 777'777));
  const std::string path = std::filesystem::temp_directory_path() / "rota-swf-blocks.gz";
  FILE* const file = std::fopen(path.c_str(), "w");
  std::fwrite(packed.data(), 1, packed.size(), file);
  std::fclose(file);
  const Workload batch = parsed(log), streamed = read_swf(path).value();
  std::filesystem::remove(path);
  ASSERT_EQ(batch.jobs.size(), streamed.jobs.size());
  for (std::size_t i = 0; i < batch.jobs.size(); ++i) {
    ASSERT_EQ(batch.jobs[i].number, streamed.jobs[i].number);
    ASSERT_EQ(batch.jobs[i].submit, streamed.jobs[i].submit);
    ASSERT_EQ(batch.run_times[i], streamed.run_times[i]);
  }
  ASSERT_EQ(batch.report.findings.size(), streamed.report.findings.size());
  for (std::size_t i = 0; i < batch.report.findings.size(); ++i) {
    EXPECT_EQ(batch.report.findings[i].rows, streamed.report.findings[i].rows);
    EXPECT_EQ(batch.report.findings[i].first_line, streamed.report.findings[i].first_line);
  }
}

TEST(SwfReader, GivesRowsAndCommentsOneByOne) {
  ImportReport report;
  SwfReader reader(LineBlocks::over("; one\n5 0 -1 1 1\n; two\n6 0 -1 1 1", "test.swf"), false, report);
  std::string comments;
  reader.on_comment = [&comments](std::string_view line) { comments += line; };
  SwfRow row;
  ASSERT_TRUE(reader.next(row).value());
  EXPECT_EQ(row[SwfField::number], 5);
  EXPECT_EQ(row.line, 2);
  EXPECT_EQ(comments, "; one");
  ASSERT_TRUE(reader.next(row).value());
  EXPECT_EQ(row.line, 4);
  EXPECT_FALSE(reader.next(row).value());
  EXPECT_FALSE(reader.next(row).value()) << "the end stays the end";
  EXPECT_EQ(report.rows, 2);
}

RC_GTEST_PROP(ReadSwf, NeverCrashesOnAnyBytes, (const std::string& text)) {
  const auto strict = parse_swf(text, "test.swf");
  const auto lenient = parse_swf(text, "test.swf", {.skip_bad_rows = true});
  RC_ASSERT(!strict.has_value() || lenient.has_value());
}

struct Trace {
  const char* name;
  std::size_t jobs;
  std::int64_t processors;
  bool bad_rows;
};

class RealLogs : public testing::TestWithParam<Trace> {};

TEST_P(RealLogs, AreReadToTheLastJob) {
  const char* const shared = std::getenv("ROTA_SHARED");
  const std::string folder =
      (shared != nullptr ? std::string(shared) : std::string(ROTA_SOURCE_DIR) + "/../shared") + "/traces/";
  const std::string path = fmt::format("{}{}.swf.gz", folder, GetParam().name);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const auto workload = read_swf(path, {.skip_bad_rows = GetParam().bad_rows});
  ASSERT_TRUE(workload) << workload.error().message;
  EXPECT_EQ(workload->jobs.size(), GetParam().jobs);
  EXPECT_EQ(workload->run_times.size(), GetParam().jobs);
  EXPECT_EQ(workload->processors, GetParam().processors);
  EXPECT_EQ(workload->report.kept, static_cast<std::int64_t>(GetParam().jobs));
}

INSTANTIATE_TEST_SUITE_P(
    Traces, RealLogs,
    testing::Values(Trace{"KTH-SP2-rebuilt", 28'481, 100, false}, Trace{"SDSC-SP2-rebuilt", 54'006, 128, false},
                    Trace{"SDSC-SP2-x2load-20k", 20'001, 128, false},
                    Trace{"CEA-Curie-80640-rebuilt", 295'540, 80'640, false},
                    Trace{"KTH-SP2-1996-2.1-cln", 28'489, 100, false}, Trace{"UniLu-Gaia-2014-1", 51'987, 2'004, false},
                    Trace{"LLNL-Atlas-2006-2.1-cln", 39'177, 9'216, false},
                    Trace{"ANL-Theta-2022", 23'911, 4'360, false}, Trace{"MetaCentrum-wagap-2013", 17'898, 0, true},
                    Trace{"lublin_256", 10'000, 0, false}),
    [](const auto& trace) {
      std::string name = trace.param.name;
      std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
      return name;
    });

TEST(Swf, KeepsWhatReallyHappenedWhereThatIsAsked) {
  const std::string text =
      "7 30 12.5 60 4 -1 -1 4 90 -1 1 -1 -1 -1 3 -1 -1 -1\n"
      "8 10 -1 60 4 -1 -1 4 90 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
      "9 20 0 60 4 -1 -1 4 90 -1 1 -1 -1 -1 2 -1 -1 -1\n";
  EXPECT_TRUE(parse_swf(text, "log")->recorded.empty());
  const auto workload = parse_swf(text, "log", {.keep_recorded = true});
  ASSERT_TRUE(workload);
  ASSERT_EQ(workload->recorded.size(), 3U);  // sorted like the jobs: 8, 9, 7
  EXPECT_FALSE(workload->recorded[0].start_is_known());
  EXPECT_EQ(workload->recorded[0].queue, UINT32_MAX);
  EXPECT_EQ(workload->recorded[1].wait, seconds(0));
  EXPECT_EQ(workload->recorded[2].wait, Duration{12'500});
  EXPECT_EQ(workload->recorded[2].queue, 3U);
}

TEST(Swf, TakesTheWaitOfAJobThatNeverStartedForNone) {
  const std::string text =
      "1 5 9000 0 4 -1 -1 4 90 -1 5 -1 -1 -1 -1 -1 -1 -1\n"
      "2 10 30 60 4 -1 -1 4 90 -1 5 -1 -1 -1 -1 -1 -1 -1\n";
  const auto workload = parse_swf(text, "log", {.keep_recorded = true, .keep_cancelled = true});
  ASSERT_TRUE(workload);
  EXPECT_FALSE(workload->recorded[0].start_is_known()) << "cancelled before it started";
  EXPECT_EQ(workload->recorded[1].wait, seconds(30)) << "cancelled while it ran";
}

TEST(Swf, KeepsHowJobsEnded) {
  const std::string text =
      "1 0 1 60 4 -1 -1 4 90 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
      "2 0 1 60 4 -1 -1 4 90 -1 0 -1 -1 -1 -1 -1 -1 -1\n"
      "3 0 1 90 4 -1 -1 4 90 -1 0 -1 -1 -1 -1 -1 -1 -1\n"
      "4 0 1 90 4 -1 -1 4 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n"
      "5 0 1 60 4 -1 -1 4 90 -1 5 -1 -1 -1 -1 -1 -1 -1\n"
      "6 0 1 60 4 -1 -1 4 90 -1 -1 -1 -1 -1 -1 -1 -1 -1\n";
  const auto workload = parse_swf(text, "log", {.keep_recorded = true});
  ASSERT_TRUE(workload);
  std::vector<JobState> states;
  for (const RecordedJob& job : workload->recorded) states.push_back(job.state);
  EXPECT_EQ(states, (std::vector{JobState::completed, JobState::failed, JobState::timed_out, JobState::failed,
                                 JobState::cancelled, JobState::completed}));
}

TEST(Swf, NumbersQueuesInTheOrderInWhichTheyComeAndTakesThoseBehindTheFirst255AsNone) {
  std::string text;
  auto row = [&text, job = 0](int queue) mutable {
    const std::string number = std::to_string(++job);
    text += fmt::format("{} {} -1 60 4 -1 -1 4 90 -1 1 -1 -1 -1 {} -1 -1 -1\n", number, number, queue);
  };
  for (const int queue : {7, 7, -1, 7, 3, 7}) row(queue);
  for (int queue = 1000; queue < 1254; ++queue) row(queue);  // the last finds no room any more
  row(1253);
  row(3);
  const auto workload = parse_swf(text, "log");
  ASSERT_TRUE(workload);
  const auto qos = [&](std::size_t job) { return workload->jobs[job].qos; };
  EXPECT_EQ(workload->qos[0], 7U);
  EXPECT_EQ(workload->qos[1], 3U);
  EXPECT_EQ(workload->qos.size(), 255U);
  for (const std::size_t of_seven : {0U, 1U, 3U, 5U}) EXPECT_EQ(qos(of_seven), QosId{0});
  EXPECT_FALSE(qos(2).valid());
  EXPECT_EQ(qos(4), QosId{1});
  EXPECT_EQ(qos(258), QosId{254});
  EXPECT_FALSE(qos(259).valid());
  EXPECT_FALSE(qos(260).valid());
  EXPECT_EQ(qos(261), QosId{1});
  ASSERT_EQ(workload->report.findings.size(), 1U);
  EXPECT_EQ(workload->report.findings[0].rows, 2);
}

TEST(ReadSwf, AJobWithoutALimitIsKnownByRowWhereNumbersAreDoubled) {
  // The later row of job 1 tells no limit and is dropped; that of job 2 is kept.
  const Workload w =
      parsed("3 0 -1 60 4 -1 -1 4 90\n1 5 -1 60 4 -1 -1 4 90\n1 7 -1 60 4 -1 -1 4 -1\n2 9 -1 60 4 -1 -1 4 -1\n",
             {.skip_bad_rows = true});
  EXPECT_EQ(w.jobs.size(), 3U);
  EXPECT_EQ(w.without_limit, std::vector<std::int64_t>{2});
}

}  // namespace
}  // namespace rota::log

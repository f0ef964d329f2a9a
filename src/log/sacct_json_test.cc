// sacct --json, and local times of a zone.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "log/json_sacct.h"
#include "log/log.h"
#include "log/sacct.h"
#include "log/time_zone.h"

namespace rota::log {
namespace {

constexpr const char* kNames =
    "JobIDRaw|JobID|Cluster|User|Account|Partition|QOS|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|"
    "AllocCPUS|"
    "ReqCPUS|NNodes|ReqNodes|ReqMem|ReqTRES|AllocTRES\n";

// A job as 22.05 prints it, and the same as 23.11 does, where numbers are objects and states lists.
const std::string kOld = R"({"account": "physics", "allocation_nodes": 2, "array": {"job_id": 0, "task_id": null},
 "cluster": "toy", "het": {"job_id": 0, "job_offset": null}, "job_id": 7, "name": "a|b \"c\"", "partition": "gpu",
 "qos": "normal", "required": {"CPUs": 4, "memory": 100}, "state": {"current": "COMPLETED", "reason": "None"},
 "steps": [{"state": "FAILED", "tres": {"requested": {"max": [{"type": "cpu", "name": null, "count": 99}]}}}],
 "time": {"elapsed": 600, "eligible": 1709287210, "start": 1709287260, "end": 1709287860, "submission": 1709287200,
          "limit": 60},
 "tres": {"allocated": [{"type": "cpu", "name": null, "id": 1, "count": 4},
                        {"type": "energy", "name": null, "id": 3, "count": null}],
          "requested": [{"type": "cpu", "name": null, "id": 1, "count": 4},
                        {"type": "mem", "name": null, "id": 2, "count": 8000},
                        {"type": "node", "name": null, "id": 4, "count": 2},
                        {"type": "gres", "name": "gpu:a100", "id": 1001, "count": 2},
                        {"type": "license", "name": "matlab", "id": 1002, "count": 3},
                        {"type": "license", "name": "fluent", "id": 1003, "count": 1}]},
 "user": "anna"})";
const std::string kNew = R"({"account": "physics", "allocation_nodes": 2, "cluster": "toy",
 "het": {"job_id": 0, "job_offset": {"set": false, "infinite": false, "number": 0}}, "job_id": 7, "partition": "gpu",
 "qos": "normal", "required": {"CPUs": 4}, "state": {"current": ["COMPLETED"], "reason": "None"}, "steps": [],
 "time": {"elapsed": 600, "eligible": 1709287210, "start": 1709287260, "end": 1709287860, "submission": 1709287200,
          "limit": {"set": true, "infinite": false, "number": 60}},
 "tres": {"allocated": [{"type": "cpu", "name": "", "id": 1, "count": 4}],
          "requested": [{"type": "cpu", "name": "", "id": 1, "count": 4}, {"type": "mem", "name": "", "id": 2, "count": 8000},
                        {"type": "node", "name": "", "id": 4, "count": 2},
                        {"type": "gres", "name": "gpu:a100", "id": 1001, "count": 2},
                        {"type": "license", "name": "matlab", "id": 1002, "count": 3},
                        {"type": "license", "name": "fluent", "id": 1003, "count": 1}]},
 "user": "anna"})";
const std::string kRow =
    "7|7|toy|anna|physics|gpu|normal|2024-03-01T10:00:00|2024-03-01T10:00:10|2024-03-01T10:01:00|2024-03-01T10:11:00|"
    "600|"
    "60|COMPLETED|4|4|2|2|8000M|cpu=4,mem=8000M,node=2,gres/gpu:a100=2,license/matlab=3,license/fluent=1|cpu=4\n";

std::string document(const std::string& jobs) {
  return fmt::format("{{\n  \"meta\": {{\"jobs\": 1}},\n  \"jobs\": [{}]\n}}\n", jobs);
}

Result<SacctLog> log_of(const std::string& text, const SwfOptions& options = {}) {
  return read_sacct_log(LineBlocks::over(text, "export"), options);
}

void expect_equal(const SacctLog& one, const SacctLog& other) {
  ASSERT_EQ(one.rows.size(), other.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_EQ(one.rows[i].value, other.rows[i].value);
    EXPECT_EQ(one.rows[i].nodes, other.rows[i].nodes);
    EXPECT_EQ(one.rows[i].node_memory, other.rows[i].node_memory);
  }
  EXPECT_EQ(one.users, other.users);
  EXPECT_EQ(one.partitions, other.partitions);
  EXPECT_EQ(one.unix_start, other.unix_start);
  ASSERT_TRUE(one.attributes && other.attributes);
  EXPECT_EQ(one.attributes->attributes_of(7), other.attributes->attributes_of(7));
}

TEST(SacctJson, TellsTheSameAsColumnsInEachRelease) {
  const auto columns = log_of(kNames + kRow), old = log_of(document(kOld)), fresh = log_of(document(kNew));
  ASSERT_TRUE(columns && old && fresh);
  expect_equal(*columns, *old);
  expect_equal(*columns, *fresh);
  EXPECT_EQ(old->attributes->attributes_of(7).accelerators, 1);
  EXPECT_EQ(named_licences_text(old->attributes->attributes_of(7).licences), "matlab:3,fluent");
}

TEST(SacctJson, AndColumnsAreOneLog) {
  const std::string text = document(kOld), columns = kNames + kRow;
  std::vector<LineBlocks> exports;
  exports.push_back(LineBlocks::over(text, "one.json"));
  exports.push_back(LineBlocks::over(columns, "two.txt"));
  const auto log = read_sacct_log(std::move(exports), {});
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->rows.size(), 1U);
  EXPECT_EQ(log->report.rows, 2);
  EXPECT_EQ(log->report.dropped(), 1);
  ASSERT_EQ(log->exports.size(), 2U);
  EXPECT_EQ(log->exports[1].rows, 1);
}

TEST(SacctJson, KnowsWhatIsNotKnown) {
  std::string job = kNew;
  job.replace(job.find("\"infinite\": false, \"number\": 60"), 31, "\"infinite\": true, \"number\": 0");
  const auto log = log_of(document(job));
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->rows[0][SwfField::requested_time], -1);
  std::string waits = kOld;
  waits.replace(waits.find("1709287260"), 10, "0");
  waits.replace(waits.find("1709287860"), 10, "0");
  const auto none = log_of(document(waits));
  EXPECT_FALSE(none);
}

std::string with(std::string text, const std::string& old, const std::string& fresh) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), fresh);
}

TEST(SacctJson, OfReleasesThatTellNoStartsHasThemFromTheOtherTimes) {
  const std::string right = with(kOld, R"("elapsed": 600)", R"("elapsed": 540, "suspended": 60)");
  const std::string wrong = with(right, R"("start": 1709287260)", R"("start": 1709287210)");
  for (const auto& [text, mended] : {std::pair{right, false}, {wrong, true}}) {
    const auto log = log_of(document(text));
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_EQ(log->rows[0][SwfField::wait], 50) << "from when it was eligible";
    EXPECT_EQ(log->rows[0][SwfField::run], 540);
    EXPECT_EQ(log->rows[0].suspended, seconds(60));
    EXPECT_EQ(
        std::ranges::any_of(log->report.findings,
                            [](const auto& one) { return one.what.find("22.05.0 to 22.05.7") != std::string::npos; }),
        mended);
  }
}

TEST(SacctJson, ListsAStateBeforeItsFlags) {
  const std::string first =
      with(kNew, R"("start": 1709287260, "end": 1709287860)", R"("start": 1709287260, "end": 1709287300)");
  const std::string again = with(kNew, R"("submission": 1709287200)", R"("submission": 1709287300)");
  for (const std::string flag : {"REQUEUED", "RESIZING"}) {
    const auto log_with = [&](const std::string& state) {
      return log_of(document(fmt::format("{},{}", with(first, R"(["COMPLETED"])", state), again)));
    };
    const auto old = log_with(fmt::format("\"{}\"", flag)),
               fresh = log_with(fmt::format("[\"PENDING\", \"{}\"]", flag));
    ASSERT_TRUE(old && fresh);
    expect_equal(*old, *fresh);
    EXPECT_EQ(old->report.dropped(), 1);
  }
  const auto ended = log_of(document(with(kNew, R"(["COMPLETED"])", R"(["COMPLETED", "COMPLETING"])")));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->rows[0][SwfField::status], 1) << "a flag says no more than a state that is no base for it";
}

TEST(SacctJson, TellsOnWhichNodesAJobRan) {
  const auto log = log_of(document(with(kOld, R"("name": )", R"("nodes": "n[1-3,7]", "name": )")));
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_TRUE(log->node_lists);
  EXPECT_EQ(log->node_lists->text(log->rows[0].ran_on), "n[1-3,7]");
  EXPECT_FALSE(log_of(document(with(kOld, R"("name": )", R"("nodes": "None assigned", "name": )")))->node_lists);
}

TEST(SacctJson, TellsTheCommandLineOfAJob) {
  const auto log = log_of(document(with(kOld, R"("array": {"job_id": 0, "task_id": null})",
                                        R"("submit_line": "sbatch -a1-9%4 x", "array": {"job_id": 6, "task_id": 5})")));
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->rows[0].throttle, 4U);
}

TEST(SacctJson, TellsHowManyTasksOfAnArrayRunAtOnce) {
  const std::string old = R"("array": {"job_id": 0, "task_id": null})";
  const std::string limits = R"("limits": {"max": {"running": {"tasks": 4}}})";
  for (const std::string task : {R"(5)", R"({"set": true, "infinite": false, "number": 5})"}) {
    const auto log =
        log_of(document(with(kOld, old, R"("array": {"job_id": 6, "task_id": )" + task + ", " + limits + "}")));
    ASSERT_TRUE(log) << log.error().message;
    EXPECT_EQ(log->rows[0][SwfField::number], 7);
    EXPECT_EQ(log->rows[0].array, 6);
    EXPECT_EQ(log->rows[0].throttle, 4U);
  }
  const auto none =
      log_of(document(with(kOld, old, R"("array": {"job_id": 0, "task_id": {"set": false}, )" + limits + "}")));
  EXPECT_EQ(none->rows[0].throttle, 0U);
}

TEST(SacctJson, ThatIsCutOffIsToldWithItsLine) {
  const auto log = log_of(document(kOld).substr(0, 500));
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().message, "export:7: the JSON ends too early (is the file cut off?).");
  std::string early = kOld;
  early.replace(early.find("1709287200"), 10, "null");
  const auto bad = log_of(document(early));
  ASSERT_FALSE(bad);
  EXPECT_NE(bad.error().message.find("Submit"), std::string::npos) << bad.error().message;
  const auto skipped = log_of(document(fmt::format("{},{}", kOld, early)), {.skip_bad_rows = true});
  ASSERT_TRUE(skipped);
  EXPECT_EQ(skipped->report.dropped(), 1);
}

TEST(SacctJson, OfWhichSacctSaysThatItFailedIsRefusedWithWhatItSays) {
  const std::string failed = R"({"jobs": [)" + kOld + "],\n" +
                             R"("errors": [{"description": "Query failed", "error_number": 5, "error": "x"}]})";
  const auto log = log_of(failed);
  ASSERT_FALSE(log);
  EXPECT_TRUE(log.error().message.find("sacct says in `errors` that it failed, \"Query failed\"") != std::string::npos)
      << log.error().message;
  const auto taken = log_of(failed, {.skip_bad_rows = true});
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(taken->rows.size(), 1U);
  ASSERT_FALSE(taken->report.findings.empty());
  EXPECT_TRUE(log_of(R"({"errors": [], "jobs": [)" + kOld + "]}"));
  EXPECT_TRUE(log_of(R"({"errors": null, "jobs": [)" + kOld + "]}"));
}

TEST(SacctJson, MayBeAsLongAsItLikesAndNotAsDeep) {
  std::string deep = "{\"jobs\": [";
  for (int i = 0; i < 100; ++i) deep += "[\n";
  const auto log = log_of(deep);
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().message.find("more than 64 lists and objects stand inside each other"), std::string::npos)
      << log.error().message;
}

TEST(SacctJson, IsToldFromJsonLines) {
  EXPECT_TRUE(looks_like_json_sacct("\n { \"meta\": {"));
  EXPECT_FALSE(looks_like_json_sacct("{\"number\": 1, \"meta\": 2}"));
  EXPECT_FALSE(looks_like_json_sacct("[{\"meta\": 2}]"));
}

TEST(LocalTimes, MeanWhatTheirZoneSays) {
  const auto berlin = TimeZone::find("Europe/Berlin");
  ASSERT_TRUE(berlin) << berlin.error().message;
  const std::int64_t night = 1711850400;  // 2024-03-31 02:00 on any clock
  EXPECT_EQ(berlin->meaning_of(night - 1).first, night - 3601);
  EXPECT_TRUE(berlin->meaning_of(night + 1800).never);
  EXPECT_EQ(berlin->meaning_of(night + 3600).first, night - 3600);
  const std::int64_t back = 1729994400;  // 2024-10-27 02:00
  EXPECT_TRUE(berlin->meaning_of(back + 1).twice());
  EXPECT_EQ(berlin->meaning_of(back + 1).second - berlin->meaning_of(back + 1).first, 3600);
  EXPECT_FALSE(berlin->meaning_of(back - 1).twice());
  const auto wrong = TimeZone::find("Europe/Berlim");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message, "There is no time zone \"Europe/Berlim\"; did you mean \"Europe/Berlin\"?");
}

SacctLog in_berlin(const std::string& rows) {
  const auto zone = TimeZone::find("Europe/Berlin");
  auto log = log_of("JobIDRaw|Submit|Eligible|Start|End|ElapsedRaw|State|AllocCPUS\n" + rows,
                    {.zone = std::make_shared<const TimeZone>(*zone)});
  EXPECT_TRUE(log) << log.error().message;
  return std::move(*log);
}

std::int64_t found(const SacctLog& log, std::string_view what) {
  for (const auto& finding : log.report.findings)
    if (finding.what.starts_with(what)) return finding.rows;
  return 0;
}

TEST(LocalTimes, LeaveWaitsRightAcrossAChangeOfTheClock) {
  const auto spring =
      in_berlin("1|2024-03-31T01:30:00|2024-03-31T01:30:00|2024-03-31T03:30:00|2024-03-31T04:00:00|1800|COMPLETED|1\n");
  EXPECT_EQ(spring.rows[0][SwfField::wait], 3600);
  EXPECT_EQ(spring.unix_start, 1711845000);
  const auto autumn =
      in_berlin("1|2024-10-27T01:30:00|2024-10-27T01:30:00|2024-10-27T03:30:00|2024-10-27T04:00:00|1800|COMPLETED|1\n");
  EXPECT_EQ(autumn.rows[0][SwfField::wait], 3 * 3600);
  EXPECT_EQ(found(autumn, "times in the hour that comes twice"), 0);
}

TEST(LocalTimes, OfTheHourThatComesTwiceAreTakenAsElapsedSays) {
  // From 02:50 in the first of the two hours to 02:10 in the second; then an hour and ten minutes, likewise.
  const auto log = in_berlin(
      "1|2024-10-27T02:40:00|2024-10-27T02:40:00|2024-10-27T02:50:00|2024-10-27T02:10:00|1200|COMPLETED|1\n"
      "2|2024-10-27T01:00:00|2024-10-27T01:00:00|2024-10-27T02:05:00|2024-10-27T02:15:00|4200|COMPLETED|1\n");
  EXPECT_EQ(found(log, "times in the hour that comes twice"), 2);
  EXPECT_EQ(found(log, "End - Start is not Elapsed"), 0);
  EXPECT_EQ(log.rows[1][SwfField::wait], 600);
  EXPECT_EQ(log.rows[0][SwfField::wait], 3900);
  // Submitted before the clock was put back, and begun after that: nothing else is in order.
  const auto over =
      in_berlin("1|2024-10-27T02:59:00|2024-10-27T02:59:00|2024-10-27T02:01:00|2024-10-27T02:02:00|60|COMPLETED|1\n");
  EXPECT_EQ(over.rows[0][SwfField::wait], 120);
}

TEST(LocalTimes, ThatTheZoneDoesNotHaveAreTold) {
  const auto log =
      in_berlin("1|2024-03-31T02:30:00|2024-03-31T02:30:00|2024-03-31T03:30:00|2024-03-31T04:00:00|1800|COMPLETED|1\n");
  EXPECT_EQ(found(log, "times in the hour that is left out"), 1);
}

}  // namespace
}  // namespace rota::log

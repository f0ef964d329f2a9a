#include "cli/live/queue_format.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cli/describe.h"
#include "cli/live/job_state.h"

namespace rota::cli {
namespace {

Json job(const char* text) { return Json::parse(text); }

std::string shown(const char* format, const char* text) {
  const auto fields = parse_queue_format(format);
  return fields ? queue_row(*fields, job(text)) : fields.error().message;
}

TEST(QueueFormatTest, PlacesAndCuts) {
  EXPECT_EQ(shown("%5i|%.5i|%2i|", R"({"id":"123"})"), "123  |  123|12|");
  EXPECT_EQ(shown("a%%b", "{}"), "a%b");
  EXPECT_EQ(shown("", "{}"), "");
  EXPECT_EQ(shown("%.4j", R"({"name":"äöüß!"})"), "äöüß");
}

TEST(QueueFormatTest, HasEveryLetterOfSqueue) {
  for (const char letter : std::string("aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpPqQrRsStTuUvVwWxXyYzZ"))
    EXPECT_TRUE(parse_queue_format(std::string("%") + letter)) << letter;
  EXPECT_FALSE(parse_queue_format("%_"));
  EXPECT_FALSE(parse_queue_format("%"));
  EXPECT_FALSE(parse_queue_format("%99999i"));
}

TEST(QueueFormatTest, SaysWhereAJobRunsOrWhyItWaits) {
  EXPECT_EQ(shown("%R", R"({"state":"RUNNING","node_list":"n[1-2]"})"), "n[1-2]");
  EXPECT_EQ(shown("%R", R"({"state":"PENDING","reason":"Priority"})"), "(Priority)");
}

TEST(QueueFormatTest, SortsByNumbersAsNumbers) {
  Json jobs = Json::parse(R"([{"id":"10","nodes":2},{"id":"9","nodes":2},{"id":"2","nodes":10}])");
  ASSERT_TRUE(sort_jobs(jobs, "-D,i"));
  EXPECT_EQ(text_of(jobs[0], "id") + text_of(jobs[1], "id") + text_of(jobs[2], "id"), "2910");
}

TEST(QueueFormatTest, AJobWithoutAStartStandsLastEitherWay) {
  const Json jobs = Json::parse(R"([
    {"id":"1","state":"PENDING"},
    {"id":"2","state":"PENDING","starts_by":90},
    {"id":"3","state":"PENDING","expected_start":80}])");
  for (const auto& [order, wanted] : {std::pair{"S", "321"}, std::pair{"-S", "231"}, std::pair{"-e", "123"}}) {
    Json sorted = jobs;
    ASSERT_TRUE(sort_jobs(sorted, order));
    EXPECT_EQ(text_of(sorted[0], "id") + text_of(sorted[1], "id") + text_of(sorted[2], "id"), wanted) << order;
  }
}

TEST(QueueFormatTest, ARowOfTasksHasTheEarliestOfTheirStarts) {
  const Json jobs = Json::parse(R"([
    {"id":"7_3","array":"7","index":3,"state":"PENDING","reason":"JobArrayTaskLimit"},
    {"id":"7_1","array":"7","index":1,"state":"PENDING","reason":"Resources","starts_by":90},
    {"id":"7_2","array":"7","index":2,"state":"PENDING","reason":"Priority","expected_start":80}])");
  const Json folded = folded_arrays(jobs);
  ASSERT_EQ(folded.size(), 1U);
  EXPECT_EQ(number_of(folded[0], "expected_start"), 80);
  EXPECT_FALSE(has_number(folded[0], "starts_by"));
}

TEST(QueueFormatTest, FoldsWhatWaitsOfAnArray) {
  EXPECT_EQ(ranges_text({1, 2, 3, 5, 7, 8}), "1-3,5,7-8");
  const Json jobs = Json::parse(R"([
    {"id":"7_1","array":"7","index":1,"state":"RUNNING","throttle":2},
    {"id":"7_4","array":"7","index":4,"state":"PENDING","reason":"Resources","throttle":2},
    {"id":"8","state":"PENDING","reason":"Priority"},
    {"id":"7_3","array":"7","index":3,"state":"PENDING","reason":"JobArrayTaskLimit","throttle":2},
    {"id":"7_5","array":"7","index":5,"state":"PENDING","reason":"JobHeldUser","throttle":2},
    {"id":"9_1","array":"9","index":1,"state":"PENDING","reason":"Priority"},
    {"id":"9_2","array":"9","index":2,"state":"PENDING","reason":"Priority"}])");
  const Json folded = folded_arrays(jobs);
  std::string ids;
  for (const Json& row : folded) ids += text_of(row, "id") + " ";
  EXPECT_EQ(ids, "7_1 7_[3-4%2] 8 7_5 9_[1-2] ") << "one line for what waits, at the place of the first of them";
}

TEST(QueueFormatTest, FoldsOnlyTasksThatAskForTheSame) {
  for (const char* changed :
       {R"("name":"other")", R"("processors":2)", R"("nodes":1)", R"("memory":5)", R"("limit":9.5)", R"("priority":-1)",
        R"("partition":"night")", R"("licences":2)", R"("reason":"BeginTime","begin":1.5)"}) {
    Json jobs = Json::parse(R"([{"id":"7_1","array":"7","index":1,"state":"PENDING","reason":"BeginTime"},{},{}])");
    jobs[1] = jobs[2] = jobs[0];
    jobs[1].update(Json::parse(std::string("{") + changed + R"(,"id":"7_2","index":2})"));
    jobs[2].update({{"id", "7_3"}, {"index", 3}});
    const Json folded = folded_arrays(jobs);
    ASSERT_EQ(folded.size(), 2U) << changed;
    EXPECT_EQ(fmt::format("{} {}", text_of(folded[0], "id"), text_of(folded[1], "id")), "7_[1,3] 7_2");
  }
}

TEST(JobStateTest, GivesTheExitCodeOfAJob) {
  EXPECT_EQ(exit_code_of(job(R"({"state":"COMPLETED","exit_code":0})")), 0);
  EXPECT_EQ(exit_code_of(job(R"({"state":"FAILED","exit_code":3})")), 3);
  EXPECT_EQ(exit_code_of(job(R"({"state":"CANCELLED","signal":15})")), 143);
  EXPECT_EQ(exit_code_of(job(R"({"state":"NODE_FAIL"})")), 1);
  EXPECT_EQ(exit_code_of(job(R"({"state":"FAILED","exit_code":1e9})")), 255);
}

TEST(JobStateTest, KnowsStatesByNameAndLetters) {
  EXPECT_EQ(state_named("pd"), "PENDING");
  EXPECT_EQ(state_named("Running"), "RUNNING");
  EXPECT_EQ(state_named("odd"), "");
  EXPECT_EQ(state_letters("OUT_OF_MEMORY"), "OOM");
}

}  // namespace
}  // namespace rota::cli

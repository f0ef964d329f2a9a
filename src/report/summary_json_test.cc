#include "report/summary_json.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/sample_test.h"

namespace rota::report {
namespace {

nlohmann::json parsed(const std::vector<Summary>& summaries) { return nlohmann::json::parse(to_json(summaries)); }

TEST(SummaryJson, TellsWhatTheSummaryHolds) {
  const Summary s = summarize(rehearsed(sample_jobs(300, 64, 2), 64, true));
  const auto json = parsed({s, s});
  EXPECT_EQ(json["format"], "rota-summary-1");
  ASSERT_EQ(json["rehearsals"].size(), 2U);
  const auto& one = json["rehearsals"][0];
  EXPECT_EQ(one["policy"], "easy");
  EXPECT_EQ(one["jobs"], 300);
  EXPECT_EQ(one["wait_mean_s"], *s.wait_mean) << "every digit";
  EXPECT_EQ(one["utilization"], *s.utilization);
  EXPECT_EQ(one["plan_hash"], "0000000000000000");
}

TEST(SummaryJson, HasNullWhereThereIsNothing) {
  const auto json = parsed({Summary{}});
  EXPECT_TRUE(json["rehearsals"][0]["wait_mean_s"].is_null());
  EXPECT_TRUE(json["rehearsals"][0]["backfill_completion"].is_null());
}

TEST(SummaryJson, HasASummaryOfEachSite) {
  Summary s;
  EXPECT_FALSE(parsed({s})["rehearsals"][0].contains("sites"));
  s.sites.resize(2);
  s.sites[1].site = "ameland";
  s.sites[1].exchanged.bytes_out = 4096;
  s.exchanged.jobs_in = 3;
  const auto one = parsed({s})["rehearsals"][0];
  EXPECT_EQ(one["moved_jobs"], 3);
  EXPECT_EQ(one["sites"][1]["site"], "ameland");
  EXPECT_EQ(one["sites"][1]["bytes_out"], 4096);
}

TEST(SummaryJson, ChoosesNothingThatCannotBeTrusted) {
  Summary own = summarize(rehearsed(sample_jobs(300, 64, 2), 64, false));
  const Summary easy = summarize(rehearsed(sample_jobs(300, 64, 2), 64, true));
  own.left_out = {"reservations"};
  auto told = parsed({own, easy})["verdicts"][0];
  EXPECT_TRUE(told["trusted"].is_null()) << "nothing was recorded";
  EXPECT_EQ(told["chosen"], nlohmann::json({"easy"}));
  EXPECT_EQ(told["left_out"], nlohmann::json({"reservations"}));
  own.own = true;
  own.trust = Trust{100, 100, 100, 0.95};
  EXPECT_EQ(parsed({own, easy})["verdicts"][0]["trusted"], true);
  EXPECT_EQ(parsed({own, easy})["verdicts"][0]["figures_trusted"], true);
  own.trust->recorded = 107;
  EXPECT_EQ(parsed({own, easy})["verdicts"][0]["trusted"], true);
  EXPECT_EQ(parsed({own, easy})["verdicts"][0]["figures_trusted"], false);
  own.trust->recorded = 1000;
  told = parsed({own, easy})["verdicts"][0];
  EXPECT_EQ(told["trusted"], false);
  EXPECT_TRUE(told["chosen"].empty());
  EXPECT_TRUE(told["text"].get<std::string>().starts_with("This rehearsal cannot be trusted"));
}

TEST(SummaryJson, StaysJsonWhateverTheNamesHold) {
  Summary s;
  s.policy = "\xff\"\n";
  EXPECT_NO_THROW(parsed({s}));
}

TEST(SummaryJson, HasEveryFieldDescribedInTheManual) {
  std::ifstream file(ROTA_SOURCE_DIR "/docs/report.md");
  std::ostringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty());
  const auto json = parsed({Summary{}});
  for (const auto& [field, value] : json["rehearsals"][0].items())
    EXPECT_NE(text.str().find(fmt::format("| `{}` |", field)), std::string::npos)
        << field << " is missing in docs/report.md";
}

}  // namespace
}  // namespace rota::report

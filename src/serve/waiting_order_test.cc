#include "serve/waiting_order.h"

#include <gtest/gtest.h>

namespace rota::serve {
namespace {

TEST(WaitingRule, IsAnOrderOfAPolicyWithMoreKnobsBehindIt) {
  const auto rule = waiting_rule("fair+fair-half-life=1d");
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->chain.knobs().order, Order::fair);
  EXPECT_EQ(rule->chain.knobs().fair_half_life, seconds(86'400));
  EXPECT_EQ(rule->patience, WaitingRule::kForever);
  EXPECT_FALSE(rule->by_licences);
}

TEST(WaitingRule, HasPatienceBehindAnyOrderAndLicencesInPlaceOfOne) {
  EXPECT_EQ(waiting_rule("sjf+patience=4h")->patience, seconds(4 * 3600));
  const auto rule = waiting_rule("licences+order=sjf+patience=1d");
  ASSERT_TRUE(rule);
  EXPECT_TRUE(rule->by_licences);
  EXPECT_EQ(rule->chain.knobs().order, Order::sjf);
  EXPECT_EQ(waiting_rule("licences")->chain.knobs().order, Order::fcfs);
}

TEST(WaitingRule, SaysWhatIsNone) {
  const auto said = [](const std::string& text) {
    const auto rule = waiting_rule(text);
    return rule ? "" : rule.error().message;
  };
  EXPECT_TRUE(said("sjff").starts_with("\"sjff\" is no order of waiting jobs: "));
  EXPECT_TRUE(said("sjf+patience=soon").starts_with("\"sjf+patience=soon\": patience "));
  EXPECT_NE(said("patience=4h"), "");
  EXPECT_NE(said(""), "");
}

}  // namespace
}  // namespace rota::serve

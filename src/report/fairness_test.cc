#include "report/fairness.h"

#include <gtest/gtest.h>

namespace rota::report {
namespace {

TEST(Fairness, IsJainsIndexOfMeanSlowdowns) {
  FairnessTally tally;
  tally.add(1, 1);
  tally.add(1, 3);          // user 1: 2 on average
  tally.add(4'000'000, 6);  // a large number
  const Fairness fairness = tally.conclude();
  EXPECT_EQ(fairness.parties, 2);
  EXPECT_DOUBLE_EQ(fairness.index.value_or(0), 64.0 / (2 * 40));
  EXPECT_DOUBLE_EQ(fairness.worst.value_or(0), 6);
}

TEST(Fairness, IsOneWhereAllAreServedAlikeAndOneOfThemWhereOneBearsItAll) {
  FairnessTally alike;
  for (std::uint32_t user = 0; user < 5; ++user) alike.add(user, 7);
  EXPECT_DOUBLE_EQ(alike.conclude().index.value_or(0), 1);
  FairnessTally uneven;
  uneven.add(0, 1e12);
  for (std::uint32_t user = 1; user < 4; ++user) uneven.add(user, 1);
  EXPECT_NEAR(uneven.conclude().index.value_or(0), 0.25, 1e-9);
}

TEST(Fairness, TakesTwoPartiesAndAnUnknownUserIsNone) {
  FairnessTally tally;
  tally.add(3, 5);
  tally.add(UINT32_MAX, 9);
  EXPECT_EQ(tally.conclude().parties, 1);
  EXPECT_FALSE(tally.conclude().index);
}

}  // namespace
}  // namespace rota::report

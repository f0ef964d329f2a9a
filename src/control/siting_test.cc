// The rules that auctions are compared with.
#include "control/siting.h"

#include <gtest/gtest.h>

#include <set>

namespace rota {
namespace {

const std::vector<SiteId> kAll{SiteId{0}, SiteId{1}, SiteId{2}};
const std::vector<SiteId> kLast{SiteId{2}};

SiteLoad none(SiteId) { return {10, 0}; }

TEST(SiteChoice, RoundRobinTakesTurnsAndPassesOverSitesThatCannot) {
  SiteChoice choice(Placing::round_robin, 3, 0);
  EXPECT_EQ(choice.choose(kAll, none), SiteId{0});
  EXPECT_EQ(choice.choose(kLast, none), SiteId{2});
  EXPECT_EQ(choice.choose(kAll, none), SiteId{0});
  EXPECT_EQ(choice.choose(kAll, none), SiteId{1});
}

TEST(SiteChoice, RandomIsTheSameForTheSameSeedAndComesToAll) {
  SiteChoice one(Placing::random, 3, 5);
  SiteChoice two(Placing::random, 3, 5);
  std::set<SiteId> seen;
  for (int i = 0; i < 100; ++i) {
    const SiteId site = one.choose(kAll, none);
    EXPECT_EQ(site, two.choose(kAll, none));
    seen.insert(site);
  }
  EXPECT_EQ(seen.size(), 3U);
  EXPECT_EQ(one.choose(kLast, none), SiteId{2});
}

TEST(SiteChoice, LeastLoadedIsForItsSizeAndTiesGoToTheLowerSite) {
  SiteChoice choice(Placing::least_loaded, 3, 0);
  const auto by_size = [](SiteId site) { return SiteLoad{site == SiteId{1} ? 100 : 10, site == SiteId{1} ? 50 : 6}; };
  EXPECT_EQ(choice.choose(kAll, by_size), SiteId{1}) << "half of it is asked for, of the others more";
  EXPECT_EQ(choice.choose(kAll, none), SiteId{0});
}

}  // namespace
}  // namespace rota

// The auction's two state machines: what they say to each message, and the laws that hold whatever is said.
#include "policy/auction/auction.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/world_test.h"

namespace rota {
namespace {

constexpr SiteId kA{0}, kB{1}, kC{2};

Bid offer(SiteId site, Price price, std::int64_t start = 0) { return {site, price, seconds(start)}; }

Auctioneer auctioneer(Close close = Close::on_time, Duration patience = seconds(10)) {
  return {{seconds(100), close, patience}, {seconds(0), seconds(30), seconds(60)}, at_seconds(5)};
}

TEST(Auctioneer, GivesTheJobToTheHighestBidThatStandsAtTheEnd) {
  Auctioneer auction = auctioneer();
  EXPECT_EQ(auction.closes(at_seconds(5)), at_seconds(105));
  auction.hears(offer(kA, 7));
  auction.hears(offer(kB, 8));
  auction.hears(offer(kB, 3));  // lowered
  EXPECT_EQ(auction.bidders(), 2U);
  EXPECT_FALSE(auction.settled());
  EXPECT_EQ(auction.close(at_seconds(105))->site, kA);
  EXPECT_TRUE(auction.over());
}

TEST(Auctioneer, GivesATieToTheLowerSite) {
  Auctioneer auction = auctioneer();
  auction.hears(offer(kC, 7));
  auction.hears(offer(kB, 7));
  EXPECT_EQ(auction.close(at_seconds(105))->site, kB);
}

TEST(Auctioneer, BeginsAnotherRoundOfTheSameLengthWithoutABid) {
  Auctioneer auction = auctioneer();
  EXPECT_FALSE(auction.close(at_seconds(105)));
  EXPECT_FALSE(auction.over());
  EXPECT_EQ(auction.closes(at_seconds(5)), at_seconds(205));
  auction.hears(offer(kB, 1));
  EXPECT_EQ(auction.close(at_seconds(205))->site, kB);
}

TEST(Auctioneer, ForgetsTheBidOfASiteThatIsGone) {
  Auctioneer auction = auctioneer();
  auction.hears(offer(kA, 7));
  auction.hears(offer(kB, 5));
  auction.loses(kA);
  EXPECT_EQ(auction.close(at_seconds(105))->site, kB);
}

TEST(Auctioneer, LeavesAJobWhereItWaitsUntilABidIsAboveTheHoldersByTheMargin) {
  Auctioneer auction({seconds(100), Close::stopping, seconds(10), 5}, {seconds(0), seconds(30)}, at_seconds(5), kA);
  auction.hears(offer(kA, 7));
  auction.hears(offer(kB, 12));
  EXPECT_FALSE(auction.settled()) << "what is held is in no hurry";
  EXPECT_EQ(auction.closes(at_seconds(5)), kNever);
  auction.hears(offer(kB, 13));
  EXPECT_EQ(auction.closes(at_seconds(5)), at_seconds(105));
  EXPECT_EQ(auction.closes(at_seconds(250)), at_seconds(305)) << "rounds of the same length have gone by";
  EXPECT_EQ(auction.close(at_seconds(305))->site, kB);
}

TEST(Auctioneer, SellsAgainIfTheWinnerCouldNotHaveIt) {
  Auctioneer auction = auctioneer();
  auction.hears(offer(kA, 7));
  auction.hears(offer(kB, 5));
  EXPECT_EQ(auction.close(at_seconds(105))->site, kA);
  auction.reopen(at_seconds(105), kA);
  EXPECT_EQ(auction.closes(at_seconds(5)), at_seconds(205));
  EXPECT_EQ(auction.close(at_seconds(205))->site, kB);
}

TEST(Auctioneer, ClosesEarlyOnABidThatNoSiteCanBeat) {
  Auctioneer auction = auctioneer(Close::unbeatable);
  auction.hears(offer(kB, 9, 30));
  EXPECT_FALSE(auction.settled());
  auction.hears(offer(kA, 1, 0));
  EXPECT_TRUE(auction.settled());
}

TEST(Auctioneer, StopsWhenWaitingCostsMoreThanItGains) {
  Auctioneer auction = auctioneer(Close::stopping);  // sites could start at best after 0, 30 and 60 s
  auction.hears(offer(kC, 9, 60));
  EXPECT_FALSE(auction.settled());  // A would gain 60, B 30
  auction.hears(offer(kB, 9, 30));
  EXPECT_FALSE(auction.settled());  // A would gain 30
  auction.hears(offer(kB, 9, 10));
  EXPECT_TRUE(auction.settled());  // A would gain 10, and comes after 10 on average
}

TEST(Auctioneer, TakesNoBidBelowTheMinimalPrice) {
  Auctioneer auction({.length = seconds(100), .close = Close::unbeatable, .minimum = 5}, {}, at_seconds(0));
  auction.hears(offer(kA, 4));
  EXPECT_FALSE(auction.settled()) << "though it could start at once";
  EXPECT_FALSE(auction.close(at_seconds(100)));
  auction.hears(offer(kB, 5));
  EXPECT_TRUE(auction.settled());
  EXPECT_EQ(auction.close(at_seconds(200))->site, kB);
}

TEST(Auctioneer, WaitsForSoManyBuyersButForNoMoreThanCouldJoin) {
  Auctioneer auction({.length = seconds(100), .close = Close::unbeatable, .buyers = 3}, {}, at_seconds(0));
  auction.could_join(4);
  auction.hears(offer(kA, 7));
  auction.hears(offer(kB, 5));
  EXPECT_FALSE(auction.settled());
  EXPECT_FALSE(auction.close(at_seconds(100)));
  auction.could_join(2);
  EXPECT_TRUE(auction.settled());
  EXPECT_EQ(auction.close(at_seconds(200))->site, kA);
}

TEST(Auctioneer, CountsABuyerWhoseBidHasFallenBelowTheMinimalPrice) {
  Auctioneer auction({.length = seconds(100), .minimum = 0, .buyers = 2}, {}, at_seconds(0));
  auction.hears(offer(kA, 7));
  auction.hears(offer(kA, -1));
  auction.hears(offer(kB, 5));
  EXPECT_EQ(auction.close(at_seconds(100))->site, kB);
}

TEST(Auctioneer, LeavesAJobThatWaitsWithItsHolderUnlessABidIsAboveByTheMargin) {
  Auctioneer auction({.length = seconds(100), .margin = 5}, {}, at_seconds(0), kA);
  auction.hears(offer(kA, 10));
  auction.hears(offer(kB, 15));
  EXPECT_FALSE(auction.close(at_seconds(100)));
  auction.hears(offer(kB, 16));
  EXPECT_EQ(auction.close(at_seconds(200))->site, kB);
}

// Any bids, raised, lowered and lost, and closings in between.
RC_GTEST_PROP(Auction, HasOneWinnerAtMostWhoseBidIsTheHighestOfThoseThatStand, ()) {
  Auctioneer auction = auctioneer();
  std::map<SiteId, Price> stands;
  Instant now = at_seconds(5);
  int winners = 0;
  const auto steps = *rc::gen::container<std::vector<std::tuple<std::uint32_t, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0U, 5U), rc::gen::inRange(-3, 4), rc::gen::inRange(0, 10)));
  for (const auto& [site, price, what] : steps) {
    if (auction.over()) {
      auction.hears(offer(SiteId{site}, 100));  // too late, and not heard
    } else if (what < 7) {
      auction.hears(offer(SiteId{site}, price));
      stands[SiteId{site}] = price;
    } else if (what == 7) {
      auction.loses(SiteId{site});
      stands.erase(SiteId{site});
    } else if (now = auction.closes(now); const auto won = auction.close(now)) {
      ++winners;
      RC_ASSERT(stands.contains(won->site) && stands.at(won->site) == won->price);
      for (const auto& [other, other_price] : stands) {
        RC_ASSERT(other_price < won->price || (other_price == won->price && !(other < won->site)));
      }
    } else {
      RC_ASSERT(stands.empty());
      RC_ASSERT(auction.closes(now) == now + seconds(100));
    }
  }
  RC_ASSERT(winners == (auction.over() ? 1 : 0));
}

// A site of four processors.
class BidTest : public testing::Test {
 protected:
  static ClusterOptions options() {
    ClusterOptions options = World::counted(4);
    options.by_priority = true;
    return options;
  }
  static JobSpec asks(std::int64_t number, std::uint32_t processors, std::int32_t priority) {
    JobSpec job;
    job.number = number;
    job.processors = processors;
    job.priority = priority;
    job.limit = seconds(10);
    return job;
  }
  std::optional<Bid> bid(const JobSpec& job, const Haul& haul = {}) {
    return bid_for(rules_, world_.cluster(), job, haul);
  }

  World world_{options()};
  BidRules rules_;
};

constexpr Price kBillion = 1'000'000'000;

TEST_F(BidTest, OfAnEmptySiteThatHoldsTheInputIsOne) { EXPECT_EQ(bid(asks(1, 2, 1))->price, kBillion); }

TEST_F(BidTest, FallsWithTheTransferOfTheInput) {
  EXPECT_EQ(bid(asks(1, 2, 1), {seconds(10), seconds(20), {}})->price, kBillion * 5 / 6);
  EXPECT_EQ(bid(asks(1, 2, 1), {seconds(20), seconds(20), {}})->price, kBillion * 2 / 3 + 1);  // rounded
}

TEST_F(BidTest, FallsWithThePrioritiesThatMustGiveWay) {
  world_.running({3, 100, 1});
  // R = (1/2) (1/2) + (1/2) (1/4), P = 3/4 - 1 / (4 * 2), D = 1
  EXPECT_EQ(bid(asks(1, 2, 3))->price, (kBillion * 3 / 8 + kBillion * 5 / 8 + kBillion) / 3 + 1);
  world_.ends(JobId{0});
  world_.running({3, 100, 2});
  EXPECT_EQ(bid(asks(1, 2, 3))->price, (kBillion * 3 / 8 + kBillion / 2 + kBillion) / 3);
}

TEST_F(BidTest, IsNotMadeWhereEqualsHoldTheProcessors) {
  world_.running({3, 100, 3});
  EXPECT_FALSE(bid(asks(1, 2, 3)));
  EXPECT_TRUE(bid(asks(1, 2, 4)));
  EXPECT_FALSE(bid(asks(1, 5, 4)));  // larger than the site
}

TEST_F(BidTest, ByExpectedStartIsMadeByEachSiteThatCanRunTheJobAtAll) {
  rules_.valuation = Valuation::by_rate;
  rules_.mean_run_time = seconds(40);
  world_.running({4, 100, 3});
  world_.waiting({1, 100, 3});
  EXPECT_EQ(bid(asks(1, 2, 3))->start, seconds(30));  // 2 and 1 ahead, of 4 that come free in 40 s
  EXPECT_EQ(bid(asks(1, 2, 3), {seconds(5), {}, {}})->start, seconds(35));
  EXPECT_EQ(bid(asks(1, 2, 3), {{}, {}, seconds(8)})->start, seconds(30));
  EXPECT_EQ(bid(asks(1, 2, 3), {{}, {}, seconds(8)})->price, bid(asks(1, 2, 3))->price - 8000) << "to leave its site";
  EXPECT_EQ(bid(asks(1, 2, 4))->start, seconds(0));
  EXPECT_FALSE(bid(asks(1, 5, 4)));
}

TEST_F(BidTest, ByPlanWaitsForExpectedEndsAndForJobsThatGoFirst) {
  rules_.valuation = Valuation::by_plan;
  world_.running({3, 20, 3});
  world_.running({1, 50, 3});
  world_.waiting({2, 10, 3});
  EXPECT_EQ(bid(asks(1, 2, 3))->start, seconds(30));  // the one that waits has 20 to 30, beside it only one is free
  EXPECT_EQ(bid(asks(1, 1, 3))->start, seconds(20));
  EXPECT_EQ(bid(asks(1, 4, 3))->start, seconds(50));
  EXPECT_EQ(bid(asks(1, 4, 4))->start, seconds(0));
}

TEST_F(BidTest, ByPlanCountsFromNowThoughNothingHasHappenedForLong) {
  rules_.valuation = Valuation::by_plan;
  world_.running({4, 100, 3});
  EXPECT_EQ(bid_for(rules_, world_.cluster(), asks(1, 2, 3), {}, {at_seconds(80), {}})->start, seconds(20));
}

TEST_F(BidTest, ByExpectedStartCountsWhatTheSiteHasWonAndIsThereBefore) {
  world_.running({2, 100, 3});
  const std::vector<Coming> coming{{at_seconds(10), 2, seconds(50)}};
  for (const auto& [valuation, start] : {std::pair{Valuation::by_plan, 60}, std::pair{Valuation::by_rate, 50}}) {
    rules_.valuation = valuation;
    rules_.mean_run_time = seconds(20);  // 2 processors come free in it
    EXPECT_EQ(bid_for(rules_, world_.cluster(), asks(1, 2, 3), {}, {kEpoch, coming})->start, seconds(0));
    EXPECT_EQ(bid_for(rules_, world_.cluster(), asks(1, 2, 3), {seconds(30), {}, {}}, {kEpoch, coming})->start,
              seconds(start));
  }
}

TEST_F(BidTest, OfAJobThatWaitsHereCountsOnlyThoseBeforeIt) {
  rules_.valuation = Valuation::by_rate;
  rules_.mean_run_time = seconds(40);
  world_.running({4, 100, 3});
  world_.waiting({1, 100, 3});
  const JobSpec own = world_.job(world_.waiting({2, 100, 3})).spec;
  world_.waiting({1, 100, 3});
  EXPECT_EQ(bid(own)->start, seconds(30));
}

// A site of two nodes with two processors each, the second of which sleeps and boots in 30 s.
class SleepyBidTest : public BidTest {
 protected:
  static Machine two_nodes() {
    Machine machine = Machine::counted(4);
    machine.nodes.resize(2);
    machine.racks = {""};
    for (Node& node : machine.nodes) {
      node.processors = 2;
      node.power.boot = seconds(30);
    }
    return machine;
  }
  ClusterOptions sleepy_options() {
    ClusterOptions options = BidTest::options();
    options.machine = &machine_;
    options.wakes_for_promises = true;
    return options;
  }
  void sleeps(std::uint32_t node) { sleepy_.fold(PowerChanged{NodeId{node}, PowerState::off}); }
  Bid sleepy_bid(const JobSpec& job, const Haul& haul = {}) { return *bid_for(rules_, sleepy_.cluster(), job, haul); }

  Machine machine_ = two_nodes();
  World sleepy_{sleepy_options()};
};

TEST_F(SleepyBidTest, CountsBootTime) {
  sleeps(1);
  for (const Valuation valuation : {Valuation::by_plan, Valuation::by_rate}) {
    rules_.valuation = valuation;
    EXPECT_EQ(sleepy_bid(asks(1, 2, 3)).start, seconds(0)) << "one node is on";
    EXPECT_EQ(sleepy_bid(asks(1, 3, 3)).start, seconds(30));
    EXPECT_EQ(sleepy_bid(asks(1, 4, 3), {seconds(5), {}, {}}).start, seconds(35)) << "after its input has come";
    EXPECT_LT(sleepy_bid(asks(1, 3, 3)).price, bid(asks(1, 3, 3))->price) << "a site that is awake is preferred";
  }
}

TEST_F(SleepyBidTest, ByPlanWaitsForTheEndOfAJobIfThatIsSooner) {
  rules_.valuation = Valuation::by_plan;
  sleepy_.running({2, 20, 3});
  sleeps(1);
  EXPECT_EQ(sleepy_bid(asks(1, 2, 3)).start, seconds(20));
  EXPECT_EQ(sleepy_bid(asks(1, 4, 3)).start, seconds(30));
}

TEST_F(SleepyBidTest, IsMadeAsPublishedWhereAllNodesSleep) {
  sleeps(0);
  sleeps(1);
  const Bid asleep = sleepy_bid(asks(1, 4, 3));
  EXPECT_EQ(asleep.price, kBillion * 2 / 3 + 1) << "nobody gives way, and the input is there";
  EXPECT_LT(asleep.price, bid(asks(1, 4, 3))->price);
}

TEST_F(BidTest, ByPlanCountsThoseAheadThoughTheJobWouldFitNow) {
  rules_.valuation = Valuation::by_plan;
  world_.running({3, 20, 3});
  world_.waiting({4, 50, 3});
  JobSpec small = asks(1, 1, 3);
  EXPECT_EQ(bid(small)->start, seconds(0)) << "over before the other can start";
  small.limit = seconds(21);
  EXPECT_EQ(bid(small)->start, seconds(70));
}

TEST_F(BidTest, ByPlanDoesNotCountLowerPrioritiesWhereNoJobGivesWay) {
  rules_.valuation = Valuation::by_plan;
  World proud{World::counted(4)};
  proud.running({4, 20, 1});
  EXPECT_EQ(bid_for(rules_, proud.cluster(), asks(1, 2, 3), {})->start, seconds(20));
}

TEST_F(BidTest, BidderJoinsWhenItLooksAndThenKeepsItsBidCurrent) {
  Bidder bidder(kB, rules_);
  bidder.opened(asks(1, 2, 1), {});
  EXPECT_TRUE(bidder.refresh(world_.cluster()).empty()) << "it has not looked yet";
  auto said = bidder.look(world_.cluster());
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].bid.site, kB);
  EXPECT_TRUE(bidder.look(world_.cluster()).empty()) << "nothing has changed";
  world_.running({2, 100, 1});
  said = bidder.refresh(world_.cluster());
  ASSERT_EQ(said.size(), 1U);
  EXPECT_LT(said[0].bid.price, kBillion);
  EXPECT_GT(said[0].bid.price, 0);
  world_.running({1, 100, 1});
  EXPECT_EQ(bidder.refresh(world_.cluster())[0].bid.price, -kBillion * 9 / 10) << "it stays, behind all that can";
  bidder.over(1);
  world_.ends(JobId{0});
  EXPECT_TRUE(bidder.refresh(world_.cluster()).empty());
}

}  // namespace
}  // namespace rota

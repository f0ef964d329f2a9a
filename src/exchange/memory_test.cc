// The laws of the exchange, held to by its twin in memory.
#include "exchange/memory.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace rota {
namespace {

constexpr SiteId kA{0}, kB{1};

// A clock that is set by hand and rings whatever is due.
class HandLoop final : public Loop {
 public:
  Instant now() const override { return now_; }
  void set(Alarm& alarm, Instant at) override { alarms_[&alarm] = at; }
  void move_to(Instant at) {
    now_ = at;
    for (auto& [alarm, due] : alarms_) {
      if (due <= at) std::exchange(due, kNever), alarm->ring();
    }
  }
  Instant due(Alarm& alarm) { return alarms_[&alarm]; }

 private:
  Instant now_ = kEpoch;
  std::map<Alarm*, Instant> alarms_;
};

Offer job(std::int64_t number) {
  Offer offer;
  offer.spec.number = number;
  return offer;
}

class ExchangeTest : public testing::Test {
 protected:
  ExchangeTest() {
    exchange_.lease(kA, seconds(10));
    exchange_.lease(kB, seconds(20));
  }
  HandLoop loop_;
  MemoryExchange exchange_{loop_};
};

TEST_F(ExchangeTest, TakesAJobOnce) {
  EXPECT_TRUE(exchange_.offer(job(1)));
  const auto again = exchange_.offer(job(1));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "job 1 was offered to the federation before; give every job a number of its own.");
}

TEST_F(ExchangeTest, GivesAJobToTheFirstWhoClaimsIt) {
  EXPECT_TRUE(exchange_.offer(job(1)));
  EXPECT_TRUE(exchange_.claim(1, kB));
  EXPECT_FALSE(exchange_.claim(1, kA));
  EXPECT_FALSE(exchange_.bid(1, {kA, 5, {}})) << "it is no longer open";
  EXPECT_FALSE(exchange_.settle(1, kA)) << "the claim is another's";
  EXPECT_TRUE(exchange_.settle(1, kB));
  EXPECT_EQ(exchange_.find(1), nullptr);
  EXPECT_FALSE(exchange_.claim(1, kB)) << "a settled job is done with";
  EXPECT_FALSE(exchange_.claim(2, kB)) << "nobody has offered it";
}

TEST_F(ExchangeTest, OpensAJobAgainWhoseWinnerIsGone) {
  EXPECT_TRUE(exchange_.offer(job(1)));
  EXPECT_TRUE(exchange_.claim(1, kA));
  loop_.move_to(at_seconds(10));
  EXPECT_FALSE(exchange_.settle(1, kA)) << "its lease has run out: it must not run the job";
  EXPECT_FALSE(exchange_.claim(1, kA));
  EXPECT_TRUE(exchange_.claim(1, kB));
  EXPECT_TRUE(exchange_.settle(1, kB));
  std::vector<Change::Kind> kinds;
  for (const Change& c : exchange_.changes(0)) kinds.push_back(c.kind);
  using enum Change::Kind;
  EXPECT_EQ(kinds, (std::vector{offered, claimed, gone, reopened, claimed, settled}));
}

TEST_F(ExchangeTest, KeepsASiteThatRenewsItsLease) {
  EXPECT_TRUE(exchange_.offer(job(1)));
  EXPECT_TRUE(exchange_.claim(1, kA));
  loop_.move_to(at_seconds(9));
  exchange_.lease(kA, seconds(10));
  loop_.move_to(at_seconds(18));
  EXPECT_TRUE(exchange_.settle(1, kA));
}

TEST_F(ExchangeTest, PutsAJobBackOnOfferForTheSiteThatHasIt) {
  EXPECT_TRUE(exchange_.offer(job(1)));
  EXPECT_FALSE(exchange_.put_back(1, kA)) << "it has not settled it";
  EXPECT_TRUE(exchange_.claim(1, kA));
  EXPECT_TRUE(exchange_.settle(1, kA));
  EXPECT_FALSE(exchange_.put_back(1, kB));
  EXPECT_TRUE(exchange_.put_back(1, kA));
  ASSERT_NE(exchange_.find(1), nullptr);
  EXPECT_EQ(exchange_.find(1)->holder, kA);
  EXPECT_TRUE(exchange_.claim(1, kB));
  EXPECT_FALSE(exchange_.claim(1, kA)) << "so it must not start it";
}

TEST_F(ExchangeTest, LetsOthersHaveWhatADeadSiteHeld) {
  EXPECT_TRUE(exchange_.offer(job(1)));
  EXPECT_TRUE(exchange_.claim(1, kA));
  EXPECT_TRUE(exchange_.settle(1, kA));
  EXPECT_TRUE(exchange_.put_back(1, kA));
  loop_.move_to(at_seconds(10));
  EXPECT_FALSE(exchange_.find(1)->holder.valid());
  EXPECT_FALSE(exchange_.claim(1, kA));
  EXPECT_TRUE(exchange_.claim(1, kB));
}

TEST_F(ExchangeTest, RingsWhoeverWatches) {
  struct Bell final : Alarm {
    void ring() override {}
  } bell;
  exchange_.watch(bell);
  loop_.move_to(at_seconds(3));
  EXPECT_TRUE(exchange_.offer(job(1)));
  EXPECT_EQ(loop_.due(bell), at_seconds(3));
  EXPECT_EQ(exchange_.changes(0).size(), 1U);
  EXPECT_TRUE(exchange_.changes(1).empty());
}

// Whatever the sites try, whenever their leases run out.
RC_GTEST_PROP(Exchange, LosesNoJobAndSettlesNoneTwice, ()) {
  HandLoop loop;
  MemoryExchange exchange(loop);
  std::map<std::int64_t, SiteId> claimed;  // by whom, as they were told
  std::set<std::int64_t> offered, settled;
  std::map<SiteId, Instant> alive;
  const auto steps = *rc::gen::container<std::vector<std::tuple<int, std::int64_t, std::uint32_t>>>(
      rc::gen::tuple(rc::gen::inRange(0, 6), rc::gen::inRange<std::int64_t>(1, 4), rc::gen::inRange(0U, 3U)));
  for (const auto& [what, number, s] : steps) {
    const SiteId site{s};
    switch (what) {
      case 0:
        RC_ASSERT(exchange.offer(job(number)).has_value() == offered.insert(number).second);
        break;
      case 1:
        exchange.lease(site, seconds(3));
        alive[site] = loop.now() + seconds(3);
        break;
      case 2:
        loop.move_to(loop.now() + seconds(1));
        std::erase_if(alive, [&](const auto& a) { return a.second <= loop.now(); });
        std::erase_if(claimed, [&](const auto& c) { return !alive.contains(c.second); });
        break;
      case 3:
      case 4: {
        const bool open = offered.contains(number) && !claimed.contains(number) && !settled.contains(number);
        RC_ASSERT(exchange.claim(number, site) == (open && alive.contains(site)));
        if (open && alive.contains(site)) claimed[number] = site;
        break;
      }
      default: {
        const bool own = claimed.contains(number) && claimed[number] == site;
        RC_ASSERT(exchange.settle(number, site) == own);
        if (own) RC_ASSERT(settled.insert(number).second), claimed.erase(number);
      }
    }
    for (const std::int64_t n : offered) RC_ASSERT((exchange.find(n) == nullptr) == settled.contains(n));
  }
}

}  // namespace
}  // namespace rota

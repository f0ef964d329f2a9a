// A dispatcher whose exchange is played by the test: what it asks for, how often, and what it makes of what it hears.
#include "control/dispatcher.h"

#include <gtest/gtest.h>

#include "control/hand_loop_test.h"
#include "model/world_test.h"

namespace rota {
namespace {

constexpr SiteId kOwn{0}, kOther{1};
constexpr std::int64_t kJob = 1;

ClusterOptions idle() {
  ClusterOptions options;
  options.processors = 4;
  return options;
}

class DispatcherTest : public testing::Test, public Site, public Exchange {
 protected:
  using Kind = Request::Kind;
  using What = Change::Kind;

  // Its site.
  const View& view() const override { return cluster_; }
  std::optional<JobSpec> asked_here(const Offer& offer) const override { return offer.spec; }
  Haul haul(const Offer&) const override { return {}; }
  std::vector<Coming> coming() const override { return {}; }
  std::vector<Duration> soonest(const Offer&) const override { return {Duration{0}, Duration{0}}; }
  bool has(std::int64_t) const override { return false; }
  void take_won(const Offer& offer) override { taken_.push_back(offer.spec.number); }
  void give_up(std::int64_t job) override { given_up_.push_back(job); }
  void answered(std::int64_t, bool ours) override { answers_.push_back(ours); }

  // Its exchange.
  void send(const Request& request) override { sent_.push_back(request); }
  void watch(SiteId, Watcher& watcher, Revision) override { watcher_ = &watcher; }
  void stop(Watcher&) override { watcher_ = nullptr; }

  void tell(Change change) {
    change.revision = ++revision_;
    if (change.kind == What::joined) change.epoch = revision_;
    watcher_->hear(change);
  }
  void tell(What kind, SiteId site = {}, Epoch epoch = 0) {
    tell({.kind = kind, .site = site, .epoch = epoch, .job = kJob, .bid = {site, 1, {}}, .offer = offer_});
  }
  void join(SiteId site, std::uint32_t life = 1) {
    tell({.kind = What::joined, .token = {site, life, 1}, .site = site});
    (site == kOwn ? own_ : other_) = revision_;
  }
  void now(std::int64_t s) { loop_.move_to(at_seconds(s)); }
  std::vector<Request> of(Kind kind) const {
    std::vector<Request> all;
    for (const Request& r : sent_) {
      if (r.kind == kind) all.push_back(r);
    }
    return all;
  }
  // Until it has the job in its queue.
  void win() {
    join(kOwn);
    join(kOther);
    tell(What::offered);
    tell(What::claimed, kOwn, own_);
    now(1);
    tell(What::settled, kOwn);
    now(1);
  }
  static std::shared_ptr<const Offer> offer() {
    Offer offer;
    offer.spec.number = kJob;
    offer.home = kOther;
    offer.serial = 1;
    return std::make_shared<const Offer>(offer);
  }
  static DispatchRules rules(bool second_thoughts) {
    DispatchRules rules{{seconds(100)}, {}};
    rules.second_thoughts = second_thoughts;
    rules.lease = seconds(30);
    rules.patience = seconds(4);
    return rules;
  }

  HandLoop loop_;
  Cluster cluster_{idle()};
  std::shared_ptr<const Offer> offer_ = offer();
  std::vector<Request> sent_;
  std::vector<std::int64_t> taken_, given_up_;
  std::vector<bool> answers_;
  Watcher* watcher_ = nullptr;
  Revision revision_ = 0;
  Epoch own_ = 0, other_ = 0;
};

class Auctions : public DispatcherTest {
 protected:
  Auctions() { dispatcher_.open(kEpoch); }
  Dispatcher dispatcher_{kOwn, rules(false), *this, *this, loop_};
};

// A site takes part when processors come free there, and sells to two buyers if there are two.
class PublishedRules : public DispatcherTest {
 protected:
  PublishedRules() { dispatcher_.open(kEpoch); }
  static DispatchRules published() {
    DispatchRules published = rules(false);
    published.look = seconds(7);
    published.join = Joining::freed;
    published.auction.buyers = 2;
    return published;
  }
  JobId runs() {
    JobSpec spec;
    spec.number = 1000 + ++running_;
    const JobId id = submit(cluster_, spec);
    fold(cluster_, Started{id, false});
    dispatcher_.load_changed();
    return id;
  }
  void ends(JobId id) {
    fold(cluster_, Finished{id});
    dispatcher_.load_changed();
  }

  std::int64_t running_ = 0;
  Dispatcher dispatcher_{kOwn, published(), *this, *this, loop_};
};

class SecondThoughts : public DispatcherTest {
 protected:
  SecondThoughts() { dispatcher_.open(kEpoch); }
  Dispatcher dispatcher_{kOwn, rules(true), *this, *this, loop_};
};

TEST_F(Auctions, SendTheSameRequestUntilItIsKnownWhatBecameOfIt) {
  now(4);
  now(8);
  const auto joins = of(Kind::join);
  ASSERT_EQ(joins.size(), 3U);
  EXPECT_EQ(joins[0].token, joins[2].token);
  join(kOwn);
  now(17);
  EXPECT_EQ(of(Kind::join).size(), 3U);
}

TEST_F(Auctions, RenewTheLeaseEveryThirdOfIt) {
  join(kOwn);
  for (int s = 1; s <= 35; ++s) now(s);
  const auto renewals = of(Kind::renew);
  ASSERT_EQ(renewals.size(), 3U);
  EXPECT_EQ(renewals[0].epoch, own_);
  EXPECT_NE(renewals[0].token, renewals[1].token);
}

TEST_F(Auctions, JoinAndBidAgainWhenTheLeaseHasRunOut) {
  join(kOwn);
  tell(What::offered);
  now(1);
  ASSERT_EQ(of(Kind::bid).size(), 1U);
  tell(What::gone, kOwn, own_);
  now(2);
  EXPECT_EQ(of(Kind::join).size(), 2U);
  now(7);
  EXPECT_EQ(of(Kind::bid).size(), 1U) << "it has no epoch to bid in";
  join(kOwn);
  now(8);
  ASSERT_EQ(of(Kind::bid).size(), 2U);
  EXPECT_EQ(of(Kind::bid)[1].epoch, own_);
}

TEST_F(Auctions, TakeAJobOnlyWhenItIsSettled) {
  join(kOwn);
  join(kOther);
  tell(What::offered);
  tell(What::claimed, kOwn, own_);
  now(1);
  ASSERT_EQ(of(Kind::settle).size(), 1U);
  EXPECT_TRUE(taken_.empty());
  tell(What::settled, kOwn);
  now(2);
  EXPECT_EQ(taken_, std::vector<std::int64_t>{kJob});
  EXPECT_TRUE(dispatcher_.queued(kJob));
  EXPECT_EQ(dispatcher_.claim(kJob), StartAnswer::ours);
  dispatcher_.ended(kJob);
  EXPECT_EQ(of(Kind::end).size(), 1U);
}

TEST_F(Auctions, SettleNothingInALaterEpochThanTheClaims) {
  join(kOwn);
  tell(What::offered);
  tell(What::claimed, kOwn, own_);
  join(kOwn);
  now(1);
  EXPECT_TRUE(of(Kind::settle).empty());
}

TEST_F(Auctions, SellForAHomeThatIsGoneUntilItIsBack) {
  join(kOwn);
  join(kOther);
  tell(What::offered);
  now(1);
  tell(What::bid, kOwn, own_);
  now(150);
  EXPECT_TRUE(of(Kind::claim).empty()) << "its home sells it";
  tell(What::gone, kOther, other_);
  now(200);
  now(300);
  ASSERT_FALSE(of(Kind::claim).empty());
  EXPECT_EQ(of(Kind::claim)[0].winner, kOwn);
  EXPECT_EQ(of(Kind::claim)[0].winner_epoch, own_);
}

TEST_F(Auctions, WithdrawABidOnAJobThatIsAnothers) {
  join(kOwn);
  join(kOther);
  tell(What::offered);
  now(1);
  tell(What::bid, kOwn, own_);
  tell(What::claimed, kOther, other_);
  tell(What::settled, kOther);
  EXPECT_EQ(of(Kind::withdraw).size(), 1U);
  tell(What::withdrawn, kOwn);
  now(50);
  EXPECT_EQ(of(Kind::withdraw).size(), 1U);
}

TEST_F(Auctions, DoNotRingForAClaimThatIsNotAnswered) {
  join(kOwn);
  offer_ = [] {
    Offer own = *offer();
    own.home = kOwn;
    return std::make_shared<const Offer>(own);
  }();
  tell(What::offered);
  now(1);
  tell(What::bid, kOwn, own_);
  now(101);
  ASSERT_EQ(of(Kind::claim).size(), 1U);
  EXPECT_GT(loop_.due(dispatcher_), at_seconds(101)) << "the round is over, and nothing can be done until the answer";
}

TEST_F(Auctions, TakeWhatAnEarlierLifeHadSettled) {
  tell(What::resync);
  tell(What::joined, kOwn);
  tell(What::settled, kOwn);
  tell(What::resynced);
  now(1);
  EXPECT_EQ(taken_, std::vector<std::int64_t>{kJob});
}

TEST_F(Auctions, StartNothingOfAnEarlierLifeBeforeItsEpochIsOver) {
  dispatcher_.stands_by(*offer_);
  tell(What::resync);
  tell({.kind = What::joined, .token = {kOwn, 0, 1}, .site = kOwn});
  tell(What::settled, kOwn);
  tell(What::resynced);
  EXPECT_EQ(dispatcher_.claim(kJob), StartAnswer::pending) << "it may have put the job back with its last breath";
  now(1);
  ASSERT_GE(of(Kind::join).size(), 2U);
  join(kOwn);
  EXPECT_EQ(answers_, std::vector<bool>{true});
}

TEST_F(PublishedRules, ASiteTakesPartTheMomentProcessorsComeFree) {
  const JobId early = runs();
  const JobId late = runs();
  join(kOwn);
  tell(What::offered);
  now(8);
  EXPECT_TRUE(of(Kind::bid).empty()) << "it has looked, and two processors are free all along";
  runs();
  now(9);
  EXPECT_TRUE(of(Kind::bid).empty()) << "there are fewer now";
  ends(early);
  now(10);
  ASSERT_EQ(of(Kind::bid).size(), 1U);
  tell(What::bid, kOwn, own_);
  ends(late);
  now(11);
  EXPECT_EQ(of(Kind::bid).size(), 2U) << "raised";
}

TEST_F(PublishedRules, ASiteAtWhichNothingRunsTakesPartWhenItLooks) {
  join(kOwn);
  tell(What::offered);
  now(8);
  EXPECT_EQ(of(Kind::bid).size(), 1U);
}

TEST_F(PublishedRules, ASecondBuyerIsWaitedForAsLongAsThereIsOne) {
  offer_ = [] {
    Offer own = *offer();
    own.home = kOwn;
    return std::make_shared<const Offer>(own);
  }();
  join(kOwn);
  join(kOther);
  tell(What::offered);
  now(8);
  tell(What::bid, kOwn, own_);
  for (const std::int64_t s : {100, 200, 300}) now(s);
  EXPECT_TRUE(of(Kind::claim).empty());
  tell(What::gone, kOther, other_);
  now(400);
  now(500);
  ASSERT_FALSE(of(Kind::claim).empty());
  EXPECT_EQ(of(Kind::claim)[0].winner, kOwn);
}

TEST_F(SecondThoughts, AJobDoesNotStartWhileItIsNotKnownWhetherItIsOnOffer) {
  win();
  ASSERT_TRUE(dispatcher_.queued(kJob));
  ASSERT_EQ(of(Kind::put_back).size(), 1U);
  EXPECT_EQ(dispatcher_.claim(kJob), StartAnswer::pending);
  EXPECT_TRUE(of(Kind::claim).empty());
  tell(What::put_back, kOwn, own_);
  ASSERT_EQ(of(Kind::claim).size(), 1U);
  EXPECT_EQ(of(Kind::claim)[0].job_seen, revision_);
  tell(What::claimed, kOwn, own_);
  ASSERT_EQ(of(Kind::settle).size(), 2U);
  EXPECT_TRUE(answers_.empty());
  tell(What::settled, kOwn);
  EXPECT_EQ(answers_, std::vector<bool>{true});
}

TEST_F(SecondThoughts, AJobThatCouldNotBePutBackIsTheSites) {
  win();
  ASSERT_TRUE(dispatcher_.queued(kJob));
  EXPECT_EQ(dispatcher_.claim(kJob), StartAnswer::pending);
  tell(What::gone, kOwn, own_);
  EXPECT_TRUE(answers_.empty());
  join(kOwn);
  EXPECT_EQ(answers_, std::vector<bool>{true}) << "the put back was of an epoch that is over";
  EXPECT_TRUE(given_up_.empty());
}

TEST_F(SecondThoughts, AJobThatAnotherSiteHasBoughtIsGivenUp) {
  win();
  ASSERT_TRUE(dispatcher_.queued(kJob));
  tell(What::put_back, kOwn, own_);
  tell(What::claimed, kOther, other_);
  EXPECT_EQ(dispatcher_.claim(kJob), StartAnswer::gone);
  now(5);
  EXPECT_TRUE(given_up_.empty()) << "whoever asked knows";
}

TEST_F(SecondThoughts, AJobThatWentElsewhereBeforeAResyncIsGivenUp) {
  win();
  ASSERT_TRUE(dispatcher_.queued(kJob));
  tell(What::put_back, kOwn, own_);
  tell(What::resync);
  tell({.kind = What::joined, .token = {kOwn, 1, 1}, .site = kOwn});
  tell({.kind = What::counted, .site = kOther, .last = 1});
  tell(What::resynced);
  EXPECT_EQ(given_up_, std::vector<std::int64_t>{kJob});
}

}  // namespace
}  // namespace rota

// One dispatcher with an idle site at the exchange in memory; the other site is played by the test.
#include "control/dispatcher.h"

#include <gtest/gtest.h>

#include "engine/sim/loop.h"
#include "exchange/memory.h"

namespace rota {
namespace {

constexpr SiteId kOwn{0}, kOther{1};

// Asks for one thing after the other, without doubts.
class OtherSite final : public Watcher {
 public:
  explicit OtherSite(MemoryExchange& exchange) : exchange_(exchange) { exchange_.watch(kOther, *this, 0); }
  void hear(const Change& change) override {
    queue.fold(change);
    applied_ = applied_ || (change.token == token_ && change.kind != Change::Kind::refused);
  }
  void join(Duration lease) {
    Request request{.kind = Request::Kind::join, .token = {}, .site = kOther};
    request.ttl = lease;
    EXPECT_TRUE(gets(request));
  }
  void bid(Price price) {
    Request request = about(Request::Kind::bid);
    request.own_seen = queue.own_bid(1);
    request.bid = {kOther, price, {}};
    EXPECT_TRUE(gets(request));
  }
  bool claims(SiteId winner) {
    Request request = about(Request::Kind::claim);
    request.winner = winner;
    request.winner_epoch = queue.epoch_of(winner);
    return gets(request);
  }
  bool settles() { return gets(about(Request::Kind::settle)); }

  GlobalQueue queue{kOther};

 private:
  Request about(Request::Kind kind) const {
    Request request{.kind = kind, .token = {}, .site = kOther, .epoch = queue.epoch_of(kOther), .job = 1};
    if (const GlobalQueue::Lot* lot = queue.find(1)) {
      request.job_seen = lot->revision;
      request.claim_seen = lot->claim.revision;
    }
    return request;
  }
  bool gets(Request request) {
    request.token = token_ = {kOther, 1, ++tokens_};
    applied_ = false;
    exchange_.send(request);
    return applied_;
  }

  MemoryExchange& exchange_;
  Token token_;
  std::uint64_t tokens_ = 0;
  bool applied_ = false;
};

class DispatcherTest : public testing::Test, public Site {
 protected:
  const View& view() const override { return cluster_; }
  std::optional<JobSpec> asked_here(const Offer& offer) const override { return offer.spec; }
  Haul haul(const Offer&) const override { return {seconds(10), seconds(10), {}}; }
  std::vector<Coming> coming() const override { return {}; }
  std::vector<Duration> soonest(const Offer&) const override { return {seconds(10), seconds(0)}; }
  bool has(std::int64_t) const override { return false; }
  void give_up(std::int64_t job) override { given_up_.push_back(job); }
  void answered(std::int64_t, bool) override { FAIL() << "the answer comes at once"; }
  void take_won(const Offer& offer) override { taken_.emplace_back(offer.spec.number, loop_.now()); }

  void open(bool second_thoughts = false) {
    dispatcher_.emplace(kOwn, DispatchRules{{seconds(100)}, {}, seconds(7), second_thoughts}, *this, exchange_, loop_);
    dispatcher_->open(kEpoch);
  }
  void offer_and_outbid() {
    Offer offer;
    offer.spec.number = 1;
    offer.home = kOwn;
    offer.data = kOther;
    offer.serial = 1;
    dispatcher_->home().offer(offer);
    other_.bid(2'000'000'000);
  }
  // Until nothing but looking at the queue is left to do.
  void run_until(Instant end) {
    while (loop_.now() < end && loop_.step()) {
    }
  }
  static ClusterOptions idle() {
    ClusterOptions options;
    options.processors = 4;
    return options;
  }

  using Taken = std::vector<std::pair<std::int64_t, Instant>>;
  Cluster cluster_{idle()};
  sim::VirtualLoop loop_;
  MemoryExchange exchange_{loop_};
  OtherSite other_{exchange_};
  Taken taken_;
  std::vector<std::int64_t> given_up_;
  std::optional<Dispatcher> dispatcher_;
};

TEST_F(DispatcherTest, LeavesAJobToAHigherBid) {
  open();
  other_.join(kLongest);
  offer_and_outbid();
  run_until(at_seconds(90));
  EXPECT_TRUE(other_.claims(kOther)) << "it is open until the round is over";
  EXPECT_TRUE(other_.settles());
  run_until(at_seconds(300));
  EXPECT_TRUE(taken_.empty());
}

TEST_F(DispatcherTest, TakesAJobWhoseHighestBidderDiedDuringTheAuction) {
  open();
  other_.join(seconds(50));
  offer_and_outbid();
  run_until(at_seconds(300));
  EXPECT_EQ(taken_, (Taken{{1, at_seconds(100)}}));
}

TEST_F(DispatcherTest, SellsAJobAgainWhoseWinnerDiedBeforeItTookIt) {
  open();
  other_.join(seconds(150));
  offer_and_outbid();
  run_until(at_seconds(140));
  ASSERT_NE(other_.queue.find(1), nullptr);
  EXPECT_EQ(other_.queue.find(1)->claim.site, kOther) << "it has been sold to the other";
  run_until(at_seconds(400));
  EXPECT_EQ(taken_, (Taken{{1, at_seconds(250)}}));
}

TEST_F(DispatcherTest, GivesUpAJobThatWaitsWhenAnotherSiteBuysIt) {
  open(true);
  other_.join(kLongest);
  offer_and_outbid();
  ASSERT_TRUE(other_.claims(kOwn));
  run_until(at_seconds(5));
  ASSERT_EQ(taken_.size(), 1U);
  dispatcher_->queued(1);
  ASSERT_NE(other_.queue.find(1), nullptr) << "it is on offer again";
  run_until(at_seconds(10));
  ASSERT_TRUE(other_.claims(kOther));
  run_until(at_seconds(20));
  EXPECT_EQ(given_up_, std::vector<std::int64_t>{1});
  EXPECT_EQ(dispatcher_->claim(1), StartAnswer::gone);
}

TEST_F(DispatcherTest, LetsNoSiteHaveAJobThatItHasStarted) {
  open(true);
  other_.join(kLongest);
  offer_and_outbid();
  ASSERT_TRUE(other_.claims(kOwn));
  run_until(at_seconds(5));
  dispatcher_->queued(1);
  EXPECT_EQ(dispatcher_->claim(1), StartAnswer::ours);
  EXPECT_FALSE(other_.claims(kOther));
  run_until(at_seconds(300));
  EXPECT_TRUE(given_up_.empty());
}

}  // namespace
}  // namespace rota

// The laws of the exchange (control/exchange.h) as tests of whatever implements it. An adapter's test file includes
// this, writes a Rig and instantiates ExchangeLaws with what makes one:
//
//   INSTANTIATE_TEST_SUITE_P(Memory, ExchangeLaws, testing::Values(+[] { return memory_rig(); }));
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/global_queue.h"

namespace rota {

// An exchange that no site has used, and its time.
class Rig {
 public:
  virtual ~Rig() = default;
  virtual Exchange& exchange() = 0;
  virtual void wait() = 0;                       // until every answer has come that will come without time passing
  virtual void pass(Duration time) = 0;          // and whatever comes of it
  virtual std::size_t forfeit(SiteId dead) = 0;  // what an operator does; how many jobs are on offer again
};

// A site that asks for one thing at a time.
class Party final : public Watcher {
 public:
  Party(SiteId self, Rig& rig) : queue(self), self_(self), rig_(rig) { rig_.exchange().watch(self, *this, 0); }
  ~Party() override { rig_.exchange().stop(*this); }

  // As far as it has heard until then.
  Request asks(Request::Kind kind, std::int64_t job = 0) {
    Request request{.kind = kind, .token = {self_, 1, ++tokens_}, .site = self_, .epoch = queue.epoch_of(self_)};
    if (kind == Request::Kind::join) request.epoch = queue.latest_epoch_of(self_);
    request.job = job;
    if (const GlobalQueue::Lot* lot = queue.find(job)) {
      request.job_seen = lot->revision;
      request.claim_seen = lot->claim.revision;
    }
    if (kind == Request::Kind::bid) request.own_seen = queue.own_bid(job);
    if (const GlobalQueue::Win* win = queue.won(job)) request.own_seen = win->revision;
    if (const GlobalQueue::Away* away = queue.away(job)) request.own_seen = away->revision;
    request.ttl = seconds(30);
    return request;
  }
  Request asks_to_offer(std::int64_t job, std::int64_t serial) {
    Request request = asks(Request::Kind::offer, job);
    Offer offer;
    offer.spec.number = job;
    offer.home = self_;
    offer.serial = serial;
    request.last = queue.last_offered(self_);
    request.offers = {std::make_shared<const Offer>(offer)};
    return request;
  }
  Request asks_to_claim(std::int64_t job, SiteId winner) {
    Request request = asks(Request::Kind::claim, job);
    request.winner = winner;
    request.winner_epoch = queue.epoch_of(winner);
    return request;
  }

  // Whether it was applied now.
  bool gets(const Request& request) {
    const std::size_t before = heard.size();
    rig_.exchange().send(request);
    rig_.wait();
    for (std::size_t i = before; i < heard.size(); ++i) {
      if (heard[i].token == request.token && heard[i].kind != Change::Kind::refused) return true;
    }
    return false;
  }
  bool joins(Duration ttl = seconds(30)) {
    Request request = asks(Request::Kind::join);
    request.ttl = ttl;
    return gets(request);
  }
  bool does(Request::Kind kind, std::int64_t job) { return gets(asks(kind, job)); }
  bool offers(std::int64_t job, std::int64_t serial) { return gets(asks_to_offer(job, serial)); }
  bool claims(std::int64_t job, SiteId winner) { return gets(asks_to_claim(job, winner)); }
  // The token of the record that stood in the way, by the last answer.
  Token stood_in_the_way() const { return heard.back().record; }

  void hear(const Change& change) override {
    queue.fold(change);
    heard.push_back(change);
  }

  GlobalQueue queue;
  std::vector<Change> heard;

 private:
  SiteId self_;
  Rig& rig_;
  std::uint64_t tokens_ = 0;
};

class ExchangeLaws : public testing::TestWithParam<std::unique_ptr<Rig> (*)()> {
 protected:
  using Kind = Request::Kind;
  static constexpr SiteId kA{0}, kB{1};

  void sell(std::int64_t job, Party& to, SiteId site) {
    ASSERT_TRUE(a.offers(job, a.queue.last_offered(kA) + 1));
    ASSERT_TRUE(a.claims(job, site));
    ASSERT_TRUE(to.does(Kind::settle, job));
  }

  std::unique_ptr<Rig> rig = GetParam()();
  Party a{kA, *rig};
  Party b{kB, *rig};
};

TEST_P(ExchangeLaws, SerialNumbersOfAHomeRise) {
  EXPECT_FALSE(a.offers(1, 1)) << "it has not joined";
  ASSERT_TRUE(a.joins());
  const Request first = a.asks_to_offer(1, 5);
  EXPECT_TRUE(a.gets(first));
  EXPECT_FALSE(a.gets(first)) << "sent again";
  EXPECT_EQ(a.stood_in_the_way(), first.token) << "so that it knows that the first did it";
  EXPECT_FALSE(a.offers(2, 5));
  EXPECT_FALSE(a.offers(2, 4));
  ASSERT_TRUE(b.joins());
  EXPECT_TRUE(b.offers(3, 1)) << "every home counts for itself";
  EXPECT_EQ(b.queue.last_offered(kA), 5);
}

TEST_P(ExchangeLaws, JobsThatOneRequestOffersComeAllOrNone) {
  ASSERT_TRUE(a.joins());
  Request three = a.asks_to_offer(1, 1);
  for (const std::int64_t serial : {2, 3}) three.offers.push_back(a.asks_to_offer(serial, serial).offers.front());
  Request late = three;
  late.token.request += 1000;
  EXPECT_TRUE(a.gets(three));
  for (const std::int64_t job : {1, 2, 3}) EXPECT_NE(b.queue.find(job), nullptr) << job;
  EXPECT_EQ(b.queue.last_offered(kA), 3);
  EXPECT_FALSE(a.gets(late));
  ASSERT_TRUE(a.claims(2, kA));
  ASSERT_TRUE(a.does(Kind::settle, 2));
  EXPECT_NE(b.queue.find(3), nullptr) << "each goes its own way";
}

TEST_P(ExchangeLaws, AJobIsOfferedOnceEvenWhenItsRecordIsGone) {
  ASSERT_TRUE(a.joins());
  const Request first = a.asks_to_offer(1, 1);
  ASSERT_TRUE(a.gets(first));
  ASSERT_TRUE(a.claims(1, kA));
  ASSERT_TRUE(a.does(Kind::settle, 1));
  EXPECT_FALSE(a.gets(first));
  ASSERT_TRUE(a.does(Kind::end, 1));
  EXPECT_FALSE(a.gets(first)) << "late, after all is over";
  EXPECT_EQ(b.queue.find(1), nullptr);
}

TEST_P(ExchangeLaws, OneClaimStands) {
  ASSERT_TRUE(a.joins() && b.joins());
  ASSERT_TRUE(a.offers(1, 1));
  const Request late = a.asks_to_claim(1, kA);
  EXPECT_FALSE(a.claims(2, kB)) << "nobody has offered it";
  EXPECT_TRUE(b.claims(1, kB));
  EXPECT_FALSE(a.gets(late));
  EXPECT_FALSE(a.claims(1, kA)) << "nor when it has seen the other's";
  EXPECT_FALSE(a.does(Kind::bid, 1));
  EXPECT_FALSE(a.does(Kind::settle, 1)) << "the claim is another's";
  EXPECT_TRUE(b.does(Kind::settle, 1));
  EXPECT_FALSE(b.claims(1, kB)) << "a settled job is not on offer";
  EXPECT_NE(b.queue.won(1), nullptr);
  EXPECT_EQ(a.queue.find(1), nullptr);
}

TEST_P(ExchangeLaws, ASiteThatIsNotAliveCanClaimNothing) {
  ASSERT_TRUE(a.joins());
  ASSERT_TRUE(a.offers(1, 1));
  EXPECT_FALSE(a.claims(1, kB));
  EXPECT_FALSE(b.does(Kind::bid, 1));
}

TEST_P(ExchangeLaws, ALeaseThatRunsOutVoidsWhatWasNotSettled) {
  ASSERT_TRUE(a.joins(seconds(100)) && b.joins(seconds(10)));
  ASSERT_TRUE(a.offers(1, 1) && a.offers(2, 2));
  ASSERT_TRUE(b.does(Kind::bid, 1));
  ASSERT_TRUE(a.claims(1, kB) && a.claims(2, kB));
  ASSERT_TRUE(b.does(Kind::settle, 2));
  const Request late = b.asks(Kind::settle, 1);
  rig->pass(seconds(15));
  EXPECT_EQ(a.queue.epoch_of(kB), 0);
  EXPECT_EQ(a.queue.bid(1, kB), nullptr);
  EXPECT_FALSE(b.gets(late)) << "it must not start the job";
  EXPECT_TRUE(a.claims(1, kA)) << "in place of a claim that is void";
  EXPECT_TRUE(a.does(Kind::settle, 1));
  EXPECT_FALSE(a.claims(2, kA)) << "what it had settled stays its own";
  ASSERT_TRUE(b.joins());
  EXPECT_TRUE(b.does(Kind::put_back, 2)) << "in a later epoch too";
}

TEST_P(ExchangeLaws, ASiteThatJoinsAgainDeposesItsEarlierSelf) {
  ASSERT_TRUE(a.joins() && b.joins());
  ASSERT_TRUE(a.offers(1, 1));
  ASSERT_TRUE(a.claims(1, kB));
  const Request late = b.asks(Kind::settle, 1);
  const Epoch before = b.queue.epoch_of(kB);
  ASSERT_TRUE(b.joins());
  EXPECT_GT(b.queue.epoch_of(kB), before);
  EXPECT_FALSE(b.gets(late)) << "asked in the epoch before";
  EXPECT_FALSE(b.does(Kind::settle, 1)) << "the claim was for the epoch before";
  EXPECT_TRUE(a.claims(1, kB)) << "and is void";
  EXPECT_TRUE(b.does(Kind::settle, 1));
}

TEST_P(ExchangeLaws, ALateJoinDeposesNoSite) {
  const Request first = a.asks(Kind::join);
  ASSERT_TRUE(a.gets(first));
  const Epoch epoch = a.queue.epoch_of(kA);
  EXPECT_FALSE(a.gets(first)) << "doubled";
  EXPECT_EQ(a.stood_in_the_way(), first.token);
  EXPECT_EQ(a.queue.epoch_of(kA), epoch);
  rig->pass(seconds(40));
  ASSERT_EQ(a.queue.epoch_of(kA), 0);
  EXPECT_FALSE(a.gets(first)) << "after its lease has run out";
  ASSERT_TRUE(a.joins());
}

TEST_P(ExchangeLaws, ALeaseThatIsRenewedDoesNotRunOut) {
  ASSERT_TRUE(a.joins(seconds(12)));
  ASSERT_TRUE(b.joins(seconds(100)));
  for (int i = 0; i < 5; ++i) {
    rig->pass(seconds(4));
    Request request = a.asks(Kind::renew);
    request.ttl = seconds(12);
    a.gets(request);
  }
  EXPECT_NE(b.queue.epoch_of(kA), 0);
}

TEST_P(ExchangeLaws, OnlyTheSiteThatHasSettledAJobPutsItBack) {
  ASSERT_TRUE(a.joins() && b.joins());
  sell(1, b, kB);
  EXPECT_FALSE(a.does(Kind::put_back, 1));
  const Request back = b.asks(Kind::put_back, 1);
  EXPECT_TRUE(b.gets(back));
  EXPECT_FALSE(b.gets(back)) << "doubled";
  ASSERT_NE(a.queue.find(1), nullptr);
  EXPECT_EQ(a.queue.holder(*a.queue.find(1)), kB);
  EXPECT_TRUE(a.claims(1, kA));
  EXPECT_TRUE(a.does(Kind::settle, 1));
  EXPECT_FALSE(b.gets(back)) << "late, when the job is another's";
  EXPECT_FALSE(b.claims(1, kB)) << "so it must not start it";
}

TEST_P(ExchangeLaws, AReportOnAnEndStaysUntilTheHomeHasNotedIt) {
  ASSERT_TRUE(a.joins() && b.joins());
  sell(1, b, kB);
  Request ends = b.asks(Kind::end, 1);
  ends.report = "completed\nin two lines";
  ASSERT_NE(a.queue.away(1), nullptr);
  EXPECT_EQ(a.queue.away(1)->site, kB);
  ASSERT_TRUE(b.gets(ends));
  EXPECT_EQ(a.queue.away(1), nullptr);
  ASSERT_TRUE(a.queue.reports().contains(1));
  EXPECT_EQ(a.queue.reports().at(1).site, kB);
  EXPECT_TRUE(b.queue.reports().empty()) << "it is for the home alone";
  Party again(kA, *rig);
  rig->wait();
  ASSERT_TRUE(again.queue.reports().contains(1)) << "however late that comes back";
  EXPECT_EQ(again.queue.reports().at(1).text, ends.report);
  EXPECT_FALSE(b.does(Kind::note, 1)) << "it is the home that notes";
  EXPECT_TRUE(again.does(Kind::note, 1));
  EXPECT_TRUE(again.queue.reports().empty());
  EXPECT_FALSE(again.does(Kind::note, 1)) << "doubled";
}

TEST_P(ExchangeLaws, AHomeCancelsAJobThatAnotherSiteHas) {
  ASSERT_TRUE(a.joins() && b.joins());
  sell(1, b, kB);
  EXPECT_FALSE(b.does(Kind::cancel, 1)) << "it is another home's";
  const Request late = a.asks(Kind::cancel, 1);
  ASSERT_TRUE(a.gets(late));
  EXPECT_TRUE(a.queue.cancelled(1, kA) && b.queue.cancelled(1, kA));
  Party again(kB, *rig);
  rig->wait();
  EXPECT_TRUE(again.queue.cancelled(1, kA)) << "however late it comes back";
  Request ends = again.asks(Kind::end, 1);
  ends.report = "cancelled";
  ASSERT_TRUE(again.gets(ends));
  EXPECT_TRUE(a.queue.cancelled(1, kA)) << "until its home has noted the end";
  ASSERT_TRUE(a.does(Kind::note, 1));
  EXPECT_FALSE(a.queue.cancelled(1, kA) || again.queue.cancelled(1, kA));
  EXPECT_FALSE(a.gets(late)) << "late";
  Party later(kB, *rig);
  rig->wait();
  EXPECT_FALSE(later.queue.cancelled(1, kA));
}

TEST_P(ExchangeLaws, WhatADeadSiteHasSettledIsForfeitedByAnOperator) {
  ASSERT_TRUE(a.joins(seconds(100)) && b.joins(seconds(10)));
  sell(1, b, kB);
  sell(2, a, kA);
  ASSERT_TRUE(b.offers(3, 1));
  ASSERT_TRUE(b.claims(3, kB));
  ASSERT_TRUE(b.does(Kind::settle, 3));
  ASSERT_TRUE(a.does(Kind::cancel, 1));
  const Request late = b.asks(Kind::end, 1);
  EXPECT_EQ(rig->forfeit(kB), 0U) << "it lives";
  rig->pass(seconds(15));
  ASSERT_EQ(a.queue.epoch_of(kB), 0);
  EXPECT_EQ(rig->forfeit(kB), 1U) << "not its own one";
  rig->wait();
  ASSERT_NE(a.queue.find(1), nullptr);
  EXPECT_FALSE(a.queue.holder(*a.queue.find(1)).valid());
  EXPECT_EQ(a.queue.away(1), nullptr);
  EXPECT_TRUE(a.queue.cancelled(1, kA)) << "that stands";
  EXPECT_EQ(b.queue.won(1), nullptr);
  EXPECT_NE(b.queue.won(3), nullptr);
  EXPECT_EQ(a.queue.find(2), nullptr);
  ASSERT_TRUE(b.joins());
  EXPECT_FALSE(b.gets(late)) << "it is not the site's any more";
  EXPECT_TRUE(a.claims(1, kA));
  EXPECT_TRUE(a.does(Kind::settle, 1));
  EXPECT_TRUE(a.does(Kind::end, 1));
  EXPECT_FALSE(a.queue.cancelled(1, kA)) << "its home has ended it";
}

TEST_P(ExchangeLaws, ABidNamesTheOneThatItReplaces) {
  ASSERT_TRUE(a.joins() && b.joins());
  ASSERT_TRUE(a.offers(1, 1));
  Request first = b.asks(Kind::bid, 1);
  first.bid = {kB, 5, seconds(1)};
  EXPECT_TRUE(b.gets(first));
  Request second = b.asks(Kind::bid, 1);
  second.bid = {kB, 7, seconds(1)};
  EXPECT_TRUE(b.gets(second));
  EXPECT_FALSE(b.gets(first)) << "late: it must not take the place of the second";
  ASSERT_NE(a.queue.bid(1, kB), nullptr);
  EXPECT_EQ(a.queue.bid(1, kB)->bid.price, 7);
}

TEST_P(ExchangeLaws, ALosersBidIsWithdrawnWhenTheJobIsGone) {
  ASSERT_TRUE(a.joins() && b.joins());
  ASSERT_TRUE(a.offers(1, 1));
  ASSERT_TRUE(b.does(Kind::bid, 1));
  ASSERT_TRUE(a.does(Kind::bid, 1));
  EXPECT_FALSE(b.does(Kind::withdraw, 1)) << "it is on offer";
  ASSERT_TRUE(a.claims(1, kA));
  ASSERT_TRUE(a.does(Kind::settle, 1));
  EXPECT_TRUE(b.does(Kind::withdraw, 1));
  EXPECT_TRUE(a.queue.bids().empty()) << "the winner's went with the job";
}

TEST_P(ExchangeLaws, EverySiteReceivesTheSameInOneOrder) {
  ASSERT_TRUE(a.joins() && b.joins());
  sell(1, b, kB);
  ASSERT_TRUE(b.does(Kind::put_back, 1));
  ASSERT_TRUE(a.claims(1, kB));
  ASSERT_TRUE(b.does(Kind::settle, 1));
  ASSERT_TRUE(b.does(Kind::end, 1));
  std::vector<std::pair<Revision, Change::Kind>> by_a, by_b;
  const Revision both = std::max(a.queue.epoch_of(kA), b.queue.epoch_of(kB));
  for (const Change& c : a.heard) {
    if (c.revision > both) by_a.emplace_back(c.revision, c.kind);
  }
  for (const Change& c : b.heard) {
    if (c.revision > both) by_b.emplace_back(c.revision, c.kind);
  }
  EXPECT_EQ(by_a, by_b);
  EXPECT_TRUE(std::is_sorted(by_a.begin(), by_a.end()));
}

TEST_P(ExchangeLaws, ASiteThatComesLaterReceivesTheState) {
  ASSERT_TRUE(a.joins() && b.joins());
  ASSERT_TRUE(a.offers(1, 1) && a.offers(2, 2) && a.offers(3, 3));
  ASSERT_TRUE(b.does(Kind::bid, 1));
  ASSERT_TRUE(a.claims(2, kB) && a.claims(3, kB));
  ASSERT_TRUE(b.does(Kind::settle, 3));
  ASSERT_TRUE(a.offers(4, 4));
  Party again(kB, *rig);
  rig->wait();
  EXPECT_TRUE(again.queue.complete());
  EXPECT_EQ(again.queue.revision(), b.queue.revision());
  EXPECT_EQ(again.queue.epoch_of(kB), b.queue.epoch_of(kB));
  EXPECT_EQ(again.queue.last_offered(kA), 4);
  EXPECT_NE(again.queue.bid(1, kB), nullptr);
  ASSERT_NE(again.queue.find(2), nullptr);
  EXPECT_TRUE(again.queue.claimed(*again.queue.find(2)));
  EXPECT_EQ(again.queue.find(3), nullptr);
  EXPECT_NE(again.queue.won(3), nullptr) << "so that it can start it";
  EXPECT_NE(again.queue.find(4), nullptr);
  EXPECT_TRUE(again.does(Kind::put_back, 3)) << "with the revisions that it was told";
}

}  // namespace rota

// Federations at random: whatever their sites do, no job of the global queue is lost or run twice; and what becomes of
// jobs whose winner dies.
#include "engine/sim/federation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <stdexcept>

#include "cli/federation_mix.h"
#include "exchange/memory.h"

namespace rota {
namespace {

class Stream final : public sim::Source {
 public:
  explicit Stream(const std::vector<sim::Arrival>& jobs) : jobs_(jobs) {}
  bool next(sim::Arrival& arrival) override {
    if (next_ == jobs_.size()) return false;
    arrival = jobs_[next_++];
    return true;
  }

 private:
  const std::vector<sim::Arrival>& jobs_;
  std::size_t next_ = 0;
};

struct Setting {
  cli::FederationMix mix;
  sim::Placing placing = sim::Placing::auction;
  DispatchRules rules;
  std::string policy = "fcfs-skip+preempt=suspend+overrun=run-on";
};

struct Ran {
  std::vector<sim::Fate> fates;
  std::vector<sim::GlobalJob> jobs;
  sim::FederationTotals totals;
  std::map<std::int64_t, int> settled;  // how often, by job
};

Ran run(const Setting& setting) {
  const auto made = cli::mixed(setting.mix);
  auto chain = Chain::parse(setting.policy);
  if (!chain) throw std::invalid_argument(chain.error().message);
  std::vector<Stream> streams;
  for (const auto& jobs : made.local) streams.emplace_back(jobs);
  std::vector<sim::Source*> local;
  for (Stream& stream : streams) local.push_back(&stream);
  sim::VirtualLoop loop;
  MemoryExchange exchange(loop);
  sim::FederationOptions options;
  for (const std::int64_t processors : setting.mix.sites) options.sites.emplace_back().processors = processors;
  options.transfer = made.transfer;
  options.placing = setting.placing;
  options.rules = setting.rules;
  options.seed = setting.mix.seed;
  sim::Federation federation(options, {loop, exchange, *chain, local}, made.jobs);
  if (auto done = federation.run(); !done) throw std::runtime_error(done.error().message);
  Ran ran{federation.fates(), federation.jobs(), federation.totals(), {}};
  for (const Change& c : exchange.changes(0)) ran.settled[c.job] += c.kind == Change::Kind::settled ? 1 : 0;
  return ran;
}

Setting any_setting() {
  Setting s;
  s.mix.seed = *rc::gen::inRange<std::uint64_t>(0, 1'000'000);
  s.mix.jobs = *rc::gen::inRange<std::int64_t>(1, 40);
  s.mix.sites = {*rc::gen::inRange<std::int64_t>(4, 7), *rc::gen::inRange<std::int64_t>(4, 7)};
  if (*rc::gen::arbitrary<bool>()) s.mix.sites.push_back(9);
  s.mix.mean_run_time = seconds(*rc::gen::element<std::int64_t>(5, 100));
  s.mix.transfer = *rc::gen::element(0.0, 0.5, 2.0);
  s.mix.global_load = *rc::gen::element(0.3, 1.5);
  s.rules.look = seconds(*rc::gen::element<std::int64_t>(0, 7));
  s.rules.auction.length = seconds(*rc::gen::element<std::int64_t>(1, 30));
  s.rules.auction.close = *rc::gen::element(Close::on_time, Close::unbeatable, Close::stopping);
  s.rules.auction.patience = s.mix.mean_run_time;
  s.rules.bid.valuation = *rc::gen::element(Valuation::published, Valuation::by_rate, Valuation::by_plan);
  s.rules.second_thoughts = *rc::gen::arbitrary<bool>();
  s.rules.bid.mean_run_time = s.mix.mean_run_time;
  s.policy = "fcfs-skip+overrun=run-on+preempt=" +
             *rc::gen::element<std::string>("no", "suspend", "requeue", "checkpoint+checkpoint=2");
  return s;
}

// The federation itself holds that each job ends once, where it started (CHECK); a referee watches at every site.
void expect_all_done(const Ran& ran) {
  for (std::size_t i = 0; i < ran.jobs.size(); ++i) {
    const sim::Arrival& job = ran.jobs[i].arrival;
    RC_ASSERT(ran.fates[i].site.valid());
    RC_ASSERT(ran.fates[i].end >= job.spec.submit + job.run_time);
  }
}

RC_GTEST_PROP(Federation, SellsEveryJobOnceAndPreemptsOnlyAtTheWinner, ()) {
  const Setting setting = any_setting();
  const Ran ran = run(setting);
  expect_all_done(ran);
  for (const sim::GlobalJob& job : ran.jobs) {
    const int settled = ran.settled.at(job.arrival.spec.number);
    RC_ASSERT((setting.rules.second_thoughts ? settled >= 2 : settled == 1));  // when it was won, and when it started
  }
  RC_ASSERT(ran.totals.vain_preemptions == 0);
}

RC_GTEST_PROP(Federation, RunsEveryJobOnceWithoutAuctionsToo, ()) {
  Setting setting = any_setting();
  setting.placing = *rc::gen::element(sim::Placing::random, sim::Placing::round_robin, sim::Placing::least_loaded,
                                      sim::Placing::race, sim::Placing::staged_race);
  expect_all_done(run(setting));
}

RC_GTEST_PROP(Federation, ComesToTheSameWhenItIsRunAgain, ()) {
  const Setting setting = any_setting();
  const Ran a = run(setting);
  const Ran b = run(setting);
  for (std::size_t i = 0; i < a.fates.size(); ++i) {
    RC_ASSERT(a.fates[i].end == b.fates[i].end && a.fates[i].site == b.fates[i].site);
  }
}

// One dispatcher with an idle site; the other site is played by the test.
class DispatcherTest : public testing::Test, public Site {
 protected:
  DispatcherTest() {
    exchange_.lease(kOwn, kLongest);
    dispatcher_.open(kEpoch);
  }
  const View& view() const override { return cluster_; }
  std::optional<JobSpec> asked_here(const Offer& offer) const override { return offer.spec; }
  Haul haul(const Offer&) const override { return {seconds(10), seconds(10), {}}; }
  std::vector<Coming> coming() const override { return {}; }
  std::vector<Duration> soonest(const Offer&) const override { return {seconds(10), seconds(0)}; }
  void give_up(std::int64_t job) override { given_up_.push_back(job); }
  void take(const Offer& offer) override { taken_.emplace_back(offer.spec.number, loop_.now()); }

  void offer_and_outbid() {
    Offer offer;
    offer.spec.number = 1;
    offer.home = kOwn;
    offer.data = kOther;
    ASSERT_TRUE(exchange_.offer(offer));
    ASSERT_TRUE(exchange_.bid(1, {kOther, 2'000'000'000, {}}));
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
  static constexpr SiteId kOwn{0}, kOther{1};

  using Taken = std::vector<std::pair<std::int64_t, Instant>>;
  Cluster cluster_{idle()};
  sim::VirtualLoop loop_;
  MemoryExchange exchange_{loop_};
  Taken taken_;
  std::vector<std::int64_t> given_up_;
  Dispatcher dispatcher_{kOwn, {{seconds(100)}, {}, seconds(7)}, *this, exchange_, loop_};
};

TEST_F(DispatcherTest, LeavesAJobToAHigherBid) {
  exchange_.lease(kOther, kLongest);
  offer_and_outbid();
  run_until(at_seconds(90));
  EXPECT_TRUE(exchange_.claim(1, kOther)) << "it is open until the round is over";
  EXPECT_TRUE(exchange_.settle(1, kOther));
  run_until(at_seconds(300));
  EXPECT_TRUE(taken_.empty());
}

TEST_F(DispatcherTest, TakesAJobWhoseHighestBidderDiedDuringTheAuction) {
  exchange_.lease(kOther, seconds(50));
  offer_and_outbid();
  run_until(at_seconds(300));
  EXPECT_EQ(taken_, (Taken{{1, at_seconds(100)}}));
}

TEST_F(DispatcherTest, SellsAJobAgainWhoseWinnerDiedBeforeItTookIt) {
  exchange_.lease(kOther, seconds(150));
  offer_and_outbid();
  run_until(at_seconds(140));
  EXPECT_FALSE(exchange_.claim(1, kOwn)) << "it has been sold to the other";
  run_until(at_seconds(400));
  EXPECT_EQ(taken_, (Taken{{1, at_seconds(250)}}));
}

TEST_F(DispatcherTest, GivesUpAJobThatWaitsWhenAnotherSiteBidsMore) {
  Dispatcher second(kOwn, {{seconds(100)}, {}, seconds(7), true}, *this, exchange_, loop_);
  second.open(kEpoch);
  exchange_.lease(kOther, kLongest);
  offer_and_outbid();
  ASSERT_TRUE(exchange_.claim(1, kOwn));
  ASSERT_TRUE(exchange_.settle(1, kOwn));
  second.queued(1);
  ASSERT_NE(exchange_.find(1), nullptr) << "it is on offer again";
  run_until(at_seconds(10));
  ASSERT_TRUE(exchange_.claim(1, kOther));
  EXPECT_FALSE(second.may_start(1));
  run_until(at_seconds(20));
  EXPECT_EQ(given_up_, std::vector<std::int64_t>{1});
}

TEST_F(DispatcherTest, LetsNobodyHaveAJobThatItHasStarted) {
  Dispatcher second(kOwn, {{seconds(100)}, {}, seconds(7), true}, *this, exchange_, loop_);
  second.open(kEpoch);
  exchange_.lease(kOther, kLongest);
  offer_and_outbid();
  ASSERT_TRUE(exchange_.claim(1, kOwn));
  ASSERT_TRUE(exchange_.settle(1, kOwn));
  second.queued(1);
  EXPECT_TRUE(second.may_start(1));
  EXPECT_FALSE(exchange_.claim(1, kOther));
  run_until(at_seconds(300));
  EXPECT_TRUE(given_up_.empty());
}

}  // namespace
}  // namespace rota

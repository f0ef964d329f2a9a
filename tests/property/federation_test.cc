// Federations at random: whatever their sites do, no job of the global queue is lost or run twice, and nothing is left
// of it in the exchange.
#include "engine/sim/federation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <stdexcept>

#include "exchange/faulty.h"
#include "exchange/memory.h"
#include "study/federation_mix.h"

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
  study::FederationMix mix;
  sim::Placing placing = sim::Placing::auction;
  DispatchRules rules;
  std::string policy = "fcfs-skip+preempt=suspend+overrun=run-on";
  std::optional<Faults> faults = {};
  bool ahead = false;
  bool early = false;
};

struct Ran {
  std::vector<sim::Fate> fates;
  std::vector<sim::GlobalJob> jobs;
  sim::FederationTotals totals;
  std::map<std::int64_t, int> settled;  // how often, by job
};

// What is left of jobs that have all ended: nothing.
void expect_nothing_left(const MemoryExchange::Sizes& sizes) {
  RC_ASSERT(sizes.jobs + sizes.claims + sizes.bids + sizes.wins + sizes.log == 0U);
}

class Settlements final : public Watcher {
 public:
  explicit Settlements(std::map<std::int64_t, int>& count) : count_(count) {}
  void hear(const Change& change) override { count_[change.job] += change.kind == Change::Kind::settled ? 1 : 0; }

 private:
  std::map<std::int64_t, int>& count_;
};

// Cuts sites off from the exchange now and then, until a set time.
class Weather final : public Alarm {
 public:
  Weather(FaultyExchange& exchange, sim::VirtualLoop& loop, std::size_t sites, std::uint64_t seed)
      : exchange_(exchange), loop_(loop), sites_(sites), random_(seed) {
    loop_.set(*this, at_seconds(1));
  }
  void ring() override {
    const auto last = static_cast<std::int64_t>(sites_) - 1;
    if (loop_.now() > at_seconds(600)) {
      exchange_.calm();
      for (std::uint32_t s = 0; s < sites_; ++s) exchange_.heal(SiteId{s});
      return;
    }
    const SiteId site{static_cast<std::uint32_t>(random_.between(0, last))};
    if (random_.chance(0.5)) {
      exchange_.cut(site);
    } else {
      exchange_.heal(site);
    }
    loop_.set(*this, loop_.now() + seconds(random_.between(1, 40)));
  }

 private:
  FaultyExchange& exchange_;
  sim::VirtualLoop& loop_;
  std::size_t sites_;
  Random random_;
};

Ran run(const Setting& setting) {
  const auto made = study::mixed(setting.mix);
  auto chain = Chain::parse(setting.policy);
  if (!chain) throw std::invalid_argument(chain.error().message);
  std::vector<Stream> streams;
  for (const auto& jobs : made.local) streams.emplace_back(jobs);
  std::vector<sim::Source*> local;
  for (Stream& stream : streams) local.push_back(&stream);
  sim::VirtualLoop loop;
  MemoryExchange exchange(loop);
  std::map<std::int64_t, int> settled;
  Settlements settlements(settled);
  exchange.watch({}, settlements, 0);
  FaultyExchange network(exchange, setting.faults.value_or(Faults{}), setting.mix.seed, loop);
  std::optional<Weather> weather;
  Exchange& seen = setting.faults ? static_cast<Exchange&>(network) : exchange;
  sim::FederationOptions options;
  for (const std::int64_t processors : setting.mix.sites) options.sites.emplace_back().processors = processors;
  options.transfer = made.transfer;
  options.placing = setting.placing;
  options.rules = setting.rules;
  options.seed = setting.mix.seed;
  options.ahead = setting.ahead;
  options.early = setting.early;
  sim::Federation federation(options, {loop, seen, *chain, local}, made.jobs);
  if (setting.faults) weather.emplace(network, loop, setting.mix.sites.size(), setting.mix.seed);
  if (auto done = federation.run(); !done) throw std::runtime_error(done.error().message);
  if (!setting.faults) expect_nothing_left(exchange.sizes());  // else it may still be said
  return {federation.fates(), federation.jobs(), federation.totals(), settled};
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
  s.rules.join = *rc::gen::element(Joining::look, Joining::freed);
  s.rules.auction.buyers = *rc::gen::element<std::size_t>(1, 2, 3);
  if (s.rules.bid.valuation == Valuation::published)
    s.rules.auction.minimum = *rc::gen::element(Price{kAnyPrice}, Price{0});
  s.ahead = *rc::gen::arbitrary<bool>();
  s.early = *rc::gen::arbitrary<bool>();
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
    // When it was won, and when it started; what was queued before its input may start the moment that is there.
    const int least = setting.rules.second_thoughts && !setting.early ? 2 : 1;
    RC_ASSERT((setting.rules.second_thoughts ? settled >= least : settled == 1));
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

// With the controllers that run live, whose starts wait for their claims. Without preemption: policies and referee
// count on it that a job that is suspended or requeued leaves in the instant in which it is told to, and here that
// waits for a claim.
RC_GTEST_PROP(Federation, RunsEveryJobOnceOverABadNetwork, ()) {
  Setting setting = any_setting();
  setting.placing =
      *rc::gen::element(sim::Placing::auction, sim::Placing::auction, sim::Placing::race, sim::Placing::staged_race);
  Faults faults;
  faults.request_lost = *rc::gen::element(0.0, 0.2);
  faults.request_doubled = *rc::gen::element(0.0, 0.2);
  faults.refusal_lost = *rc::gen::element(0.0, 0.3);
  faults.stream_broken = *rc::gen::element(0.0, 0.05);
  faults.delay = seconds(*rc::gen::element<std::int64_t>(0, 1, 7));
  setting.faults = faults;
  setting.rules.lease = seconds(30);
  setting.policy = "fcfs-skip+overrun=run-on";
  const Ran once = run(setting);
  expect_all_done(once);
  const Ran again = run(setting);
  for (std::size_t i = 0; i < once.fates.size(); ++i) {
    RC_ASSERT(once.fates[i].end == again.fates[i].end && once.fates[i].site == again.fates[i].site);
  }
}

}  // namespace
}  // namespace rota

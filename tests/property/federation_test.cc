// Federations at random: whatever their sites do, no job of the global queue is lost or run twice, and nothing is left
// of it in the exchange.
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
  std::map<std::int64_t, int> settled;
  Settlements settlements(settled);
  exchange.watch({}, settlements, 0);
  sim::FederationOptions options;
  for (const std::int64_t processors : setting.mix.sites) options.sites.emplace_back().processors = processors;
  options.transfer = made.transfer;
  options.placing = setting.placing;
  options.rules = setting.rules;
  options.seed = setting.mix.seed;
  sim::Federation federation(options, {loop, exchange, *chain, local}, made.jobs);
  if (auto done = federation.run(); !done) throw std::runtime_error(done.error().message);
  expect_nothing_left(exchange.sizes());
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

}  // namespace
}  // namespace rota

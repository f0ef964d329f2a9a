// How many jobs sites can sell each other over a real etcd: dispatchers as a service has them, over clients of their
// own, whose jobs end the moment they are there. Usage: etcd_offers SITES JOBS WINDOW ENDPOINT... (bench/offers.py)
#include <fmt/core.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>

#include "control/dispatcher.h"
#include "exchange/etcd/exchange.h"
#include "model/cluster.h"
#include "serve/real_loop.h"

namespace rota {
namespace {

using Clock = std::chrono::steady_clock;

struct Plan {
  std::int64_t sites = 3, jobs = 1000, window = 200;
  std::vector<std::string> endpoints;
};

// Counts what a site receives.
class Counter final : public Watcher {
 public:
  void hear(const Change& change) override { changes += change.kind == Change::Kind::refused ? 0 : 1; }
  std::int64_t changes = 0;
};

class SellingSite final : public Site {
 public:
  SellingSite(SiteId self, const Plan& plan, boost::asio::io_context& io, serve::RealLoop& loop,
              const std::string& prefix)
      : self_(self), plan_(plan), io_(io) {
    EtcdExchangeOptions options;
    const auto first = static_cast<std::ptrdiff_t>(self.value % plan.endpoints.size());
    options.client.endpoints = plan.endpoints;
    std::rotate(options.client.endpoints.begin(), options.client.endpoints.begin() + first,
                options.client.endpoints.end());
    options.prefix = prefix;
    options.unix_start = loop.unix_start();
    options.say = [](const std::string& sentence) { fmt::print(stderr, "{}\n", sentence); };
    auto opened = EtcdExchange::open(loop, options, [&io](auto call) { boost::asio::post(io, std::move(call)); });
    if (!opened) throw std::runtime_error(opened.error().message);
    exchange_ = std::move(*opened);
    DispatchRules rules;
    rules.auction.close = Close::unbeatable;
    rules.lease = seconds(10);
    dispatcher_.emplace(self, rules, *this, *exchange_, loop);
    exchange_->find_number(fmt::format("site-{:03}", self.value), self, [this, &loop](SiteId) {
      exchange_->watch({}, counter_, 0);
      dispatcher_->open(loop.now());
    });
  }

  const View& view() const override { return cluster_; }
  std::optional<JobSpec> asked_here(const Offer& offer) const override { return offer.spec; }
  Haul haul(const Offer&) const override { return {}; }
  std::vector<Coming> coming() const override { return {}; }
  std::vector<Duration> soonest(const Offer&) const override {
    return std::vector<Duration>(static_cast<std::size_t>(plan_.sites), Duration{0});
  }
  bool has(std::int64_t job) const override { return jobs_.contains(job); }
  void take_won(const Offer& offer) override {
    const std::int64_t job = offer.spec.number;
    jobs_.insert(job);
    ++taken;
    boost::asio::post(io_, [this, job] { dispatcher_->ended(job, "over"); });
  }
  void give_up(std::int64_t job) override { jobs_.erase(job); }
  void answered(std::int64_t, bool) override {}
  void closed(std::int64_t job) override {
    if (jobs_.erase(job) > 0 && home_of(job) == self_) ++over;
  }
  void reported(std::int64_t job, SiteId, const std::string&) override {
    ++over;
    boost::asio::post(io_, [this, job] { dispatcher_->home().noted(job); });
  }

  bool joined() const { return exchange_->epoch_of(self_) != 0; }
  // Keeps so many of its jobs in sale; until it has had its part.
  void offer_more() {
    while (offered < plan_.jobs / plan_.sites && offered - over < plan_.window) {
      Offer offer;
      offer.serial = ++offered;
      offer.spec.number = federation_number(self_, offer.serial);
      offer.spec.processors = 1;
      offer.spec.limit = seconds(60);
      offer.home = offer.data = self_;
      offer.request = std::string(300, 'x');
      dispatcher_->home().offer(offer);
    }
  }
  std::int64_t changes() const { return counter_.changes; }

  std::int64_t offered = 0, over = 0, taken = 0;

 private:
  static SiteId home_of(std::int64_t job) {
    return SiteId{static_cast<std::uint32_t>(job / federation_number(SiteId{1}, 0))};
  }

  SiteId self_;
  const Plan& plan_;
  boost::asio::io_context& io_;
  Counter counter_;
  std::set<std::int64_t> jobs_;
  Cluster cluster_{[] {
    ClusterOptions options;
    options.processors = 1000;
    return options;
  }()};
  std::unique_ptr<EtcdExchange> exchange_;
  std::optional<Dispatcher> dispatcher_;
};

int sell(const Plan& plan) {
  boost::asio::io_context io;
  const auto work = boost::asio::make_work_guard(io);
  serve::RealLoop loop(io, 1'700'000'000);
  std::vector<std::unique_ptr<SellingSite>> sites;
  for (std::uint32_t s = 0; s < plan.sites; ++s)
    sites.push_back(std::make_unique<SellingSite>(SiteId{s}, plan, io, loop, "/offers/"));
  const auto sum = [&](auto of) {
    std::int64_t all = 0;
    for (const auto& site : sites) all += of(*site);
    return all;
  };
  while (sum([](const SellingSite& s) { return s.joined() ? 1 : 0; }) < plan.sites) io.run_one();
  const std::int64_t jobs = plan.jobs / plan.sites * plan.sites;
  const std::int64_t before = sum([](const SellingSite& s) { return s.changes(); });
  const auto begin = Clock::now();
  while (sum([](const SellingSite& s) { return s.over; }) < jobs) {
    for (const auto& site : sites) site->offer_more();
    io.run_one_for(std::chrono::milliseconds(50));
    io.poll();
  }
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  const auto changes = static_cast<double>(sum([](const SellingSite& s) { return s.changes(); }) - before);
  fmt::print("{} sites, {} jobs: {:.0f} jobs a second, {:.1f} changes a job, {:.0f} changes a second at each site\n",
             plan.sites, jobs, static_cast<double>(jobs) / took, changes / static_cast<double>(plan.sites * jobs),
             changes / static_cast<double>(plan.sites) / took);
  return sum([](const SellingSite& s) { return s.taken; }) == jobs ? 0 : 1;
}

}  // namespace
}  // namespace rota

int main(int count, char** words) {
  if (count < 5) {
    fmt::print(stderr, "usage: etcd_offers SITES JOBS WINDOW ENDPOINT...\n");
    return 2;
  }
  rota::Plan plan{std::atoll(words[1]), std::atoll(words[2]), std::atoll(words[3]), {words + 4, words + count}};
  return rota::sell(plan);
}

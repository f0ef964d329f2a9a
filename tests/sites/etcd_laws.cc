// The laws of the exchange, over a real etcd: the one that ROTA_TEST_ETCD names (tests/sites/etcd.py starts it). Time
// passes five times as fast as the laws say: so short are the shortest leases of etcd.
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdlib>
#include <string>

#include "exchange/etcd/dead_site.h"
#include "exchange/etcd/exchange.h"
#include "exchange/laws_test.h"
#include "serve/real_loop.h"

namespace rota {
namespace {

constexpr int kFaster = 5;
constexpr std::chrono::seconds kPatience{120};

// Leases as short as time is.
class Hasty final : public Exchange {
 public:
  explicit Hasty(Exchange& exchange) : exchange_(exchange) {}
  void send(const Request& request) override {
    Request hasty = request;
    hasty.ttl /= kFaster;
    exchange_.send(hasty);
  }
  void watch(SiteId site, Watcher& watcher, Revision seen) override { exchange_.watch(site, watcher, seen); }
  void stop(Watcher& watcher) override { exchange_.stop(watcher); }

 private:
  Exchange& exchange_;
};

class EtcdRig final : public Rig {
 public:
  EtcdRig() {
    static int rigs = 0;
    EtcdExchangeOptions& options = options_;
    options.client.endpoints = {std::getenv("ROTA_TEST_ETCD")};
    options.prefix = "/laws/" + std::to_string(::getpid()) + "/" + std::to_string(++rigs) + "/";
    options.say = [](const std::string& sentence) { std::fprintf(stderr, "%s\n", sentence.c_str()); };
    auto opened = EtcdExchange::open(loop_, options, [this](auto call) { boost::asio::post(io_, std::move(call)); });
    if (!opened) throw std::runtime_error(opened.error().message);
    etcd_ = std::move(*opened);
    hasty_ = std::make_unique<Hasty>(*etcd_);
    for (const char* name : {"a", "b"}) {
      etcd_->find_number(name, {}, [](SiteId) {});
      wait();
    }
  }
  Exchange& exchange() override { return *hasty_; }
  void wait() override {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    io_.restart();
    io_.poll();
    while (!etcd_->quiet()) {
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(20));
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("etcd does not answer");
    }
    io_.restart();
    io_.poll();
  }
  void pass(Duration time) override {
    const auto end = std::chrono::steady_clock::now() + time / kFaster;
    while (std::chrono::steady_clock::now() < end) {
      io_.restart();
      io_.run_one_until(end);
    }
    wait();
  }
  std::size_t forfeit(SiteId dead) override {
    const std::int64_t before = etcd_->settled_by(dead);
    std::optional<Result<etcd::DeadSite::Done>> result;
    const auto forfeit = etcd::DeadSite::begin(
        options_.client, {options_.prefix, etcd_->name_of(dead)},
        [this](auto call) { boost::asio::post(io_, std::move(call)); }, [&](auto done) { result = std::move(done); });
    if (!forfeit) throw std::runtime_error(forfeit.error().message);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!result && std::chrono::steady_clock::now() < end) {
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(20));
    }
    const std::int64_t jobs = result && *result ? static_cast<std::int64_t>((*result)->jobs) : 0;
    while (etcd_->settled_by(dead) > before - jobs) {
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(20));
    }
    return static_cast<std::size_t>(jobs);
  }
  EtcdExchange& etcd() { return *etcd_; }

 private:
  EtcdExchangeOptions options_;
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> works_{io_.get_executor()};
  serve::RealLoop loop_{io_, 1'700'000'000};
  std::unique_ptr<EtcdExchange> etcd_;
  std::unique_ptr<Hasty> hasty_;
};

std::unique_ptr<Rig> etcd_rig() { return std::make_unique<EtcdRig>(); }
INSTANTIATE_TEST_SUITE_P(Etcd, ExchangeLaws, testing::Values(&etcd_rig));

using Kind = Request::Kind;

TEST(EtcdExchange, KeepsNamesAndOffersAsTheyWere) {
  EtcdRig rig;
  Party a(SiteId{0}, rig);
  EXPECT_EQ(rig.etcd().names(), (std::vector<std::string>{"a", "b"}));
  ASSERT_TRUE(a.joins());
  Request offers = a.asks_to_offer(77, 3);
  Offer offer = *offers.offers.front();
  offer.data = SiteId{1};
  offer.submitted = Instant{Duration{123'456'789}};
  offer.request = "{\"command\": [\"line\\nbreaks\", \"and more\"]}\nsecond line";
  offers.offers = {std::make_shared<const Offer>(offer)};
  ASSERT_TRUE(a.gets(offers));
  Party again(SiteId{1}, rig);
  const GlobalQueue::Lot* lot = again.queue.find(77);
  ASSERT_NE(lot, nullptr);
  EXPECT_EQ(lot->offer->data, SiteId{1});
  EXPECT_EQ(lot->offer->home, SiteId{0});
  EXPECT_EQ(lot->offer->serial, 3);
  EXPECT_EQ(lot->offer->submitted, offer.submitted);
  EXPECT_EQ(lot->offer->request, offer.request);
}

TEST(EtcdExchange, AppliesOrRefusesEachOfManyRequestsOfOneTurnByItself) {
  EtcdRig rig;
  Party a(SiteId{0}, rig), b(SiteId{1}, rig);
  ASSERT_TRUE(a.joins() && b.joins());
  constexpr std::int64_t kJobs = 150;
  for (std::int64_t job = 1; job <= kJobs; ++job) ASSERT_TRUE(a.offers(job, job));
  for (std::int64_t job = 1; job <= kJobs; ++job) {
    Request request = b.asks(Kind::bid, job);
    request.bid = {SiteId{1}, job, seconds(job)};
    if (job % 3 == 0) request.job_seen += 1;
    rig.exchange().send(request);
  }
  rig.wait();
  for (std::int64_t job = 1; job <= kJobs; ++job)
    EXPECT_EQ(a.queue.bid(job, SiteId{1}) != nullptr, job % 3 != 0) << job;
}

}  // namespace
}  // namespace rota

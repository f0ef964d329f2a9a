// The exchange in memory: the laws, and that it keeps no more than what is alive.
#include "exchange/memory.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "exchange/laws_test.h"

namespace rota {
namespace {

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

 private:
  Instant now_ = kEpoch;
  std::map<Alarm*, Instant> alarms_;
};

class MemoryRig final : public Rig {
 public:
  explicit MemoryRig(const MemoryExchangeOptions& options = {}) : memory(loop_, options) {}
  Exchange& exchange() override { return memory; }
  void wait() override {}
  void pass(Duration time) override { loop_.move_to(loop_.now() + time); }
  std::size_t forfeit(SiteId dead) override { return memory.forfeit(dead); }

 private:
  HandLoop loop_;

 public:
  MemoryExchange memory;
};

std::unique_ptr<Rig> memory_rig() { return std::make_unique<MemoryRig>(); }
INSTANTIATE_TEST_SUITE_P(Memory, ExchangeLaws, testing::Values(&memory_rig));

constexpr SiteId kA{0}, kB{1};
using Kind = Request::Kind;

TEST(MemoryExchange, KeepsNothingOfWhatIsOver) {
  MemoryRig rig;
  Party a(kA, rig);
  Party b(kB, rig);
  ASSERT_TRUE(a.joins(seconds(100'000)) && b.joins(seconds(100'000)));
  for (std::int64_t n = 1; n <= 1000; ++n) {
    ASSERT_TRUE(a.offers(n, n));
    ASSERT_TRUE(b.does(Kind::bid, n) && a.does(Kind::bid, n));
    ASSERT_TRUE(a.claims(n, kB) && b.does(Kind::settle, n) && a.does(Kind::withdraw, n));
    ASSERT_TRUE(b.does(Kind::end, n));
    EXPECT_EQ(rig.memory.sizes(), (MemoryExchange::Sizes{2, 0, 0, 0, 0, 0}));
  }
}

TEST(MemoryExchange, KeepsChangesForASiteThatWillBeBackButNotForEver) {
  MemoryRig rig({.kept = 10});
  Party a(kA, rig);
  ASSERT_TRUE(a.joins());
  auto b = std::make_unique<Party>(kB, rig);
  const Revision seen = b->queue.revision();
  rig.memory.stop(*b);
  for (std::int64_t n = 1; n <= 9; ++n) ASSERT_TRUE(a.offers(n, n));
  EXPECT_EQ(rig.memory.sizes().log, 9U);
  b->heard.clear();
  rig.memory.watch(kB, *b, seen);
  EXPECT_EQ(b->heard.size(), 9U);
  EXPECT_EQ(b->heard.front().kind, Change::Kind::offered);
  EXPECT_EQ(rig.memory.sizes().log, 0U);
  rig.memory.stop(*b);
  for (std::int64_t n = 10; n <= 60; ++n) ASSERT_TRUE(a.offers(n, n));
  EXPECT_EQ(rig.memory.sizes().log, 0U) << "it is too far behind, and nobody else is";
  b->heard.clear();
  rig.memory.watch(kB, *b, seen + 9);
  EXPECT_EQ(b->heard.front().kind, Change::Kind::resync);
  EXPECT_EQ(b->heard.back().kind, Change::Kind::resynced);
  EXPECT_EQ(b->queue.lots().size(), 60U);
}

// A request that is sent at any time and any number of times is applied once at most.
RC_GTEST_PROP(MemoryExchange, AppliesEveryRequestOnceAtMost, ()) {
  MemoryRig rig;
  Party a(kA, rig);
  Party b(kB, rig);
  std::vector<Request> asked;
  std::map<std::uint64_t, int> applied[2];
  const auto steps = *rc::gen::container<std::vector<std::tuple<int, std::int64_t, bool>>>(
      rc::gen::tuple(rc::gen::inRange(0, 10), rc::gen::inRange<std::int64_t>(1, 4), rc::gen::arbitrary<bool>()));
  for (const auto& [what, job, by_b] : steps) {
    Party& party = by_b ? b : a;
    if (what == 9) {
      rig.pass(seconds(7));
      continue;
    }
    if (what == 8 && !asked.empty()) {
      const Request again = asked[static_cast<std::size_t>(job * 7919) % asked.size()];
      applied[again.site.value][again.token.request] += (again.site == kB ? b : a).gets(again) ? 1 : 0;
      continue;
    }
    const auto kind = static_cast<Request::Kind>(what % 8);
    Request request = kind == Kind::offer   ? party.asks_to_offer(job, party.queue.last_offered(by_b ? kB : kA) + 1)
                      : kind == Kind::claim ? party.asks_to_claim(job, job % 2 == 0 ? kA : kB)
                                            : party.asks(kind, job);
    asked.push_back(request);
    applied[request.site.value][request.token.request] += party.gets(request) ? 1 : 0;
  }
  for (const auto& of_site : applied) {
    for (const auto& [token, times] : of_site) RC_ASSERT(times <= 1);
  }
}

}  // namespace
}  // namespace rota

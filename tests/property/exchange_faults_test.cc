// The global queue with everything that can go wrong on the way to it, from many seeds: every job is started exactly
// once, none is lost, and when all is healed everything ends and nothing is left behind. And that this would be
// noticed.
#include <gtest/gtest.h>

#include <cstdlib>

#include "exchange_world.h"

namespace rota::faults {
namespace {

std::string sentences(const Outcome& outcome) {
  std::string all;
  for (std::size_t i = 0; i < std::min<std::size_t>(outcome.wrong.size(), 10); ++i) all += outcome.wrong[i] + "\n";
  return all;
}

// ROTA_SEEDS: how many, and from which on, where more is wanted than in every test run.
std::pair<std::uint64_t, std::uint64_t> seeds(std::uint64_t count) {
  const char* const asked = std::getenv("ROTA_SEEDS");
  const std::string text = asked ? asked : "";
  const std::size_t from = text.find('+');
  if (text.empty()) return {0, count};
  const std::uint64_t first = from == std::string::npos ? 0 : std::stoull(text.substr(from + 1));
  return {first, first + std::stoull(text)};
}

TEST(ExchangeFaults, EveryJobIsStartedOnceAndEndsWhenAllIsHealed) {
  FaultCounts all;
  std::int64_t jobs = 0, deaths = 0, late = 0;
  const auto [first, last] = seeds(700);
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const Outcome once = what_becomes_of({.seed = seed});
    const Outcome again = what_becomes_of({.seed = seed});
    EXPECT_EQ(once.hash, again.hash) << "seed " << seed;
    EXPECT_EQ(once.faults, again.faults) << "seed " << seed;
    ASSERT_TRUE(once.wrong.empty()) << "seed " << seed << ": " << sentences(once);
    jobs += once.jobs;
    deaths += once.deaths;
    late += once.late_answers;
    all.requests += once.faults.requests;
    all.requests_lost += once.faults.requests_lost;
    all.requests_doubled += once.faults.requests_doubled;
    all.refusals_lost += once.faults.refusals_lost;
    all.refusals_doubled += once.faults.refusals_doubled;
    all.changes_doubled += once.faults.changes_doubled;
    all.streams_broken += once.faults.streams_broken;
    all.cuts += once.faults.cuts;
    all.resyncs += once.faults.resyncs;
  }
  for (const std::int64_t count : {all.requests_lost, all.requests_doubled, all.refusals_lost, all.refusals_doubled,
                                   all.changes_doubled, all.streams_broken, all.cuts, all.resyncs, deaths, late}) {
    EXPECT_GT(count, 0) << "every fault has been tried";
  }
  std::printf(
      "%lu seeds, %ld jobs: %ld requests, %ld lost, %ld doubled; refusals %ld lost, %ld doubled; %ld changes "
      "doubled, %ld streams broken, %ld cuts, %ld resyncs, %ld deaths, %ld late answers to starts\n",
      static_cast<unsigned long>(last - first), jobs, all.requests, all.requests_lost, all.requests_doubled,
      all.refusals_lost, all.refusals_doubled, all.changes_doubled, all.streams_broken, all.cuts, all.resyncs, deaths,
      late);
}

TEST(ExchangeFaults, NothingGoesWrongWithoutFaultsEither) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Outcome outcome = what_becomes_of({.seed = seed, .faults = false});
    ASSERT_TRUE(outcome.wrong.empty()) << "seed " << seed << ": " << sentences(outcome);
  }
}

void expect_found(const MemoryExchangeOptions& options) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    found += what_becomes_of({.seed = seed, .exchange = options}).wrong.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 0);
  std::printf("found by %d of 100 seeds\n", found);
}

TEST(ExchangeFaults, AnExchangeThatComparesNoEpochsIsFoundOut) { expect_found({.compares_epochs = false}); }

TEST(ExchangeFaults, AnExchangeThatComparesNoClaimsIsFoundOut) { expect_found({.compares_claims = false}); }

}  // namespace
}  // namespace rota::faults

#include "store/memory_store.h"

#include <gtest/gtest.h>

#include "store/random_facts_test.h"
#include "store/replayed_test.h"

namespace rota::store {
namespace {

std::vector<Fact> facts_found(std::vector<std::byte> found) {
  auto store = MemoryStore::open(std::move(found));
  EXPECT_TRUE(store) << store.error().message;
  return replayed(**store);
}

TEST(MemoryStore, keeps_what_was_committed_through_a_crash) {
  const auto facts = random_facts(20, 1);
  MemoryStore store({.policy = "easy"});
  append(store, std::span(facts).first(8));
  ASSERT_TRUE(store.commit());
  append(store, std::span(facts).subspan(8));
  for (const CrashKind kind : {CrashKind::keeps, CrashKind::tears, CrashKind::loses}) {
    EXPECT_TRUE(same_facts(facts_found(store.crash(kind)), {facts.begin(), facts.begin() + 8}));
  }
  ASSERT_TRUE(store.commit());
  EXPECT_TRUE(same_facts(replayed(store), facts));
  EXPECT_EQ(MemoryStore::open(store.crash()).value()->head().policy, "easy");
  EXPECT_EQ(store.counts(), FaultCounts{});
}

TEST(MemoryStore, tears_and_loses_what_was_not_synced) {
  const auto facts = random_facts(30, 2);
  MemoryStore store({}, {}, 3);
  store.sync_at_commit(false);
  for (std::size_t i = 0; i < 10; ++i) {
    if (i == 4) store.sync();
    append(store, std::span(facts).subspan(3 * i, 3));
    ASSERT_TRUE(store.commit());
  }
  EXPECT_EQ(facts_found(store.crash(CrashKind::keeps)).size(), 30U);
  EXPECT_EQ(facts_found(store.crash(CrashKind::loses)).size(), 12U);
  std::vector<std::size_t> sizes;
  bool cut = false;
  for (int i = 0; i < 1000; ++i) {  // a batch may be small, and is where a tear falls as seldom
    auto found = MemoryStore::open(store.crash(CrashKind::tears));
    ASSERT_TRUE(found);
    const auto torn = replayed(**found);
    ASSERT_TRUE(torn.size() % 3 == 0 && torn.size() >= 12 && torn.size() < 30) << torn.size();
    ASSERT_TRUE(std::equal(torn.begin(), torn.end(), facts.begin(), same_fact));
    if (std::ranges::find(sizes, torn.size()) == sizes.end()) sizes.push_back(torn.size());
    cut = cut || !(*found)->note().empty();
  }
  EXPECT_EQ(sizes.size(), 6U) << "every number of whole batches";
  EXPECT_TRUE(cut);
  EXPECT_EQ(store.counts().torn, 1000);
  EXPECT_EQ(store.counts().lost, 1);
}

TEST(MemoryStore, a_failed_commit_is_there_whole_or_not_at_all_and_ends_all_writing) {
  const auto facts = random_facts(9, 4);
  MemoryStore store;
  append(store, std::span(facts).first(3));
  ASSERT_TRUE(store.commit());
  store.fail_next();
  ASSERT_TRUE(store.commit()) << "there is nothing to do";
  append(store, std::span(facts).subspan(3, 3));
  const auto failed = store.commit();
  ASSERT_FALSE(failed);
  append(store, std::span(facts).subspan(6));
  EXPECT_EQ(store.commit().error().message, failed.error().message);
  EXPECT_EQ(store.counts().failed_commits, 1);
  EXPECT_EQ(facts_found(store.crash(CrashKind::keeps)).size(), 6U);
  EXPECT_EQ(facts_found(store.crash(CrashKind::tears)).size(), 3U);
  EXPECT_EQ(facts_found(store.crash(CrashKind::loses)).size(), 3U);
}

TEST(MemoryStore, compacts_to_a_snapshot_at_once_or_not_at_all) {
  const auto facts = random_facts(2000, 5);
  const std::vector<Fact> few(facts.begin(), facts.begin() + 3);
  MemoryStore store;
  append(store, few);
  ASSERT_TRUE(store.commit());
  ASSERT_TRUE(store.compact(snapshot_of(facts)));
  EXPECT_TRUE(same_facts(replayed(store), facts));
  append(store, few);
  ASSERT_TRUE(store.commit());
  EXPECT_EQ(replayed(store).size(), facts.size() + 3);
  store.fail_next();
  ASSERT_FALSE(store.compact(snapshot_of(facts)));
  EXPECT_EQ(store.counts().failed_compactions, 1);
  std::vector<std::size_t> sizes;
  sizes.reserve(50);
  for (int i = 0; i < 50; ++i) sizes.push_back(facts_found(store.crash(CrashKind::tears)).size());
  const auto old = std::ranges::count(sizes, facts.size() + 3);
  EXPECT_TRUE(old > 0 && old < 50);
  EXPECT_EQ(old + std::ranges::count(sizes, facts.size()), 50);
}

TEST(MemoryStore, gives_the_same_faults_for_the_same_seed) {
  const auto run = [](std::uint64_t seed) {
    const auto facts = random_facts(60, 6);
    auto store = std::make_unique<MemoryStore>(JournalHead{}, StoreFaults{0.2, 0.2, 0.5, 0.3}, seed);
    std::vector<std::byte> found;
    FaultCounts counts;
    for (std::size_t i = 0; i < 60; ++i) {
      append(*store, std::span(facts).subspan(i, 1));
      if (store->commit()) continue;
      found = store->crash();
      counts.failed_commits += store->counts().failed_commits;
      counts.torn += store->counts().torn;
      counts.lost += store->counts().lost;
      store = std::move(MemoryStore::open(found, {0.2, 0.2, 0.5, 0.3}, seed + i).value());
    }
    return std::pair(found, counts);
  };
  EXPECT_EQ(run(7), run(7));
  EXPECT_GT(run(7).second.failed_commits, 3);
  EXPECT_GT(run(7).second.torn, 0);
  EXPECT_NE(run(7).first, run(8).first);
}

}  // namespace
}  // namespace rota::store

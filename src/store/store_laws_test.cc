// The laws of control/store.h, held against every store that there is.
#include <gtest/gtest.h>

#include <filesystem>

#include "store/file_limit_test.h"
#include "store/journal_file.h"
#include "store/memory_store.h"
#include "store/random_facts_test.h"
#include "store/replayed_test.h"
#include "store/sqlite_disk_test.h"
#include "store/sqlite_store.h"
#include "store/temporary_folder_test.h"

namespace rota::store {
namespace {

const JournalHead kHead{.rota = "1.0.0", .policy = "easy", .processors = 8, .unix_start = 1'700'000'000};

// One store at a time, which can be left and found again.
class Rig {
 public:
  virtual ~Rig() = default;
  virtual Store& store() = 0;
  virtual const JournalHead& head() = 0;
  virtual void leave_and_find() = 0;  // as after a crash
  virtual void break_disk() = 0;      // what is written next fails, until it is left
};

class MemoryRig final : public Rig {
 public:
  Store& store() override { return *store_; }
  const JournalHead& head() override { return store_->head(); }
  void leave_and_find() override { store_ = std::move(MemoryStore::open(store_->crash()).value()); }
  void break_disk() override { store_->fail_next(); }

 private:
  std::unique_ptr<MemoryStore> store_ = std::make_unique<MemoryStore>(kHead);
};

class FileRig final : public Rig {
 public:
  Store& store() override { return *journal_; }
  const JournalHead& head() override { return journal_->head(); }
  void leave_and_find() override {
    limit_.reset();
    journal_.reset();
    journal_ = std::move(JournalFile::open(path_, Durability::synced).value());
  }
  void break_disk() override { limit_.emplace(20); }

 private:
  TemporaryFolder folder_;
  std::string path_ = folder_ / "journal";
  std::optional<FileSizeLimit> limit_;
  std::unique_ptr<JournalFile> journal_ = std::move(JournalFile::create(path_, kHead, Durability::synced).value());
};

class DatabaseRig final : public Rig {
 public:
  Store& store() override { return *store_; }
  const JournalHead& head() override { return store_->head(); }
  void leave_and_find() override {
    store_.reset();
    disk_.work_again();
    store_ = std::move(SqliteStore::open(path_, {.policy = "another"}, TestDisk::kName).value());
  }
  void break_disk() override { disk_.fail_after(0, DiskFault::full); }

 private:
  TestDisk disk_;
  TemporaryFolder folder_;
  std::string path_ = folder_ / "state.db";
  std::unique_ptr<SqliteStore> store_ = std::move(SqliteStore::open(path_, kHead, TestDisk::kName).value());
};

using MakeRig = std::unique_ptr<Rig> (*)();

class StoreLaws : public testing::TestWithParam<MakeRig> {
 protected:
  Store& store() { return rig_->store(); }
  std::vector<Fact> kept() { return replayed(store()); }
  std::vector<Fact> found() {
    rig_->leave_and_find();
    return kept();
  }
  void add(std::span<const Fact> facts) {
    append(store(), facts);
    ASSERT_TRUE(store().commit());
  }
  static std::vector<Fact> both(std::span<const Fact> one, std::span<const Fact> other) {
    std::vector<Fact> facts(one.begin(), one.end());
    facts.insert(facts.end(), other.begin(), other.end());
    return facts;
  }

  std::unique_ptr<Rig> rig_ = GetParam()();
};

TEST_P(StoreLaws, a_new_one_has_its_head_and_no_facts) {
  EXPECT_TRUE(kept().empty());
  EXPECT_TRUE(found().empty());
  EXPECT_EQ(rig_->head(), kHead);
}

TEST_P(StoreLaws, what_was_committed_is_there_in_order_and_nothing_else) {
  const auto facts = random_facts(300, 1);
  std::size_t count = 0;
  for (const std::size_t size : {1U, 2U, 97U, 200U}) {
    add(std::span(facts).subspan(count, size));
    count += size;
    ASSERT_TRUE(store().commit()) << "there is nothing to do";
    ASSERT_TRUE(same_facts(kept(), {facts.begin(), facts.begin() + static_cast<std::ptrdiff_t>(count)}));
  }
  append(store(), facts);  // never committed
  EXPECT_TRUE(same_facts(found(), facts));
  EXPECT_EQ(rig_->head(), kHead);
  add(facts);
  EXPECT_TRUE(same_facts(found(), both(facts, facts)));
}

TEST_P(StoreLaws, a_batch_may_be_large) {
  const auto facts = random_facts(20'000, 2);
  add(facts);
  EXPECT_TRUE(same_facts(found(), facts));
}

TEST_P(StoreLaws, the_first_error_of_a_visitor_ends_the_replay_and_is_handed_on) {
  add(random_facts(5, 3));
  add(random_facts(5, 4));
  int visits = 0;
  const auto told = store().replay([&](const Fact&) -> Result<void> {
    if (++visits == 7) return fail("Enough.");
    return {};
  });
  EXPECT_EQ(told.error().message, "Enough.");
  EXPECT_EQ(visits, 7);
  EXPECT_EQ(kept().size(), 10U) << "it can be replayed again";
}

TEST_P(StoreLaws, a_snapshot_takes_the_place_of_all_that_was_there) {
  const auto old = random_facts(50, 5);
  const auto snapshot = random_facts(20'000, 6);
  const auto more = random_facts(10, 7);
  add(old);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store().compact(snapshot_of(snapshot)));
    ASSERT_TRUE(same_facts(kept(), snapshot));
    ASSERT_TRUE(same_facts(found(), snapshot));
    add(more);
    ASSERT_TRUE(same_facts(found(), both(snapshot, more)));
  }
  ASSERT_TRUE(store().compact(snapshot_of({})));
  EXPECT_TRUE(found().empty());
  EXPECT_EQ(rig_->head(), kHead);
}

TEST_P(StoreLaws, a_failed_commit_is_there_whole_or_not_at_all_and_ends_all_writing) {
  const auto facts = random_facts(50, 8);
  const std::span<const Fact> first = std::span(facts).first(10);
  add(first);
  rig_->break_disk();
  append(store(), std::span(facts).subspan(10));
  const auto failed = store().commit();
  ASSERT_FALSE(failed);
  append(store(), first);
  EXPECT_EQ(store().commit().error().message, failed.error().message);
  EXPECT_EQ(store().commit().error().message, failed.error().message) << "also where nothing was appended";
  EXPECT_FALSE(store().replay([](const Fact&) { return Result<void>(); }));
  EXPECT_FALSE(store().compact(snapshot_of({})));
  const auto left = found();
  EXPECT_TRUE(same_facts(left, facts) || same_facts(left, {first.begin(), first.end()})) << left.size();
  add(first);
  EXPECT_TRUE(same_facts(found(), both(left, first)));
}

TEST_P(StoreLaws, a_failed_compaction_leaves_the_old_or_the_new_and_ends_all_writing) {
  const auto old = random_facts(50, 9);
  const auto snapshot = random_facts(3000, 10);
  add(old);
  rig_->break_disk();
  const auto failed = store().compact(snapshot_of(snapshot));
  ASSERT_FALSE(failed);
  EXPECT_EQ(store().commit().error().message, failed.error().message);
  const auto left = found();
  EXPECT_TRUE(same_facts(left, old) || same_facts(left, snapshot)) << left.size();
}

template <class Kind>
std::unique_ptr<Rig> rig() {
  return std::make_unique<Kind>();
}

INSTANTIATE_TEST_SUITE_P(Memory, StoreLaws, testing::Values(&rig<MemoryRig>));
INSTANTIATE_TEST_SUITE_P(File, StoreLaws, testing::Values(&rig<FileRig>));
INSTANTIATE_TEST_SUITE_P(Database, StoreLaws, testing::Values(&rig<DatabaseRig>));

}  // namespace
}  // namespace rota::store

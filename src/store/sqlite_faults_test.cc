// The store on a disk that fails, that loses power, and in a process that is killed: what was acknowledged is there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/random.h"
#include "store/random_facts_test.h"
#include "store/replayed_test.h"
#include "store/sqlite_disk_test.h"
#include "store/sqlite_store.h"
#include "store/temporary_folder_test.h"

namespace rota::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatch = 3;

// Batches that say in everything beside the facts which they are.
class Batches {
 public:
  explicit Batches(std::size_t count) : facts_(random_facts(count * kBatch, 7)) {}

  void put(SqliteStore& store, std::size_t batch) const {
    append(store, std::span(facts_).subspan(batch * kBatch, kBatch));
    const JobId job{static_cast<std::uint32_t>(batch)};
    store.put_payload(job, {"{}", std::string(3000, static_cast<char>('a' + batch % 7)), std::to_string(batch)});
    if (batch > 5) store.drop_payload(JobId{job.value - 5});
    store.put_history({.job = job, .number = static_cast<std::int64_t>(batch)});
    store.put_setting("batches", std::to_string(batch + 1));
  }
  // How many are there; they are the first ones, whole, with all that belongs to them.
  std::size_t in(SqliteStore& store) const {
    const auto found = replayed(store);
    const std::size_t count = found.size() / kBatch;
    EXPECT_EQ(found.size() % kBatch, 0U);
    EXPECT_TRUE(found.size() <= facts_.size() && std::equal(found.begin(), found.end(), facts_.begin(), same_fact));
    EXPECT_EQ(store.setting("batches").value().value_or("0"), std::to_string(count));
    EXPECT_EQ(store.history({}).value().size(), count);
    for (std::size_t batch = count > 5 ? count - 5 : 1; batch < count; ++batch) {
      const auto payload = store.payload(JobId{static_cast<std::uint32_t>(batch)});
      EXPECT_EQ(payload.value().value().environment, std::to_string(batch));
    }
    return count;
  }
  // And of those that were dropped nothing is left.
  static void expect_no_strays(const std::string& path, std::size_t count, const std::string& vfs = TestDisk::kName) {
    const auto database = SqliteDatabase::open(path, SqliteDatabase::Access::reads, vfs);
    ASSERT_TRUE(database) << database.error().message;
    EXPECT_EQ((*database)->number("SELECT count(*) FROM payloads").value(),
              static_cast<std::int64_t>(std::min<std::size_t>(count, 6)));
    EXPECT_EQ((*database)
                  ->number("SELECT count(*) FROM contents c LEFT JOIN uses u ON u.content = c.id WHERE count IS NULL "
                           "OR count = 0 OR count <> "
                           "(SELECT count(*) FROM payloads WHERE script = c.id) + "
                           "(SELECT count(*) FROM payloads WHERE environment = c.id)")
                  .value(),
              0);
  }

 private:
  std::vector<Fact> facts_;
};

std::unique_ptr<SqliteStore> opened(const std::string& path, const std::string& vfs = TestDisk::kName) {
  auto store = SqliteStore::open(path, {.policy = "easy"}, vfs);
  EXPECT_TRUE(store) << store.error().message;
  return std::move(*store);
}

// Commits and compacts until the disk fails; how many batches were acknowledged.
std::size_t run_until_failure(const std::string& path, const Batches& batches, std::size_t most) {
  auto store = SqliteStore::open(path, {.policy = "easy"}, TestDisk::kName);
  if (!store) return 0;
  for (std::size_t batch = 0; batch < most; ++batch) {
    if (batch == most / 2) {
      const auto facts = replayed(**store);
      if (!(*store)->compact(snapshot_of(facts))) return batch;
    }
    batches.put(**store, batch);
    const auto done = (*store)->commit();
    if (done) continue;
    EXPECT_TRUE(done.error().message.ends_with('.')) << done.error().message;
    batches.put(**store, batch);
    EXPECT_EQ((*store)->commit().error().message, done.error().message);
    EXPECT_FALSE((*store)->setting("batches"));
    return batch;
  }
  return most;
}

TEST(SqliteFaults, whatever_write_or_sync_fails_what_was_acknowledged_is_there) {
  constexpr std::size_t kMost = 4;
  const Batches batches(kMost + 1);
  TestDisk disk;
  for (const DiskFault fault : {DiskFault::full, DiskFault::torn, DiskFault::unsafe}) {
    std::size_t told = 0;
    for (std::int64_t others = 0;; ++others) {
      const TemporaryFolder folder;
      const std::string path = folder / "state.db";
      disk.fail_after(others, fault);
      const std::size_t acknowledged = run_until_failure(path, batches, kMost);
      const bool failed = disk.has_failed();
      disk.work_again();
      told += acknowledged < kMost ? 1U : 0U;
      const auto store = opened(path);
      const std::size_t found = batches.in(*store);
      ASSERT_TRUE(found == acknowledged || found == acknowledged + 1)
          << others << ": " << found << ", " << acknowledged;
      batches.put(*store, found);
      ASSERT_TRUE(store->commit());
      ASSERT_EQ(batches.in(*store), found + 1);
      Batches::expect_no_strays(path, found + 1);
      if (!failed) break;
    }
    EXPECT_GT(told, kMost) << "there are more ways to fail than commits";
  }
}

TEST(SqliteFaults, after_a_loss_of_power_all_that_was_acknowledged_is_there) {
  constexpr std::size_t kMost = 30;
  const Batches batches(kMost);
  const TemporaryFolder folder;
  const TemporaryFolder found;
  TestDisk disk(found.path());
  const auto store = opened(folder / "state.db");
  for (std::size_t batch = 0; batch < kMost; ++batch) {
    batches.put(*store, batch);
    ASSERT_TRUE(store->commit());
    if (batch % 10 == 5) {
      ASSERT_TRUE(store->compact(snapshot_of(replayed(*store))));
    }
    const TemporaryFolder after;
    fs::copy(found.path(), after.path(), fs::copy_options::recursive);
    ASSERT_EQ(batches.in(*opened(after / "state.db", "")), batch + 1);
  }
}

// A process that commits one batch after the other, from the first that is missing, and says so each time.
::pid_t start_writer(const std::string& path, const Batches& batches, int says) {
  const ::pid_t child = ::fork();
  if (child != 0) return child;
  auto store = SqliteStore::open(path, {.policy = "easy"}, TestDisk::kName);
  if (!store) ::_exit(1);
  for (std::size_t batch = batches.in(**store);; ++batch) {
    batches.put(**store, batch);
    if (!(*store)->commit()) ::_exit(1);
    if (::write(says, &batch, sizeof batch) != sizeof batch) ::_exit(0);
  }
}

TEST(SqliteFaults, killed_at_any_moment_all_that_was_acknowledged_is_there) {
  const Batches batches(20'000);
  const TemporaryFolder folder;
  const TestDisk disk;  // the system goes on, so that nothing needs to be synced
  const std::string path = folder / "state.db";
  Random random(11);
  std::size_t acknowledged = 0;
  for (int round = 0; round < 30; ++round) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const ::pid_t child = start_writer(path, batches, pipe[1]);
    ::close(pipe[1]);
    std::size_t batch = 0;
    for (std::int64_t wanted = random.between(0, 20); wanted > 0; --wanted) {
      ASSERT_EQ(::read(pipe[0], &batch, sizeof batch), ssize_t{sizeof batch});
      acknowledged = batch + 1;
    }
    ::kill(child, SIGKILL);
    while (::read(pipe[0], &batch, sizeof batch) == ssize_t{sizeof batch}) acknowledged = batch + 1;
    ::close(pipe[0]);
    ::waitpid(child, nullptr, 0);
    const std::size_t found = batches.in(*opened(path));
    Batches::expect_no_strays(path, found);
    ASSERT_TRUE(found == acknowledged || found == acknowledged + 1) << found << ", " << acknowledged;
    acknowledged = found;
  }
}

}  // namespace
}  // namespace rota::store

#include "swarm/kept.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/sqlite_disk_test.h"
#include "store/sqlite_store.h"
#include "store/temporary_folder_test.h"

namespace rota::swarm {
namespace {

class InMemory final : public Kept {
 public:
  Result<bool> open(const store::StoreFaults& faults, std::uint64_t seed) override {
    if (found_.empty()) {
      store_ = std::make_unique<store::MemoryStore>(store::JournalHead{}, faults, seed);
      return false;
    }
    store_ = TRY(store::MemoryStore::open(std::move(found_), faults, seed));
    return true;
  }
  Store& store() override { return *store_; }
  const store::FaultCounts& counts() const override { return store_->counts(); }
  void crash() override { found_ = store_->crash(); }

 private:
  std::unique_ptr<store::MemoryStore> store_;
  std::vector<std::byte> found_;
};

namespace fs = std::filesystem;

constexpr const char* kDatabase = "rota.db";
constexpr const char* kLog = "rota.db-wal";

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& bytes) {
  if (bytes.empty()) return;
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Each life has a folder of its own, and another for what is known to be on the disk.
class InSqlite final : public Kept, private Store {
 public:
  Result<bool> open(const store::StoreFaults& faults, std::uint64_t seed) override {
    faults_ = faults;
    random_.emplace(seed);
    counts_ = {};
    const bool found = fs::exists(life() / kDatabase);
    fs::create_directories(life());
    fs::create_directories(synced());
    for (const char* name : {kDatabase, kLog}) {  // what was found is on the disk
      if (fs::exists(life() / name)) fs::copy_file(life() / name, synced() / name);
    }
    disk_ = std::make_unique<store::TestDisk>(synced());
    store_ = TRY(store::SqliteStore::open(life() / kDatabase, store::JournalHead{}, store::TestDisk::kName));
    return found;
  }
  Store& store() override { return *this; }
  const store::FaultCounts& counts() const override { return counts_; }

  void crash() override {
    const double drawn = random_->unit();
    const fs::path next = folder_.path() / std::to_string(lives_ + 1);
    fs::create_directories(next);
    if (drawn < faults_.tears) {
      ++counts_.torn;
      write(next / kDatabase, mixed(contents(synced() / kDatabase), contents(life() / kDatabase)));
      write(next / kLog, torn(contents(synced() / kLog), contents(life() / kLog)));
    } else {
      const bool loses = drawn < faults_.tears + faults_.loses;
      counts_.lost += loses ? 1 : 0;
      for (const char* name : {kDatabase, kLog}) write(next / name, contents((loses ? synced() : life()) / name));
    }
    store_.reset();
    disk_.reset();
    fs::remove_all(life());
    fs::remove_all(synced());
    ++lives_;
  }

 private:
  void append(const FactRef& fact) override { store_->append(fact); }
  Result<void> commit() override {
    may_fail(faults_.commit_fails);
    auto done = store_->commit();
    counts_.failed_commits += done ? 0 : 1;
    return done;
  }
  Result<void> replay(const FactVisitor& visit) override { return store_->replay(visit); }
  Result<void> compact(const FactSource& snapshot) override {
    may_fail(faults_.compact_fails);
    auto done = store_->compact(snapshot);
    counts_.failed_compactions += done ? 0 : 1;
    return done;
  }

  // One of the next few writes or syncs.
  void may_fail(double chance) {
    using store::DiskFault;
    constexpr std::int64_t kFew = 4;
    if (chance <= 0 || !random_->chance(chance)) return;
    constexpr std::array<DiskFault, 3> kFaults{DiskFault::full, DiskFault::torn, DiskFault::unsafe};
    const DiskFault fault = kFaults[static_cast<std::size_t>(random_->between(0, 2))];
    disk_->fail_after(fault == DiskFault::unsafe ? 0 : random_->between(0, kFew), fault);
  }

  // Some pages of what was not synced are there and others are not.
  std::string mixed(std::string old, const std::string& now) {
    constexpr std::size_t kPage = 4096;
    for (std::size_t at = 0; at < now.size(); at += kPage) {
      if (!random_->chance(0.5)) continue;
      const std::string page = now.substr(at, kPage);
      if (old.size() < at + page.size()) old.resize(at + page.size());
      old.replace(at, page.size(), page);
    }
    return old;
  }
  // A log is written from its beginning on: some first part of what was not synced is there.
  std::string torn(std::string old, const std::string& now) {
    const auto differs = std::ranges::mismatch(old, now).in2 - now.begin();
    const std::int64_t part = random_->between(differs, std::ssize(now));
    const std::string first = now.substr(0, static_cast<std::size_t>(part));
    return old.size() > first.size() ? old.replace(0, first.size(), first) : first;
  }

  fs::path life() const { return folder_.path() / std::to_string(lives_); }
  fs::path synced() const { return folder_.path() / (std::to_string(lives_) + "-synced"); }

  store::TemporaryFolder folder_;
  std::int64_t lives_ = 0;
  store::StoreFaults faults_;
  std::optional<Random> random_;
  store::FaultCounts counts_;
  std::unique_ptr<store::TestDisk> disk_;  // outlives the store
  std::unique_ptr<store::SqliteStore> store_;
};

}  // namespace

std::unique_ptr<Kept> kept_in_memory() { return std::make_unique<InMemory>(); }
std::unique_ptr<Kept> kept_in_sqlite() { return std::make_unique<InSqlite>(); }

}  // namespace rota::swarm

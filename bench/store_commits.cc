// Durable commits: the database of a live service and the journal in a file, against SQLite alone with one insert of
// the same bytes. In the folder for temporary files: of a disk, if they are to be more than system calls. `items` are
// commits.
#include <benchmark/benchmark.h>
#include <fmt/core.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/check.h"
#include "store/journal_file.h"
#include "store/sqlite_store.h"

namespace rota::store {
namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "rota-bench-XXXXXX";
    CHECK(::mkdtemp(pattern.data()) != nullptr, "there is a folder for temporary files");
    path_ = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// The facts of so many jobs: each is submitted, started and over.
void append_facts(Store& store, std::int64_t count, std::uint64_t& sequence) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t number = ++sequence;
    const Instant at = at_seconds(static_cast<std::int64_t>(number));
    const JobId job{static_cast<std::uint32_t>(number / 3)};
    Submitted submitted{.job = job, .spec = {}, .expected = seconds(60)};
    submitted.spec.number = job.value;
    submitted.spec.submit = at;
    const Started started{.job = job};
    const Finished finished{.job = job};
    if (number % 3 == 0) store.append({at, number, &submitted});
    if (number % 3 == 1) store.append({at, number, &started});
    if (number % 3 == 2) store.append({at, number, &finished});
  }
}

void commit_to(benchmark::State& state, Store& store) {
  std::uint64_t sequence = 0;
  for (auto _ : state) {
    append_facts(store, state.range(0), sequence);
    CHECK(store.commit(), "there is room on the disk");
  }
  state.SetItemsProcessed(state.iterations());
}

void commit_to_database(benchmark::State& state) {
  const Folder folder;
  const auto store = std::move(SqliteStore::open(folder / "state.db", {}).value());
  commit_to(state, *store);
}
BENCHMARK(commit_to_database)->Arg(1)->Arg(100)->Unit(benchmark::kMicrosecond)->UseRealTime();

void commit_to_file(benchmark::State& state) {
  const Folder folder;
  const auto journal = std::move(JournalFile::create(folder / "journal", {}, Durability::synced).value());
  commit_to(state, *journal);
}
BENCHMARK(commit_to_file)->Arg(1)->Arg(100)->Unit(benchmark::kMicrosecond)->UseRealTime();

void insert_into_sqlite(benchmark::State& state) {
  const Folder folder;
  sqlite3* database = nullptr;
  sqlite3_open((folder / "plain.db").c_str(), &database);
  sqlite3_exec(database,
               "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows(id INTEGER PRIMARY KEY, bytes)",
               nullptr, nullptr, nullptr);
  sqlite3_stmt* insert = nullptr;
  sqlite3_prepare_v2(database, "INSERT INTO rows(bytes) VALUES(?1)", -1, &insert, nullptr);
  const std::string bytes(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) {
    sqlite3_bind_blob(insert, 1, bytes.data(), static_cast<int>(bytes.size()), nullptr);
    CHECK(sqlite3_step(insert) == SQLITE_DONE, "there is room on the disk");
    sqlite3_reset(insert);
  }
  sqlite3_finalize(insert);
  sqlite3_close(database);
  state.SetItemsProcessed(state.iterations());
}
// as many bytes as a batch of 1, and of 100, of the facts above
BENCHMARK(insert_into_sqlite)->Arg(24)->Arg(2144)->Unit(benchmark::kMicrosecond)->UseRealTime();

// A day of a service in one commit each: a job comes with its payload, and one leaves.
void submit_and_leave(benchmark::State& state) {
  const Folder folder;
  const auto store = std::move(SqliteStore::open(folder / "state.db", {}).value());
  std::uint64_t sequence = 0;
  Payload payload{"{\"name\":\"solve\"}", std::string(2000, 's'), std::string(1000, 'e')};
  for (auto _ : state) {
    append_facts(*store, 3, sequence);
    const JobId job{static_cast<std::uint32_t>(sequence / 3)};
    payload.script = fmt::format("#!/bin/sh\n{}{}", job.value % 50, std::string(2000, 's'));
    store->put_payload(job, payload);
    store->put_key(std::to_string(sequence), 1000, job, at_seconds(5));
    if (job.value >= 100) {
      const JobId gone{job.value - 100};
      store->put_history({.job = gone, .number = gone.value, .name = "solve", .user = "ada", .state = "COMPLETED"});
      store->drop_payload(gone);
    }
    if (job.value % state.range(0) != 0) continue;
    CHECK(store->commit(), "there is room on the disk");
  }
  CHECK(store->commit(), "there is room on the disk");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(submit_and_leave)->Arg(1)->Arg(100)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
}  // namespace rota::store

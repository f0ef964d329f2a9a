#include "store/sqlite_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/text.h"
#include "store/sqlite_tables.h"

namespace rota::store {
namespace {

constexpr std::size_t kSnapshotBatch = std::size_t{1} << 20U;
constexpr const char* kSnapshotBytes = "snapshot-bytes";  // a setting

// A file at this path, an empty one if there was none; and its name without links, by which SQLite names the files
// beside it.
Result<std::string> made_file(const std::string& path) {
  const auto cannot = [&](const char* verb) {
    return fail("Cannot {} the database {}: {}. Check the path, and the permissions of the file and its folder.", verb,
                shown_path(path), std::strerror(errno));
  };
  if (path.empty()) return fail("Cannot create a database without a name; give a path.");
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
  if (descriptor < 0 && errno != EEXIST) return cannot("create");
  if (descriptor >= 0) ::close(descriptor);
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return cannot("open");
  if (!S_ISREG(facts.st_mode)) return fail(shown_path(path) + " is not a regular file. Give another path.");
  const std::unique_ptr<char, void (*)(void*)> whole(::realpath(path.c_str(), nullptr), std::free);
  if (!whole) return cannot("open");
  return std::string(whole.get());
}

// Durable at each commit, whatever is read meanwhile.
Result<void> settle(SqliteDatabase& database) {
  auto mode = TRY(database.prepare("PRAGMA journal_mode = WAL"));
  TRY(mode.step());
  if (mode.text(0) != "wal") {
    return fail("The database {} cannot be written and read at once on this file system. Give a path on a local disk.",
                database.shown());
  }
  mode.reset();
  return database.run(
      "PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST; PRAGMA temp_store = MEMORY;"
      "PRAGMA trusted_schema = OFF; PRAGMA journal_size_limit = 67108864");
}

// What can be moved from the log into the database is moved; a process that still reads the old state keeps the rest
// there.
Result<void> empty_log(SqliteDatabase& database) {
  database.wait_for_others(false);
  const auto busy = database.number("PRAGMA wal_checkpoint(TRUNCATE)");
  database.wait_for_others(true);
  return busy ? Result<void>() : std::unexpected(busy.error());
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path, const JournalHead& head,
                                                       const std::string& vfs) {
  const auto file = TRY(made_file(path));
  auto lock = TRY(WriterLock::take(file));
  auto database = TRY(SqliteDatabase::open(file, SqliteDatabase::Access::writes, vfs));
  const auto fresh = TRY(is_new(*database));
  TRY(settle(*database));
  if (fresh) {
    ::chmod(file.c_str(), S_IRUSR | S_IWUSR);  // an empty one may have been there
    TRY(make_tables(*database, head));
    TRY(empty_log(*database));
  }
  TRY(renew_tables(*database));
  auto payloads = TRY(SqlitePayloads::of(*database));
  auto history = TRY(SqliteHistory::of(*database));
  std::unique_ptr<SqliteStore> store(
      new SqliteStore(std::move(lock), std::move(database), std::move(payloads), std::move(history)));
  TRY(store->prepare());
  return store;
}

Result<void> SqliteStore::prepare() {
  constexpr std::array<std::string_view, number_of_uses> kTexts{
      "BEGIN IMMEDIATE",
      "COMMIT",
      "INSERT INTO batches(number, version, crc, facts) VALUES(?1, ?2, ?3, ?4)",
      "DELETE FROM batches",
      "INSERT OR REPLACE INTO keys(uid, key, job, given, request) VALUES(?1, ?2, ?3, ?4, ?5)",
      "DELETE FROM keys WHERE given < ?1",
      "SELECT job, request FROM keys WHERE uid = ?1 AND key = ?2",
      "INSERT OR REPLACE INTO settings(name, value) VALUES(?1, ?2)",
      "SELECT value FROM settings WHERE name = ?1",
      "SELECT name, value FROM settings WHERE name >= ?1 AND name < ?2 ORDER BY name",
      "DELETE FROM settings WHERE name = ?1",
      "PRAGMA freelist_count",
      "PRAGMA page_size"};
  for (const std::string_view text : kTexts) {
    auto statement = TRY(database_->prepare(text));
    statements_.push_back(std::move(statement));
  }
  head_ = TRY(store::read_head(*database_));
  next_batch_ = TRY(next_batch(*database_));
  const auto there = TRY(database_->number("SELECT coalesce(sum(length(facts)), 0) FROM batches"));
  const auto snapshot = TRY(setting(kSnapshotBytes));
  const auto all = static_cast<std::size_t>(there);
  if (snapshot) snapshot_ = std::min(all, static_cast<std::size_t>(parse_integer(*snapshot).value_or(0)));
  grown_ = all - snapshot_;
  return {};
}

// Takes an error down; whether there was none.
bool SqliteStore::note(const Result<void>& done) {
  if (done) return true;
  error_ = done.error().message;
  database_->leave_as_it_is();
  return false;
}

// Whether something can be written now.
bool SqliteStore::opened() {
  if (!error_.empty()) return false;
  if (!in_transaction_) in_transaction_ = note(statements_[begin].run());
  return in_transaction_;
}

void SqliteStore::append(const FactRef& fact) {
  if (error_.empty()) batch_.append(fact);
}

bool SqliteStore::write_batch(ByteSpan facts) {
  const bool written = note(
      statements_[insert_batch].run(next_batch_, kJournalVersion, std::int64_t{batch_crc(next_batch_, facts)}, facts));
  ++next_batch_;
  grown_ += facts.size();
  return written;
}

Result<void> SqliteStore::commit() {
  if (error_.empty() && (batch_.size() > 0 || in_transaction_) && opened() &&
      (batch_.size() == 0 || write_batch(batch_.bytes())) && note(payloads_.settle())) {
    note(statements_[end].run());
    if (error_.empty() && database_->has_moved()) {
      note(
          fail("The database {} was removed, or another was put in its place, while it was in use. Put it back and "
               "start again.",
               database_->shown()));
    }
  }
  in_transaction_ = false;
  batch_.clear();
  return error_.empty() ? Result<void>() : fail(error_);
}

Result<void> SqliteStore::replay(const FactVisitor& visit) {
  CHECK(batch_.size() == 0, "no batch is open while the journal is replayed");
  if (!error_.empty()) return fail(error_);
  return visit_facts(*database_, visit);
}

Result<void> SqliteStore::compact(const FactSource& snapshot) { return compact(snapshot, JournalHead(head_)); }

Result<void> SqliteStore::compact(const FactSource& snapshot, const JournalHead& head) {
  CHECK(batch_.size() == 0, "no batch is open while the journal is compacted");
  grown_ = 0;
  bool well = opened() && note(statements_[remove_batches].run()) && note(write_head(*database_, head, next_batch_));
  snapshot([&](const FactRef& fact) {
    batch_.append(fact);
    if (batch_.size() < kSnapshotBatch) return;
    well = well && write_batch(batch_.bytes());
    batch_.clear();
  });
  if (!well) batch_.clear();
  const std::size_t bytes = grown_ + batch_.size();
  put_setting(kSnapshotBytes, std::to_string(bytes));
  if (auto done = commit(); !done) return done;
  head_ = head;
  snapshot_ = bytes;
  grown_ = 0;
  const auto moved = empty_log(*database_);
  static_cast<void>(moved);  // the snapshot is durable; what is wrong with the disk the next commit tells
  return {};
}

void SqliteStore::put_payload(JobId job, const Payload& payload) {
  if (opened()) note(payloads_.put(job, payload));
}
void SqliteStore::put_payload_like(JobId job, const std::string& about, JobId other) {
  if (opened()) note(payloads_.put_like(job, about, other));
}
void SqliteStore::put_about(JobId job, const std::string& about) {
  if (opened()) note(payloads_.put_about(job, about));
}
void SqliteStore::drop_payload(JobId job) {
  if (!opened()) return;
  const auto dropped = payloads_.drop(job);
  note(dropped ? Result<void>() : std::unexpected(dropped.error()));
}
Result<std::optional<Payload>> SqliteStore::payload(JobId job) {
  return error_.empty() ? payloads_.get(job) : fail(error_);
}
std::optional<JobId> SqliteStore::drop_ended_payloads(std::uint32_t owner, std::optional<JobId> after, Instant until) {
  if (!opened()) return std::nullopt;
  const auto next = payloads_.drop_ended(owner, after, until);
  return note(next ? Result<void>() : std::unexpected(next.error())) ? *next : std::nullopt;
}
std::int64_t SqliteStore::free_bytes() {
  const auto pages = statements_[count_free].one();
  const auto size = statements_[size_page].one();
  return pages && size ? *pages * *size : 0;
}

Result<void> SqliteStore::abouts(const std::vector<JobId>& jobs,
                                 const std::function<Result<void>(JobId, std::string_view)>& visit) {
  return error_.empty() ? payloads_.abouts(jobs, visit) : fail(error_);
}

void SqliteStore::put_history(const HistoryRow& row) {
  if (!opened()) return;
  const auto bytes = history_.put(row);
  if (note(bytes ? Result<void>() : std::unexpected(bytes.error()))) payloads_.count(row.uid, *bytes);
}
// Few at a time: those that ran much are bounded by what that takes.
std::int64_t SqliteStore::drop_history(Instant until, std::int64_t most) {
  constexpr std::int64_t kFew = 20;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  while (count < most && bytes < SqlitePayloads::kAtOnce && opened()) {
    const auto some = history_.drop(until, std::min(kFew, most - count));
    if (!note(some ? Result<void>() : std::unexpected(some.error()))) break;
    if (some->empty()) break;
    count += static_cast<std::int64_t>(some->size());
    for (const SqliteHistory::Dropped& gone : *some) {
      payloads_.count(gone.uid, -gone.bytes);
      const auto dropped = payloads_.drop(gone.job);
      if (!note(dropped ? Result<void>() : std::unexpected(dropped.error()))) return count;
      bytes += *dropped;
    }
  }
  return count;
}
Result<std::vector<HistoryRow>> SqliteStore::history(const HistoryQuery& query) {
  return error_.empty() ? read_history(*database_, query) : fail(error_);
}
Result<std::vector<HistorySum>> SqliteStore::sums(const HistoryQuery& query, SumBy by) {
  return error_.empty() ? read_sums(*database_, query, by, head_.unix_start) : fail(error_);
}

void SqliteStore::put_key(const std::string& key, std::uint32_t uid, JobId job, Instant given,
                          const std::string& request) {
  if (opened()) note(statements_[insert_key].run(uid, key, job.value, given.time_since_epoch().count(), request));
}
void SqliteStore::drop_keys(Instant until) {
  if (opened()) note(statements_[remove_keys].run(until.time_since_epoch().count()));
}
Result<std::optional<SqliteStore::KeyUse>> SqliteStore::key_use(const std::string& key, std::uint32_t uid) {
  if (!error_.empty()) return fail(error_);
  SqliteStatement& statement = statements_[find_key];
  TRY(statement.start(uid, key));
  const auto found = TRY(statement.step());
  if (!found) return std::nullopt;
  KeyUse use{JobId{static_cast<std::uint32_t>(statement.integer(0))}, std::string(statement.text(1))};
  statement.reset();
  return use;
}
Result<std::optional<JobId>> SqliteStore::key(const std::string& key, std::uint32_t uid) {
  const auto use = TRY(key_use(key, uid));
  return use ? std::optional(use->job) : std::nullopt;
}

void SqliteStore::put_setting(const std::string& name, const std::string& value) {
  if (!opened()) return;
  note(value.empty() ? statements_[remove_setting].run(name) : statements_[insert_setting].run(name, value));
}
Result<std::optional<std::string>> SqliteStore::setting(const std::string& name) {
  if (!error_.empty()) return fail(error_);
  SqliteStatement& statement = statements_[find_setting];
  TRY(statement.start(name));
  const auto found = TRY(statement.step());
  if (!found) return std::nullopt;
  std::string value(statement.text(0));
  statement.reset();
  return value;
}

Result<std::vector<std::pair<std::string, std::string>>> SqliteStore::settings(const std::string& prefix) {
  if (!error_.empty()) return fail(error_);
  CHECK(!prefix.empty(), "names begin somehow");
  std::string behind = prefix;
  ++behind.back();
  SqliteStatement& statement = statements_[find_settings];
  TRY(statement.start(prefix, behind));
  std::vector<std::pair<std::string, std::string>> all;
  for (;;) {
    const auto found = TRY(statement.step());
    if (!found) break;
    all.emplace_back(statement.text(0).substr(prefix.size()), statement.text(1));
  }
  statement.reset();
  return all;
}

}  // namespace rota::store

// The store of a live service: one SQLite database with the journal, and beside it what belongs to the same instants:
// what jobs run, which have left, keys of requests, settings. docs/journal.md has the tables.
//
// All that was put since the last commit() is in the same transaction as the open batch: it becomes durable with it, or
// not at all. It is executed at once inside an open transaction, so that a query in between sees it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/store.h"
#include "store/fact_codec.h"
#include "store/job_history.h"
#include "store/journal_head.h"
#include "store/payload.h"
#include "store/sqlite_history.h"
#include "store/sqlite_payloads.h"
#include "store/sqlite_statement.h"
#include "store/writer_lock.h"

namespace rota::store {

// One writer at a time, held to that by a lock; readers (store/sqlite_reader.h) need none and see the latest commit.
// Not thread-safe.
//
// Costs: append as FactEncoder; commit one write and one sync of the log beside the database (PATH-wal), and now and
// then, after a thousand pages, a move of what is in it into the database. Memory: the open batch and SQLite's cache (2
// MiB).
//
// put_ and drop_ cannot fail. What goes wrong is told by the next commit(), by every one after it, and by every query.
class SqliteStore final : public Store {
 public:
  // The database at this path; where there is none it is made, for its owner only, with this head. Errors are sentences
  // with the path, here and below. `vfs`: as for SqliteDatabase::open.
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& path, const JournalHead& head,
                                                   const std::string& vfs = {});

  void append(const FactRef& fact) override;
  Result<void> commit() override;
  Result<void> replay(const FactVisitor& visit) override;
  // The file does not shrink: its pages are used again. What was put becomes durable too.
  Result<void> compact(const FactSource& snapshot) override;
  // The journal has grown by so much since then that it had better be.
  bool wants_compaction() const { return grown_ > std::max(kMostGrown, 4 * snapshot_); }
  std::uint64_t snapshot_bytes() const { return snapshot_; }  // of the last one; 0: there was none, or it is not known
  // Compacts, and this is the head from now on: of a service that goes on with another policy or cluster file.
  Result<void> compact(const FactSource& snapshot, const JournalHead& head);

  const JournalHead& head() const { return head_; }  // of what is there; not what open() was given, if there was one

  // What a job runs, from put to drop.
  void put_payload(JobId job, const Payload& payload);
  // The same script and environment as another job has: at once, however large they are.
  void put_payload_like(JobId job, const std::string& about, JobId other);
  // What is said of it, in place of what was.
  void put_about(JobId job, const std::string& about);
  void drop_payload(JobId job);
  Result<std::optional<Payload>> payload(JobId job);
  // As SqlitePayloads has them; how many bytes of the file are free, to be used again.
  std::int64_t stored(std::uint32_t owner) const { return payloads_.stored(owner); }
  std::optional<JobId> drop_ended_payloads(std::uint32_t owner, std::optional<JobId> after, Instant until = kNever);
  std::int64_t free_bytes();
  // visit(job, about) for those of these jobs, by id, that have a payload.
  Result<void> abouts(const std::vector<JobId>& jobs,
                      const std::function<Result<void>(JobId, std::string_view)>& visit);

  // Jobs that have left, until they are dropped with all that left before an instant.
  void put_history(const HistoryRow& row);
  // What these ran goes with them. At most so many, and fewer where they ran much, those first that left first; the
  // rest the next time. How many went.
  std::int64_t drop_history(Instant until, std::int64_t most = INT64_MAX);
  Result<std::vector<HistoryRow>> history(const HistoryQuery& query);
  Result<std::vector<HistorySum>> sums(const HistoryQuery& query, SumBy by);

  // Which job a user's request with this key has made, until all keys given before an instant are dropped. Its number
  // can stand for something else where the key says so. `request`: a digest of that request; empty: not known.
  void put_key(const std::string& key, std::uint32_t uid, JobId job, Instant given, const std::string& request = {});
  void drop_keys(Instant until);
  struct KeyUse {
    JobId job;
    std::string request = {};
  };
  Result<std::optional<KeyUse>> key_use(const std::string& key, std::uint32_t uid);
  Result<std::optional<JobId>> key(const std::string& key, std::uint32_t uid);

  // A few texts by name; an empty one is none.
  void put_setting(const std::string& name, const std::string& value);
  Result<std::optional<std::string>> setting(const std::string& name);
  // All whose names begin so: what follows in the name, and the text.
  Result<std::vector<std::pair<std::string, std::string>>> settings(const std::string& prefix);

 private:
  enum Use : std::uint8_t {
    begin,
    end,
    insert_batch,
    remove_batches,
    insert_key,
    remove_keys,
    find_key,
    insert_setting,
    find_setting,
    find_settings,
    remove_setting,
    count_free,
    size_page,
    number_of_uses
  };

  SqliteStore(WriterLock lock, std::unique_ptr<SqliteDatabase> database, SqlitePayloads payloads, SqliteHistory history)
      : lock_(std::move(lock)),
        database_(std::move(database)),
        payloads_(std::move(payloads)),
        history_(std::move(history)) {}
  Result<void> prepare();
  bool opened();
  bool note(const Result<void>& done);
  bool write_batch(ByteSpan facts);

  WriterLock lock_;
  std::unique_ptr<SqliteDatabase> database_;
  SqlitePayloads payloads_;
  SqliteHistory history_;
  std::vector<SqliteStatement> statements_;  // by use
  JournalHead head_;
  FactEncoder batch_;
  std::int64_t next_batch_ = 1;
  static constexpr std::size_t kMostGrown = 16U << 20U;
  std::size_t grown_ = 0;     // bytes of batches since the last snapshot
  std::size_t snapshot_ = 0;  // bytes of that
  bool in_transaction_ = false;
  std::string error_;  // empty: all is well
};

}  // namespace rota::store

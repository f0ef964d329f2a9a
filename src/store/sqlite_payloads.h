// The tables of what jobs run. A script, and an environment, is kept once, however many jobs of a user have it: it is
// found by its SHA-256, and goes with the last job that has it. How many have it is written down once for all that was
// done within a transaction: SQLite writes a row anew as a whole, and the script is in it. And how much is kept for
// each user.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "store/payload.h"
#include "store/sqlite_statement.h"

namespace rota::store {

// Not thread-safe. The database outlives it. Writing is part of whatever transaction is open.
class SqlitePayloads {
 public:
  static Result<SqlitePayloads> of(SqliteDatabase& database);

  // In place of what the job has, if it has any.
  Result<void> put(JobId job, const Payload& payload);
  // The same, with the script and the environment that another one has. How large these are does not matter.
  Result<void> put_like(JobId job, const std::string& about, JobId other);
  // In place of what is said of it alone; nothing to do where the job has nothing.
  Result<void> put_about(JobId job, const std::string& about);
  // Nothing to do where the job has none. Bytes that are let go of with it: much takes time.
  Result<std::int64_t> drop(JobId job);
  static constexpr std::int64_t kAtOnce = 32 << 20;  // so many bytes at a time: some 30 ms
  // To be called before the transaction ends: all of the above is a part of it from then on.
  Result<void> settle();
  // visit(job, about) for those of these jobs, by id, that have something: in one go, and without their contents.
  Result<void> abouts(const std::vector<JobId>& jobs,
                      const std::function<Result<void>(JobId, std::string_view)>& visit);
  // What was read is what was written: a content that its digest does not know is an error.
  Result<std::optional<Payload>> get(JobId job);
  // Bytes of all that is kept of a user's jobs, their rows in the history included. Cost: a look into memory.
  std::int64_t stored(std::uint32_t owner) const;
  // So many more; of others than this class keeps.
  void count(std::int64_t owner, std::int64_t bytes);
  // Drops what a user's jobs ran that have left by an instant, by id, those behind this one: a part of them, bounded in
  // rows and bytes. Behind which one to go on; nothing: there are no more.
  Result<std::optional<JobId>> drop_ended(std::uint32_t owner, std::optional<JobId> after, Instant until);

 private:
  enum Use : std::uint8_t {
    find,
    insert,
    insert_like,
    say,
    remove,
    find_content,
    add_content,
    count_content,
    remove_content,
    list,
    find_about,
    find_stored,
    note_stored,
    list_ended,
    size_content,
    remove_uses,
    number_of_uses
  };

  explicit SqlitePayloads(std::vector<SqliteStatement> statements) : statements_(std::move(statements)) {}
  Result<void> read_stored();
  Result<std::int64_t> add(std::string_view content, std::int64_t owner);
  std::vector<SqliteStatement> statements_;      // by use
  std::map<std::int64_t, std::int64_t> more_;    // by content: so many more jobs have it than its row says
  std::map<std::int64_t, std::int64_t> stored_;  // by user
  std::set<std::int64_t> recounted_;             // users for which the table says something else
};

}  // namespace rota::store

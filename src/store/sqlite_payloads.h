// The tables of what jobs run. A script, and an environment, is kept once, however many jobs have it: it is found by
// its SHA-256, and goes with the last job that has it.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "store/payload.h"
#include "store/sqlite_statement.h"

namespace rota::store {

// Not thread-safe. The database outlives it. Writing is part of whatever transaction is open.
class SqlitePayloads {
 public:
  static Result<SqlitePayloads> of(SqliteDatabase& database);

  // In place of what the job has, if it has any.
  Result<void> put(JobId job, const Payload& payload);
  // Nothing to do where the job has none.
  Result<void> drop(JobId job);
  // visit(job, about) for those of these jobs, by id, that have something: in one go, and without their contents.
  Result<void> abouts(const std::vector<JobId>& jobs,
                      const std::function<Result<void>(JobId, std::string_view)>& visit);
  // What was read is what was written: a content that its digest does not know is an error.
  Result<std::optional<Payload>> get(JobId job);

 private:
  enum Use : std::uint8_t { find, insert, remove, add_content, release, remove_content, list, kUses };

  explicit SqlitePayloads(std::vector<SqliteStatement> statements) : statements_(std::move(statements)) {}
  Result<std::int64_t> add(std::string_view content);
  Result<void> give_up(std::int64_t content);

  std::vector<SqliteStatement> statements_;  // by use
};

}  // namespace rota::store

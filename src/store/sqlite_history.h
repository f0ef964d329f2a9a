// The table of jobs that have left.
#pragma once

#include <vector>

#include "store/job_history.h"
#include "store/sqlite_statement.h"

namespace rota::store {

// Bytes that a row takes, in SQL: it stands in ten indexes, in some of them with its name. About 2,000 with a long
// name.
inline constexpr std::string_view kBytesOfHistory =
    "(1000 + 4 * length(CAST(name AS BLOB)) + length(CAST(reason AS BLOB)) + length(CAST(nodes AS BLOB)) + "
    "length(CAST(asked AS BLOB)))";

// Not thread-safe. The database outlives it. Writing is part of whatever transaction is open.
class SqliteHistory {
 public:
  static Result<SqliteHistory> of(SqliteDatabase& database);

  // A job that is there already is replaced. Bytes that it takes.
  Result<std::int64_t> put(const HistoryRow& row);
  // All that left before, and whose they were.
  struct Dropped {
    JobId job;
    std::int64_t uid;
    std::int64_t bytes;
  };
  Result<std::vector<Dropped>> drop(Instant until, std::int64_t most);

 private:
  SqliteHistory(SqliteStatement put, SqliteStatement drop) : put_(std::move(put)), drop_(std::move(drop)) {}

  SqliteStatement put_;
  SqliteStatement drop_;
};

// Newest number first. Costs: about what is given back, for each of several users, names, partitions or states, or what
// left in a window of at most 20,000 jobs; where that is longer, or other filters are added to a user, a name, a
// partition or a state, a walk through their part of one index; of more than ten words through all of it.
Result<std::vector<HistoryRow>> read_history(SqliteDatabase& database, const HistoryQuery& query);
// By key; the query's page does not count. `unix_start`: of instant 0, for months. Walks through all jobs that suit.
Result<std::vector<HistorySum>> read_sums(SqliteDatabase& database, const HistoryQuery& query, SumBy by,
                                          std::int64_t unix_start);

}  // namespace rota::store

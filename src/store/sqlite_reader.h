// Reads the database of a live service, also while that writes it: as it was at one commit.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "control/store.h"
#include "store/job_history.h"
#include "store/journal_head.h"
#include "store/sqlite_statement.h"

namespace rota::store {

// Whether a file begins as databases of SQLite do. False too where it cannot be read. Not of a database that this
// process has open: the locks on it would be gone.
bool is_database(const std::string& path);

// Not thread-safe. Until it is gone the writer keeps all that it commits in the log beside the database. Changes
// nothing; but SQLite may have to make the files PATH-wal and PATH-shm that it reads by.
class SqliteReader {
 public:
  // Errors are sentences with the path, here and below.
  static Result<SqliteReader> open(const std::string& path);

  const JournalHead& head() const { return head_; }
  Result<void> visit(const FactVisitor& visitor);  // as Store::replay
  Result<std::vector<HistoryRow>> history(const HistoryQuery& query);
  Result<std::int64_t> count_not_ended();  // jobs that wait or run
  Result<std::vector<HistorySum>> sums(const HistoryQuery& query, SumBy by);

 private:
  SqliteReader(std::unique_ptr<SqliteDatabase> database, JournalHead head)
      : database_(std::move(database)), head_(std::move(head)) {}

  std::unique_ptr<SqliteDatabase> database_;
  JournalHead head_;
};

}  // namespace rota::store

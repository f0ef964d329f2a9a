// SQLite's C interface with owners: a database that closes itself, and statements that take values and give rows. Every
// failure is a sentence with the path and the reason. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "store/bytes.h"

struct sqlite3;
struct sqlite3_stmt;

namespace rota::store {

struct SqliteCloser {
  void operator()(sqlite3* database) const;
  void operator()(sqlite3_stmt* statement) const;
};

class SqliteDatabase;

// Belongs to its database, which outlives it. Used in rounds: start with the values, step through the rows.
class SqliteStatement {
 public:
  // Values for the places ?1, ?2, ... in their order. Texts and bytes must live until the next start or reset.
  // No value is NULL.
  template <class... Values>
  Result<void> start(const Values&... values) {
    reset();
    int place = 0;
    const bool bound = (bind(++place, values) && ...);
    return bound ? Result<void>() : failure();
  }
  // The next row; false: there is none, and the statement is over.
  Result<bool> step();
  // All of a statement whose rows are not needed.
  template <class... Values>
  Result<void> run(const Values&... values) {
    auto begun = start(values...);
    return begun ? finish() : begun;
  }
  // The number in the first column of the first row, all rows being gone through; there is one.
  template <class... Values>
  Result<std::int64_t> one(const Values&... values) {
    TRY(start(values...));
    return first_number();
  }
  void reset();
  const std::string& shown() const;  // the path of the database, for messages

  // What is in a column of the row that step gave, until the next step; columns count from 0.
  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  double figure(int column) const;
  std::string_view text(int column) const;
  ByteSpan bytes(int column) const;

 private:
  friend class SqliteDatabase;
  SqliteStatement(SqliteDatabase& database, sqlite3_stmt* statement) : database_(&database), statement_(statement) {}
  bool bind(int place, std::int64_t value);
  bool bind(int place, int value) { return bind(place, std::int64_t{value}); }
  bool bind(int place, std::uint32_t value) { return bind(place, std::int64_t{value}); }
  bool bind(int place, const std::string& text);
  bool bind(int place, ByteSpan bytes);
  bool bind(int place, const std::optional<std::int64_t>& value);
  Result<void> finish();
  Result<std::int64_t> first_number();
  std::unexpected<Error> failure() const;

  SqliteDatabase* database_;
  std::unique_ptr<sqlite3_stmt, SqliteCloser> statement_;
};

// Stays where it is: its statements point to it.
class SqliteDatabase {
 public:
  enum class Access : std::uint8_t {
    writes,
    reads,     // beside a process that writes
    untouched  // no process writes it, and nothing is made beside it: for folders in which we may not write
  };
  // A file that is there. `vfs`: by which of SQLite's ways to the disk; empty: the usual one.
  static Result<std::unique_ptr<SqliteDatabase>> open(const std::string& path, Access access,
                                                      const std::string& vfs = {});
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  Result<void> run(const char* statements);  // one or more, without values
  Result<SqliteStatement> prepare(std::string_view statement);
  // As SqliteStatement::one, of a statement that is asked once.
  Result<std::int64_t> number(std::string_view statement);

  const std::string& shown() const { return shown_; }  // the path for messages
  // What went wrong in the latest call, as a sentence.
  std::unexpected<Error> failure() const;
  // Whether a call waits for a process that has it locked, as it does at first, or fails at once. A reader waits for 5
  // seconds; a writer for half a minute, and reports on standard error that it waits.
  void wait_for_others(bool waits);
  // Whether its file is still the one that has its name: it may have been removed, or another put in its place.
  bool has_moved() const;
  // Closing it leaves all as it is now: nothing is moved from the log of the latest writes into the database.
  void leave_as_it_is();

 private:
  friend class SqliteStatement;
  explicit SqliteDatabase(std::string shown) : shown_(std::move(shown)) {}
  std::unique_ptr<sqlite3, SqliteCloser> database_;
  std::string shown_;
  bool writes_ = false;
};

// A text as its bytes, and back.
inline ByteSpan bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }
inline std::string_view text_of(ByteSpan bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace rota::store

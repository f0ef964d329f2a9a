#include "store/sqlite_tables.h"

#include <fmt/core.h>

#include <libdeflate.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "store/fact_codec.h"
#include "store/sqlite_history.h"

namespace rota::store {
namespace {

constexpr std::int64_t kApplication = 0x526f7461;  // "Rota", in the file's header

constexpr const char* kTables = R"(
CREATE TABLE head(
  one INTEGER PRIMARY KEY CHECK(one = 1),
  text TEXT NOT NULL,
  first_batch INTEGER NOT NULL) STRICT;
CREATE TABLE batches(
  number INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  crc INTEGER NOT NULL,
  facts BLOB NOT NULL) STRICT;
CREATE TABLE contents(
  id INTEGER PRIMARY KEY,
  sha256 BLOB NOT NULL UNIQUE,
  uses INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  owner INTEGER NOT NULL DEFAULT -1) STRICT;
CREATE TABLE payloads(
  job INTEGER PRIMARY KEY,
  about TEXT NOT NULL,
  script INTEGER NOT NULL REFERENCES contents,
  environment INTEGER NOT NULL REFERENCES contents,
  owner INTEGER NOT NULL DEFAULT -1) STRICT;
CREATE INDEX payloads_by_owner ON payloads(owner, job);
CREATE TABLE uses(
  content INTEGER PRIMARY KEY,
  count INTEGER NOT NULL) STRICT;
CREATE TABLE stored(
  owner INTEGER PRIMARY KEY,
  bytes INTEGER NOT NULL) STRICT;
CREATE TABLE history(
  job INTEGER PRIMARY KEY,
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  user TEXT NOT NULL,
  user_group TEXT NOT NULL,
  partition TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  nodes TEXT NOT NULL,
  array INTEGER NOT NULL,
  array_index INTEGER NOT NULL,
  processors INTEGER NOT NULL,
  node_count INTEGER NOT NULL,
  memory INTEGER NOT NULL,
  submitted INTEGER,
  started INTEGER,
  ended INTEGER,
  time_limit INTEGER NOT NULL,
  waited INTEGER NOT NULL,
  exit_code INTEGER NOT NULL,
  signal INTEGER NOT NULL,
  restarts INTEGER NOT NULL,
  uid INTEGER NOT NULL,
  backfills INTEGER NOT NULL,
  preemptions INTEGER NOT NULL,
  asked TEXT NOT NULL,
  cpu_time INTEGER NOT NULL,
  used_in INTEGER NOT NULL,
  peak_memory INTEGER NOT NULL) STRICT;
CREATE INDEX history_by_number ON history(number, ended);
CREATE INDEX history_by_end ON history(ended);
CREATE INDEX history_by_user ON history(user, number, ended);
CREATE INDEX history_by_name ON history(name, number, ended);
CREATE INDEX history_by_partition ON history(partition, number, ended);
CREATE INDEX history_by_state ON history(state, number, ended);
CREATE INDEX history_by_user_and_end ON history(user, ended);
CREATE INDEX history_by_name_and_end ON history(name, ended);
CREATE INDEX history_by_partition_and_end ON history(partition, ended);
CREATE INDEX history_by_state_and_end ON history(state, ended);
CREATE TABLE keys(
  uid INTEGER NOT NULL,
  key TEXT NOT NULL,
  job INTEGER NOT NULL,
  given INTEGER NOT NULL,
  request TEXT NOT NULL DEFAULT '',
  PRIMARY KEY(uid, key)) STRICT, WITHOUT ROWID;
CREATE INDEX keys_by_age ON keys(given);
CREATE TABLE settings(
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE VIEW jobs AS
  WITH zero(at) AS (SELECT coalesce(json_extract(text, '$.unix_start'), 0) FROM head)
  SELECT number, name, user, user_group, partition, state, processors, nodes,
    datetime(submitted / 1000 + zero.at, 'unixepoch') AS submitted,
    datetime(started / 1000 + zero.at, 'unixepoch') AS started,
    datetime(ended / 1000 + zero.at, 'unixepoch') AS ended,
    waited / 1000 AS waited_seconds, exit_code, signal, reason
  FROM history, zero;
)";

}  // namespace

Result<bool> is_new(SqliteDatabase& database) {
  const auto application = TRY(database.number("PRAGMA application_id"));
  const auto version = TRY(database.number("PRAGMA user_version"));
  const auto things = TRY(database.number("SELECT count(*) FROM sqlite_schema"));
  if (application == 0 && version == 0 && things == 0) return true;
  if (application != kApplication) {
    return fail(database.shown() + " is a database of another program. Give another path.");
  }
  if (version > kTablesVersion) {
    return fail("{} is a database of version {}, and this Rota knows versions 1 to {}. Use a newer Rota.",
                database.shown(), version, kTablesVersion);
  }
  if (version >= 1) return false;
  return fail("The database {} does not say its version, so it is damaged. Use a copy of it.", database.shown());
}

Result<void> make_tables(SqliteDatabase& database, const JournalHead& head) {
  if (auto begun = database.run("BEGIN IMMEDIATE"); !begun) return begun;
  if (auto made = database.run(kTables); !made) return made;
  if (auto written = write_head(database, head, 1); !written) return written;
  const std::string marks =
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT", kApplication, kTablesVersion);
  return database.run(marks.c_str());
}

namespace {

// What rows of the history that were written before there was such a column have there.
struct NewColumn {
  const char* name;
  const char* type;
  const char* value;
};
constexpr std::array<NewColumn, 6> kNewColumns{{{"backfills", "INTEGER", "0"},
                                                {"preemptions", "INTEGER", "0"},
                                                {"asked", "TEXT", "''"},
                                                {"cpu_time", "INTEGER", "0"},
                                                {"used_in", "INTEGER", "0"},
                                                {"peak_memory", "INTEGER", "0"}}};

// It is looked: for some time version 1 was written with columns of version 2.
Result<std::vector<NewColumn>> lacking_columns(SqliteDatabase& database) {
  std::vector<NewColumn> lacking;
  for (const NewColumn& column : kNewColumns) {
    const auto found = TRY(database.number(
        fmt::format("SELECT count(*) FROM pragma_table_info('history') WHERE name = '{}'", column.name)));
    if (found == 0) lacking.push_back(column);
  }
  return lacking;
}

// Nothing to do where the table has it.
Result<void> add_column(SqliteDatabase& database, const std::string& table, const std::string& column,
                        const std::string& type) {
  const auto known =
      database.number(fmt::format("SELECT count(*) FROM pragma_table_info('{}') WHERE name = '{}'", table, column));
  if (!known) return std::unexpected(known.error());
  if (*known > 0) return {};
  return database.run((fmt::format("ALTER TABLE {} ADD COLUMN {} {}", table, column, type)).c_str());
}

// Version 4 added what a key's request was, and the history by when jobs left.
Result<void> add_requests_and_ends(SqliteDatabase& database) {
  if (auto added = add_column(database, "keys", "request", "TEXT NOT NULL DEFAULT ''"); !added) return added;
  for (const char* column : {"user", "name", "partition", "state"}) {
    const std::string index =
        fmt::format("CREATE INDEX IF NOT EXISTS history_by_{}_and_end ON history({}, ended)", column, column);
    if (auto made = database.run(index.c_str()); !made) return made;
  }
  return {};
}

// Added up here: SQLite would sort all rows by user first, in memory.
Result<void> count_history(SqliteDatabase& database) {
  auto rows = TRY(database.prepare(fmt::format("SELECT uid, {} FROM history", kBytesOfHistory)));
  if (auto begun = rows.start(); !begun) return begun;
  std::map<std::int64_t, std::int64_t> bytes;
  for (;;) {
    const auto more = TRY(rows.step());
    if (!more) break;
    bytes[rows.integer(0)] += rows.integer(1);
  }
  auto insert = TRY(database.prepare("INSERT OR IGNORE INTO stored(owner, bytes) VALUES(?1, ?2)"));
  for (const auto& [owner, sum] : bytes) {
    if (auto done = insert.run(owner, sum); !done) return done;
  }
  return {};
}

// Version 5 added how many jobs have a content, in a table apart from it; the user of all that is kept, and how much
// each user has. Payloads from before have no owner: to write all of them anew could take more than the disk has.
Result<void> add_owners(SqliteDatabase& database) {
  for (const char* table : {"contents", "payloads"}) {
    if (auto added = add_column(database, table, "owner", "INTEGER NOT NULL DEFAULT -1"); !added) return added;
  }
  const std::string all =
      "CREATE INDEX IF NOT EXISTS payloads_by_owner ON payloads(owner, job);"
      "CREATE TABLE IF NOT EXISTS uses(content INTEGER PRIMARY KEY, count INTEGER NOT NULL) STRICT;"
      "INSERT OR IGNORE INTO uses SELECT id, uses FROM contents;"
      "CREATE TABLE IF NOT EXISTS stored(owner INTEGER PRIMARY KEY, bytes INTEGER NOT NULL) STRICT";
  if (auto made = database.run(all.c_str()); !made) return made;
  return count_history(database);
}

}  // namespace

Result<void> renew_tables(SqliteDatabase& database) {
  const auto version = TRY(database.number("PRAGMA user_version"));
  if (version >= kTablesVersion) return {};
  if (auto begun = database.run("BEGIN IMMEDIATE"); !begun) return begun;
  const auto lacking = TRY(lacking_columns(database));
  for (const NewColumn& column : lacking) {
    const std::string type = fmt::format("{} NOT NULL DEFAULT {}", column.type, column.value);
    if (auto added = add_column(database, "history", column.name, type); !added) return added;
  }
  if (auto added = add_requests_and_ends(database); !added) return added;
  if (auto added = add_owners(database); !added) return added;
  const std::string mark = fmt::format("PRAGMA user_version = {}; COMMIT", kTablesVersion);
  return database.run(mark.c_str());
}

Result<void> show_renewed(SqliteDatabase& database) {
  const auto lacking = TRY(lacking_columns(database));
  if (lacking.empty()) return {};
  std::string view = "PRAGMA temp_store = MEMORY; CREATE TEMP VIEW history AS SELECT *";
  for (const NewColumn& column : lacking)
    view += fmt::format("{}{} AS {}", std::string(", "), column.value, column.name);
  view += " FROM main.history";
  return database.run(view.c_str());
}

Result<void> write_head(SqliteDatabase& database, const JournalHead& head, std::int64_t first_batch) {
  auto statement = database.prepare("INSERT OR REPLACE INTO head(one, text, first_batch) VALUES(1, ?1, ?2)");
  return statement ? statement->run(head_text(head), first_batch) : std::unexpected(statement.error());
}

Result<JournalHead> read_head(SqliteDatabase& database) {
  auto statement = TRY(database.prepare("SELECT text FROM head"));
  const auto found = TRY(statement.step());
  if (!found) return fail("The database {} has lost its head. Use a copy of it.", database.shown());
  auto head = store::read_head(statement.text(0));
  if (head) return head;
  return fail("The head of the database {} cannot be understood. {}", database.shown(), head.error().message);
}

Result<std::int64_t> next_batch(SqliteDatabase& database) {
  return database.number("SELECT max(coalesce((SELECT max(number) + 1 FROM batches), 0), first_batch) FROM head");
}

std::uint32_t batch_crc(std::int64_t number, ByteSpan facts) {
  std::array<std::byte, 8> place;
  put_fixed(place.data(), static_cast<std::uint64_t>(number));
  return libdeflate_crc32(libdeflate_crc32(0, place.data(), place.size()), facts.data(), facts.size());
}

namespace {

Result<void> visit_batch(const std::string& called, const SqliteStatement& row, const FactVisitor& visit) {
  const std::int64_t version = row.integer(1);
  const ByteSpan facts = row.bytes(3);
  if (batch_crc(row.integer(0), facts) != row.integer(2) || version < 1) {
    return fail(called + " is damaged. Use a copy of it.");
  }
  if (version > kJournalVersion) {
    return fail("{} is of version {}, and this Rota knows versions 1 to {}. Use a newer Rota.", called, version,
                kJournalVersion);
  }
  FactDecoder decoder(facts, static_cast<std::uint32_t>(version));
  Fact fact;
  for (;;) {
    const auto more = decoder.next(fact);
    if (!more) return fail("{} is whole and cannot be understood: {}.", called, more.error().message);
    if (!*more) return {};
    if (auto visited = visit(fact); !visited) return visited;
  }
}

}  // namespace

Result<void> visit_facts(SqliteDatabase& database, const FactVisitor& visit) {
  const auto first = TRY(database.number("SELECT first_batch FROM head"));
  auto rows = TRY(database.prepare("SELECT number, version, crc, facts FROM batches ORDER BY number"));
  for (std::int64_t expected = first;; ++expected) {
    const auto more = TRY(rows.step());
    if (!more) return {};
    const std::string of_database = " of the database " + database.shown();
    if (rows.integer(0) != expected) {
      return fail("Batch {}{} is missing. Use a copy of it.", expected, of_database);
    }
    const std::string called = fmt::format("Batch {}{}", expected, of_database);
    if (auto visited = visit_batch(called, rows, visit); !visited) return visited;
  }
}

}  // namespace rota::store

#include "store/sqlite_reader.h"

#include <unistd.h>

#include <array>
#include <utility>

#include "store/locked_file.h"
#include "store/sqlite_history.h"
#include "store/sqlite_tables.h"

namespace rota::store {

bool is_database(const std::string& path) {
  constexpr std::string_view kBegins("SQLite format 3\0", 16);
  auto file = LockedFile::open_to_read(path);
  std::array<std::byte, kBegins.size()> first{};
  return file && file->size() >= first.size() && file->read(0, first) && text_of(first) == kBegins;
}

namespace {

// A database of Rota, in a transaction that sees one commit.
Result<std::unique_ptr<SqliteDatabase>> opened(const std::string& path, SqliteDatabase::Access access) {
  auto database = SqliteDatabase::open(path, access);
  if (!database) return database;
  const auto empty = TRY(is_new(**database));
  if (empty) return fail("The database {} is empty: nothing has been written yet.", (*database)->shown());
  TRY(show_renewed(**database));
  TRY((*database)->run("BEGIN"));
  return database;
}

}  // namespace

Result<SqliteReader> SqliteReader::open(const std::string& path) {
  auto database = opened(path, SqliteDatabase::Access::reads);
  // In a folder in which we may not write, a database that no process writes can be read as it is.
  if (!database && ::access((path + "-wal").c_str(), F_OK) != 0) {
    auto untouched = opened(path, SqliteDatabase::Access::untouched);
    if (untouched) database = std::move(untouched);
  }
  if (!database) return std::unexpected(database.error());
  auto head = TRY(read_head(**database));
  return SqliteReader(std::move(*database), std::move(head));
}

Result<void> SqliteReader::visit(const FactVisitor& visitor) { return visit_facts(*database_, visitor); }

Result<std::vector<HistoryRow>> SqliteReader::history(const HistoryQuery& query) {
  return read_history(*database_, query);
}
Result<std::int64_t> SqliteReader::count_not_ended() {
  return database_->number("SELECT count(*) FROM payloads WHERE job NOT IN (SELECT job FROM history)");
}
Result<std::vector<HistorySum>> SqliteReader::sums(const HistoryQuery& query, SumBy by) {
  return read_sums(*database_, query, by, head_.unix_start);
}

}  // namespace rota::store

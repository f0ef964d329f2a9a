#include "store/sqlite_statement.h"

#include <sqlite3.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "base/file.h"

namespace rota::store {
namespace {

constexpr int kPatience = 5000;  // milliseconds in which another reader of the database ends what it does
constexpr int kLookMilliseconds = 10;
constexpr int kLooksUntilTold = 500;
constexpr int kMostLooks = 3000;  // of the writer: half a minute

// A service had better wait a moment for a user with a shell in its database than end; but meanwhile no request is
// answered and no job starts.
int wait_for_writer(void* shown, int looks) {
  if (looks == kLooksUntilTold) {
    std::fprintf(stderr, "rota: another program keeps the database %s locked; nothing goes on until it lets go.\n",
                 static_cast<const std::string*>(shown)->c_str());
  }
  if (looks >= kMostLooks) return 0;
  sqlite3_sleep(kLookMilliseconds);
  return 1;
}

std::string reason_of(sqlite3* database) {
  const int system = sqlite3_system_errno(database);
  const int code = sqlite3_errcode(database) & 0xff;
  if (system != 0 && (code == SQLITE_IOERR || code == SQLITE_CANTOPEN)) return std::strerror(system);
  return sqlite3_errmsg(database);
}

// A path as the name of a file, whatever is in it.
std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      uri += c == '?' ? "%3f" : c == '#' ? "%23" : "%25";
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

void SqliteCloser::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void SqliteCloser::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void SqliteStatement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

bool SqliteStatement::bind(int place, std::int64_t value) {
  return sqlite3_bind_int64(statement_.get(), place, value) == SQLITE_OK;
}
bool SqliteStatement::bind(int place, const std::string& text) {
  return sqlite3_bind_text64(statement_.get(), place, text.data(), text.size(), nullptr, SQLITE_UTF8) == SQLITE_OK;
}
bool SqliteStatement::bind(int place, ByteSpan bytes) {
  static constexpr std::byte kNothing{};  // a null pointer would be NULL
  const std::byte* data = bytes.empty() ? &kNothing : bytes.data();
  return sqlite3_bind_blob64(statement_.get(), place, data, bytes.size(), nullptr) == SQLITE_OK;
}
bool SqliteStatement::bind(int place, const std::optional<std::int64_t>& value) {
  return value ? bind(place, *value) : sqlite3_bind_null(statement_.get(), place) == SQLITE_OK;
}

Result<bool> SqliteStatement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return failure();
}

Result<void> SqliteStatement::finish() {
  for (;;) {
    const auto more = TRY(step());
    if (!more) break;
  }
  reset();
  return {};
}

Result<std::int64_t> SqliteStatement::first_number() {
  const auto found = TRY(step());
  if (!found) return 0;
  const std::int64_t number = integer(0);
  TRY(finish());
  return number;
}

const std::string& SqliteStatement::shown() const { return database_->shown(); }

std::unexpected<Error> SqliteStatement::failure() const { return database_->failure(); }

bool SqliteStatement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
std::int64_t SqliteStatement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double SqliteStatement::figure(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::string_view SqliteStatement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}
ByteSpan SqliteStatement::bytes(int column) const {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Result<std::unique_ptr<SqliteDatabase>> SqliteDatabase::open(const std::string& path, Access access,
                                                             const std::string& vfs) {
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(shown_path(path)));
  const bool untouched = access == Access::untouched;
  const int how = (access == Access::writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX |
                  SQLITE_OPEN_EXRESCODE | (untouched ? SQLITE_OPEN_URI : 0);
  sqlite3* opened = nullptr;
  // "./" before a name without a folder: it could be one of those that SQLite knows for itself (":memory:")
  const std::string plain = path.starts_with('/') ? path : "./" + path;
  const int code = sqlite3_open_v2(untouched ? uri_of(path).c_str() : plain.c_str(), &opened, how,
                                   vfs.empty() ? nullptr : vfs.c_str());
  database->database_.reset(opened);
  if (opened == nullptr) return fail("Cannot open the database {}: out of memory.", database->shown_);
  if (code != SQLITE_OK) return database->failure();
  database->writes_ = access == Access::writes;
  database->wait_for_others(true);
  return database;
}

Result<void> SqliteDatabase::run(const char* statements) {
  if (sqlite3_exec(database_.get(), statements, nullptr, nullptr, nullptr) != SQLITE_OK) return failure();
  return {};
}

Result<SqliteStatement> SqliteDatabase::prepare(std::string_view statement) {
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(database_.get(), statement.data(), static_cast<int>(statement.size()),
                                      SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  SqliteStatement made(*this, prepared);
  if (code != SQLITE_OK) return failure();
  return made;
}

Result<std::int64_t> SqliteDatabase::number(std::string_view statement) {
  auto made = prepare(statement);
  return made ? made->one() : std::unexpected(made.error());
}

void SqliteDatabase::wait_for_others(bool waits) {
  if (waits && writes_) {
    sqlite3_busy_handler(database_.get(), wait_for_writer, &shown_);
  } else {
    sqlite3_busy_timeout(database_.get(), waits ? kPatience : 0);
  }
}

bool SqliteDatabase::has_moved() const {
  int moved = 0;
  return sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0;
}

void SqliteDatabase::leave_as_it_is() {
  sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

std::unexpected<Error> SqliteDatabase::failure() const {
  sqlite3* const database = database_.get();
  const std::string name = "the database " + shown_;
  switch (sqlite3_errcode(database) & 0xff) {
    case SQLITE_FULL:
      return fail("Cannot write {}: the disk is full. Free some space.", name);
    case SQLITE_NOTADB:
      return fail(shown_ +
                  " is no database, or it is damaged at its beginning. Give another path, or use a copy of it.");
    case SQLITE_CORRUPT:
      return fail("The database {} is damaged ({}). Use a copy of it.", shown_, reason_of(database));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail("Cannot use {}: another program keeps it locked. End that program's work on it.", name);
    case SQLITE_READONLY:
      return fail("Cannot write {}: it may only be read. Check the permissions of the file and its folder.", name);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return fail("Cannot open {}: {}. Check the path, and the permissions of the file and its folder.", name,
                  reason_of(database));
    case SQLITE_TOOBIG:
      return fail("Cannot write {}: one entry is larger than a gigabyte.", name);
    default:
      return fail("Cannot use {}: {}.", name, reason_of(database));
  }
}

}  // namespace rota::store

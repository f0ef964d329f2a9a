#include "store/sqlite_payloads.h"

#include <algorithm>
#include <array>
#include <utility>

#include "store/sha256.h"

namespace rota::store {

Result<SqlitePayloads> SqlitePayloads::of(SqliteDatabase& database) {
  constexpr std::array<std::string_view, kUses> kTexts{
      "SELECT p.about, s.bytes, s.sha256, e.bytes, e.sha256, p.script, p.environment FROM payloads p "
      "LEFT JOIN contents s ON s.id = p.script LEFT JOIN contents e ON e.id = p.environment WHERE p.job = ?1",
      "INSERT INTO payloads(job, about, script, environment) VALUES(?1, ?2, ?3, ?4)",
      "INSERT INTO payloads(job, about, script, environment) "
      "SELECT ?1, ?2, script, environment FROM payloads WHERE job = ?3 RETURNING script, environment",
      "UPDATE payloads SET about = ?2 WHERE job = ?1",
      "DELETE FROM payloads WHERE job = ?1 RETURNING script, environment",
      "SELECT id FROM contents WHERE sha256 = ?1",
      "INSERT INTO contents(sha256, uses, bytes) VALUES(?1, 0, ?2) RETURNING id",
      "UPDATE contents SET uses = uses + ?2 WHERE id = ?1 RETURNING uses",
      "DELETE FROM contents WHERE id = ?1",
      "SELECT job, about FROM payloads WHERE job >= ?1 ORDER BY job"};
  std::vector<SqliteStatement> statements;
  for (const std::string_view text : kTexts) {
    auto statement = database.prepare(text);
    if (!statement) return std::unexpected(statement.error());
    statements.push_back(std::move(*statement));
  }
  return SqlitePayloads(std::move(statements));
}

// The content's id; one job more has it.
Result<std::int64_t> SqlitePayloads::add(std::string_view content) {
  const Sha256 digest = sha256(bytes_of(content));
  auto id = statements_[find_content].one(ByteSpan(digest));
  if (id && *id == 0) id = statements_[add_content].one(ByteSpan(digest), bytes_of(content));
  if (id) ++more_[*id];
  return id;
}

Result<void> SqlitePayloads::settle() {
  for (const auto& [content, more] : std::exchange(more_, {})) {
    const auto uses = statements_[count_content].one(content, more);
    if (!uses) return std::unexpected(uses.error());
    if (*uses > 0) continue;
    if (auto removed = statements_[remove_content].run(content); !removed) return removed;
  }
  return {};
}

Result<void> SqlitePayloads::put(JobId job, const Payload& payload) {
  const auto script = add(payload.script);  // before the old ones go: they may be the same
  if (!script) return std::unexpected(script.error());
  const auto environment = add(payload.environment);
  if (!environment) return std::unexpected(environment.error());
  if (auto dropped = drop(job); !dropped) return dropped;
  return statements_[insert].run(job.value, payload.about, *script, *environment);
}

Result<void> SqlitePayloads::put_like(JobId job, const std::string& about, JobId other) {
  if (auto dropped = drop(job); !dropped) return dropped;
  SqliteStatement& statement = statements_[insert_like];
  if (auto begun = statement.start(job.value, about, other.value); !begun) return begun;
  const auto found = statement.step();
  if (!found) return std::unexpected(found.error());
  if (!*found)
    return fail("The database " + statement.shown() + " has no script of job " + std::to_string(other.value) + ".");
  for (const int column : {0, 1}) ++more_[statement.integer(column)];
  statement.reset();
  return {};
}

Result<void> SqlitePayloads::put_about(JobId job, const std::string& about) {
  return statements_[say].run(job.value, about);
}

Result<void> SqlitePayloads::drop(JobId job) {
  SqliteStatement& statement = statements_[remove];
  if (auto begun = statement.start(job.value); !begun) return begun;
  const auto found = statement.step();
  if (!found) return std::unexpected(found.error());
  if (!*found) return {};
  for (const int column : {0, 1}) --more_[statement.integer(column)];
  statement.reset();
  return {};
}

Result<void> SqlitePayloads::abouts(const std::vector<JobId>& jobs,
                                    const std::function<Result<void>(JobId, std::string_view)>& visit) {
  constexpr int kFew = 64;  // rows that are passed over sooner than one is looked up
  SqliteStatement& rows = statements_[list];
  Result<bool> more = false;
  int passed = kFew;
  for (const JobId job : jobs) {
    while (more && *more && rows.integer(0) < job.value && passed < kFew) {
      more = rows.step();
      ++passed;
    }
    if (passed == kFew) {
      if (auto begun = rows.start(job.value); !begun) return begun;
      more = rows.step();
    }
    passed = 0;
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
    if (rows.integer(0) != job.value) continue;
    if (auto visited = visit(job, rows.text(1)); !visited) return rows.reset(), visited;
  }
  rows.reset();
  return {};
}

Result<std::optional<Payload>> SqlitePayloads::get(JobId job) {
  SqliteStatement& statement = statements_[find];
  if (auto begun = statement.start(job.value); !begun) return std::unexpected(begun.error());
  const auto found = statement.step();
  if (!found) return std::unexpected(found.error());
  if (!*found) return std::nullopt;
  const auto whole = [&](int bytes, int digest) {
    return std::ranges::equal(sha256(statement.bytes(bytes)), statement.bytes(digest));
  };
  if (!whole(1, 2) || !whole(3, 4)) {
    statement.reset();
    return fail("The script or the environment of job " + std::to_string(job.value) + " in the database " +
                statement.shown() + " is damaged. Use a copy of it.");
  }
  Payload payload{.about = std::string(statement.text(0)),
                  .script = std::string(text_of(statement.bytes(1))),
                  .environment = std::string(text_of(statement.bytes(3)))};
  statement.reset();
  return payload;
}

}  // namespace rota::store

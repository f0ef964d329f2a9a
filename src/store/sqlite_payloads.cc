#include "store/sqlite_payloads.h"

#include <algorithm>
#include <array>
#include <utility>

#include "store/sha256.h"
#include "store/sqlite_tables.h"

namespace rota::store {
namespace {

// By which a content is found again, and known to be whole. Users share none: what one keeps would show in what is
// reckoned of another. Where the user is not known, as older versions wrote it, it is that of the bytes alone.
Sha256 digest_of(ByteSpan content, std::int64_t owner) {
  if (owner < 0) return sha256(content);
  const std::string whole = std::to_string(owner) + '\n' + std::string(text_of(content));
  return sha256(ByteSpan(sha256(bytes_of(whole))));  // no text that older versions kept has this digest
}

}  // namespace

Result<SqlitePayloads> SqlitePayloads::of(SqliteDatabase& database) {
  constexpr std::array<std::string_view, number_of_uses> kTexts{
      "SELECT p.about, s.bytes, s.sha256, s.owner, e.bytes, e.sha256, e.owner, p.owner FROM payloads p "
      "LEFT JOIN contents s ON s.id = p.script LEFT JOIN contents e ON e.id = p.environment WHERE p.job = ?1",
      "INSERT INTO payloads(job, about, script, environment, owner) VALUES(?1, ?2, ?3, ?4, ?5)",
      "INSERT INTO payloads(job, about, script, environment, owner) "
      "SELECT ?1, ?2, script, environment, owner FROM payloads WHERE job = ?3 RETURNING script, environment, owner",
      "UPDATE payloads SET about = ?2 WHERE job = ?1",
      "DELETE FROM payloads WHERE job = ?1 RETURNING script, environment, owner, length(CAST(about AS BLOB))",
      "SELECT id FROM contents WHERE sha256 = ?1",
      "INSERT INTO contents(sha256, uses, bytes, owner) VALUES(?1, 0, ?2, ?3) RETURNING id",
      "INSERT INTO uses(content, count) VALUES(?1, ?2) ON CONFLICT(content) DO UPDATE SET count = count + ?2 "
      "RETURNING count",
      "DELETE FROM contents WHERE id = ?1 RETURNING owner, length(bytes)",
      "SELECT job, about FROM payloads WHERE job >= ?1 ORDER BY job",
      "SELECT owner, length(CAST(about AS BLOB)) FROM payloads WHERE job = ?1",
      "SELECT owner, bytes FROM stored",
      "INSERT OR REPLACE INTO stored(owner, bytes) VALUES(?1, ?2)",
      "SELECT p.job, EXISTS(SELECT 1 FROM history h WHERE h.job = p.job AND h.ended <= ?4) "
      "FROM payloads p INDEXED BY payloads_by_owner WHERE p.owner = ?1 AND p.job > ?2 ORDER BY p.job LIMIT ?3",
      "SELECT coalesce(u.count, 0), length(c.bytes) FROM contents c LEFT JOIN uses u ON u.content = c.id WHERE c.id = "
      "?1",
      "DELETE FROM uses WHERE content = ?1"};
  std::vector<SqliteStatement> statements;
  for (const std::string_view text : kTexts) {
    auto statement = TRY(database.prepare(text));
    statements.push_back(std::move(statement));
  }
  SqlitePayloads payloads(std::move(statements));
  TRY(payloads.read_stored());
  return payloads;
}

Result<void> SqlitePayloads::read_stored() {
  SqliteStatement& rows = statements_[find_stored];
  if (auto begun = rows.start(); !begun) return begun;
  for (;;) {
    const auto more = TRY(rows.step());
    if (!more) return {};
    stored_[rows.integer(0)] = rows.integer(1);
  }
}

void SqlitePayloads::count(std::int64_t owner, std::int64_t bytes) {
  if (owner < 0) return;  // from before this was counted
  stored_[owner] += bytes;
  recounted_.insert(owner);
}

std::int64_t SqlitePayloads::stored(std::uint32_t owner) const {
  const auto found = stored_.find(owner);
  return found == stored_.end() ? 0 : found->second;
}

// The content's id; one job more has it.
Result<std::int64_t> SqlitePayloads::add(std::string_view content, std::int64_t owner) {
  const Sha256 digest = digest_of(bytes_of(content), owner);
  auto id = statements_[find_content].one(ByteSpan(digest));
  if (id && *id == 0) {
    id = statements_[add_content].one(ByteSpan(digest), bytes_of(content), owner);
    count(owner, static_cast<std::int64_t>(content.size()));
  }
  if (id) ++more_[*id];
  return id;
}

Result<void> SqlitePayloads::settle() {
  for (const auto& [content, more] : std::exchange(more_, {})) {
    const auto uses = TRY(statements_[count_content].one(content, more));
    if (uses > 0) continue;
    SqliteStatement& removed = statements_[remove_content];
    if (auto begun = removed.start(content); !begun) return begun;
    const auto row = TRY(removed.step());
    if (row) count(removed.integer(0), -removed.integer(1));
    removed.reset();
    if (auto done = statements_[remove_uses].run(content); !done) return done;
  }
  for (const std::int64_t owner : std::exchange(recounted_, {})) {
    if (auto noted = statements_[note_stored].run(owner, stored_[owner]); !noted) return noted;
  }
  return {};
}

Result<void> SqlitePayloads::put(JobId job, const Payload& payload) {
  const auto script = add(payload.script, payload.owner);  // before the old ones go: they may be the same
  if (!script) return std::unexpected(script.error());
  const auto environment = TRY(add(payload.environment, payload.owner));
  TRY(drop(job));
  count(payload.owner, kBytesOfPayload + static_cast<std::int64_t>(payload.about.size()));
  return statements_[insert].run(job.value, payload.about, *script, environment, payload.owner);
}

Result<void> SqlitePayloads::put_like(JobId job, const std::string& about, JobId other) {
  TRY(drop(job));
  SqliteStatement& statement = statements_[insert_like];
  if (auto begun = statement.start(job.value, about, other.value); !begun) return begun;
  const auto found = TRY(statement.step());
  if (!found) return fail("The database {} has no script of job {}.", statement.shown(), other.value);
  for (const int column : {0, 1}) ++more_[statement.integer(column)];
  count(statement.integer(2), kBytesOfPayload + static_cast<std::int64_t>(about.size()));
  statement.reset();
  return {};
}

Result<void> SqlitePayloads::put_about(JobId job, const std::string& about) {
  SqliteStatement& before = statements_[find_about];
  if (auto begun = before.start(job.value); !begun) return begun;
  const auto found = TRY(before.step());
  if (!found) return {};
  count(before.integer(0), static_cast<std::int64_t>(about.size()) - before.integer(1));
  before.reset();
  return statements_[say].run(job.value, about);
}

Result<std::int64_t> SqlitePayloads::drop(JobId job) {
  SqliteStatement& statement = statements_[remove];
  TRY(statement.start(job.value));
  const auto found = TRY(statement.step());
  if (!found) return 0;
  const std::array contents{statement.integer(0), statement.integer(1)};
  std::int64_t bytes = statement.integer(3);
  count(statement.integer(2), -kBytesOfPayload - bytes);
  statement.reset();
  for (const std::int64_t content : contents) {
    --more_[content];
    SqliteStatement& size = statements_[size_content];
    TRY(size.start(content));
    const auto there = TRY(size.step());
    if (there && size.integer(0) + more_[content] <= 0) bytes += size.integer(1);
    size.reset();
  }
  return bytes;
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
    if (auto visited = visit(job, rows.text(1)); !visited) {
      rows.reset();
      return visited;
    }
  }
  rows.reset();
  return {};
}

Result<std::optional<JobId>> SqlitePayloads::drop_ended(std::uint32_t owner, std::optional<JobId> after,
                                                        Instant until) {
  constexpr std::int64_t kRows = 2000;
  SqliteStatement& rows = statements_[list_ended];
  const std::int64_t behind = after ? std::int64_t{after->value} : -1;
  TRY(rows.start(owner, behind, kRows, until.time_since_epoch().count()));
  std::vector<JobId> ended;
  std::int64_t seen = 0;
  for (;; ++seen) {
    const auto more = TRY(rows.step());
    if (!more) break;
    after = JobId{static_cast<std::uint32_t>(rows.integer(0))};
    if (rows.integer(1) != 0) ended.push_back(*after);
  }
  std::int64_t bytes = 0;
  for (const JobId job : ended) {
    const auto dropped = TRY(drop(job));
    bytes += dropped;
    if (bytes < kAtOnce) continue;
    after = job;
    break;
  }
  TRY(settle());
  return seen == kRows || bytes >= kAtOnce ? after : std::nullopt;
}

Result<std::optional<Payload>> SqlitePayloads::get(JobId job) {
  SqliteStatement& statement = statements_[find];
  TRY(statement.start(job.value));
  const auto found = TRY(statement.step());
  if (!found) return std::nullopt;
  constexpr int kScript = 1, kEnvironment = 4, kOwner = 7;  // the first columns
  const auto whole = [&](int at) {
    return std::ranges::equal(digest_of(statement.bytes(at), statement.integer(at + 2)), statement.bytes(at + 1));
  };
  if (!whole(kScript) || !whole(kEnvironment)) {
    statement.reset();
    return fail("The script or the environment of job {} in the database {} is damaged. Use a copy of it.", job.value,
                statement.shown());
  }
  Payload payload{.about = std::string(statement.text(0)),
                  .script = std::string(text_of(statement.bytes(kScript))),
                  .environment = std::string(text_of(statement.bytes(kEnvironment))),
                  .owner = statement.integer(kOwner)};
  statement.reset();
  return payload;
}

}  // namespace rota::store

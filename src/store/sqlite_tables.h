// What is in the database of a live service, and the part of it that is a journal. docs/journal.md has the tables for
// people.
#pragma once

#include "control/store.h"
#include "store/journal_head.h"
#include "store/sqlite_statement.h"

namespace rota::store {

inline constexpr std::int64_t kTablesVersion = 5;
inline constexpr std::int64_t kBytesOfPayload = 200;  // that what a job runs takes beside its texts, about

// Whether there is nothing in it yet. Fails where it is no database of Rota, of a newer version, or damaged.
Result<bool> is_new(SqliteDatabase& database);

// The tables and the head, in a transaction of its own.
Result<void> make_tables(SqliteDatabase& database, const JournalHead& head);

// Tables of an older version, made those of this one in a transaction of its own.
Result<void> renew_tables(SqliteDatabase& database);
// For a reader that may not write: from now on the history looks as in this version, in this connection alone.
Result<void> show_renewed(SqliteDatabase& database);

Result<JournalHead> read_head(SqliteDatabase& database);
// Part of whatever transaction is open. `first_batch`: the number of the first one that follows.
Result<void> write_head(SqliteDatabase& database, const JournalHead& head, std::int64_t first_batch);

// The number of the batch after those that are there.
Result<std::int64_t> next_batch(SqliteDatabase& database);
// The checksum in the row of a batch.
std::uint32_t batch_crc(std::int64_t number, ByteSpan facts);

// As Store::replay.
Result<void> visit_facts(SqliteDatabase& database, const FactVisitor& visit);

}  // namespace rota::store

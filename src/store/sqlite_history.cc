#include "store/sqlite_history.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "store/rare_request_json.h"
#include "store/sha256.h"

namespace rota::store {
namespace {

constexpr std::string_view kColumns =
    "job, number, name, user, user_group, partition, state, reason, nodes, array, array_index, processors, "
    "node_count, memory, submitted, started, ended, time_limit, waited, exit_code, signal, restarts, uid, backfills, "
    "preemptions, asked, cpu_time, used_in, peak_memory";

HistoryRow row_of(const SqliteStatement& found) {
  int column = 0;
  const auto integer = [&] { return found.integer(column++); };
  const auto text = [&] { return std::string(found.text(column++)); };
  const auto instant = [&] {
    const int at = column++;
    return found.is_null(at) ? kNever : Instant{Duration{found.integer(at)}};
  };
  HistoryRow row;
  row.job = JobId{static_cast<std::uint32_t>(integer())};
  row.number = integer();
  row.name = text();
  row.user = text();
  row.group = text();
  row.partition = text();
  row.state = text();
  row.reason = text();
  row.nodes = text();
  row.array = integer();
  row.array_index = integer();
  row.processors = static_cast<std::uint32_t>(integer());
  row.node_count = static_cast<std::uint32_t>(integer());
  row.memory = integer();
  row.submit = instant();
  row.start = instant();
  row.end = instant();
  row.limit = Duration{integer()};
  row.waited = Duration{integer()};
  row.exit_code = static_cast<int>(integer());
  row.signal = static_cast<int>(integer());
  row.restarts = integer();
  row.uid = static_cast<std::uint32_t>(integer());
  row.backfills = integer();
  row.preemptions = integer();
  row.asked = read_asked(text());
  row.used.processors = Duration{integer()};
  row.used.in = Duration{integer()};
  row.used.memory = integer();
  return row;
}

// The column whose index finds the jobs: the one that leaves the fewest, or in whose index they stand in the order in
// which they are wanted and when they left can be seen.
enum class Lead : std::uint8_t { job, number, user, name, partition, state, end };

constexpr std::size_t kMostPages = 10;  // that are put together to one

Lead lead_of(const HistoryQuery& query, bool short_window) {
  const auto can_lead = [](const std::vector<std::string>& words) {
    return !words.empty() && words.size() <= kMostPages;
  };
  if (query.jobs) return Lead::job;
  if (!query.numbers.empty() || query.array > 0) return Lead::number;
  if (can_lead(query.users)) return Lead::user;
  if (can_lead(query.names)) return Lead::name;
  const bool states = can_lead(query.states);
  const bool most = std::ranges::find(query.states, "COMPLETED") != query.states.end();
  if (states && !most) return Lead::state;
  if (query.has_window() && short_window) return Lead::end;
  if (can_lead(query.partitions)) return Lead::partition;
  if (states) return Lead::state;
  return query.before ? Lead::end : Lead::number;
}

// Words as a statement takes them, whatever bytes they have.
std::string literals(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += fmt::format("{}{}' AS TEXT)", text.empty() ? "CAST(x'" : ", CAST(x'",
                        hexadecimal(std::as_bytes(std::span(word))));
  return text;
}

// The places of values in every statement. All mention the last one, so that all places are there.
//   ?1 user  ?2 partition  ?3 name  ?4 state  ?5 from  ?6 until  ?7 before number, or end  ?8 limit
//   ?9 start in Unix time  ?10 before job
std::string where(const HistoryQuery& query, Lead lead) {
  std::string text = " WHERE ?10 IS NOT NULL";
  // "+" keeps a column's index out of the question
  const auto add = [&](Lead column, const std::string& condition) {
    text += lead == column ? " AND " : " AND +";
    text += condition;
  };
  const auto add_one_of = [&](Lead column, const std::string& equals, const std::vector<std::string>& words) {
    if (words.size() == 1) add(column, equals);
    if (words.size() > 1) add(column, fmt::format("{} IN ({})", equals.substr(0, equals.find(' ')), literals(words)));
  };
  add_one_of(Lead::user, "user = ?1", query.users);
  add_one_of(Lead::partition, "partition = ?2", query.partitions);
  add_one_of(Lead::name, "name = ?3", query.names);
  add_one_of(Lead::state, "state = ?4", query.states);
  if (query.ran) text += " AND started IS NOT NULL";
  const Lead end = query.before ? lead : Lead::end;  // by when they left, each index goes on by that
  if (query.from != kEpoch) add(end, "ended >= ?5");
  if (query.until != kNever) add(end, "ended < ?6");
  if (query.jobs)
    add(Lead::job, fmt::format("job BETWEEN {} AND {}", query.jobs->first.value, query.jobs->second.value));
  if (query.array > 0) {
    // Up to the first that is not of this array: the query does not look at all that came later.
    const std::string array = std::to_string(query.array);
    const std::string before = std::to_string(query.before_number);
    text += fmt::format(
        " AND number >= {} AND number < coalesce((SELECT number FROM history WHERE number >= {} AND number < {} AND "
        "+array <> {} ORDER BY number LIMIT 1), {})",
        array, array, before, array, before);
  }
  if (query.numbers.empty()) return text;
  text +=
      query.own.empty() ? " AND (number IN (" : fmt::format(" AND (+user = {} OR +number IN (", literals({query.own}));
  for (const std::int64_t number : query.numbers) text += std::to_string(number) + ",";
  text.back() = ')';
  return text + ")";
}

// Whether so few jobs left in the window that they can be sorted.
Result<bool> is_short(SqliteDatabase& database, const HistoryQuery& query) {
  constexpr std::int64_t kFew = 20'000;
  if (!query.has_window()) return true;
  auto count =
      database.prepare("SELECT count(*) FROM (SELECT 1 FROM history WHERE ended >= ?1 AND ended < ?2 LIMIT ?3)");
  if (!count) return std::unexpected(count.error());
  const auto jobs =
      TRY(count->one(query.from.time_since_epoch().count(), query.until.time_since_epoch().count(), kFew + 1));
  return jobs <= kFew;
}

// The texts that a statement reads while it runs: of one word; several stand in it.
struct Texts {
  explicit Texts(const HistoryQuery& query)
      : user(only(query.users)),
        partition(only(query.partitions)),
        name(only(query.names)),
        state(only(query.states)) {}
  static std::string only(const std::vector<std::string>& words) { return words.empty() ? "" : words.front(); }
  std::string user, partition, name, state;
};

Result<void> start(SqliteStatement& statement, const HistoryQuery& query, const Texts& texts, std::int64_t unix_start) {
  const HistoryPlace before = query.before.value_or(HistoryPlace{});
  const std::int64_t from =
      query.before ? before.end.time_since_epoch().count() : query.after_number.value_or(query.before_number);
  return statement.start(texts.user, texts.partition, texts.name, texts.state, query.from.time_since_epoch().count(),
                         query.until.time_since_epoch().count(), from, query.limit > 0 ? query.limit : std::int64_t{-1},
                         unix_start, before.job.value);
}

// Which page, and in which order.
std::string page_of(const HistoryQuery& query, Lead lead) {
  if (query.before) return " AND (ended, job) < (?7, ?10) ORDER BY ended DESC, job DESC LIMIT ?8";
  const bool up = query.after_number.has_value();
  const bool page = up || query.before_number != INT64_MAX;
  const std::string number = lead == Lead::end || lead == Lead::job ? "+number" : "number";
  return fmt::format("{} ORDER BY {}{}", page ? fmt::format(" AND {}{}", number, up ? " > ?7" : " < ?7") : "", number,
                     up ? " LIMIT ?8" : " DESC LIMIT ?8");
}

}  // namespace

Result<SqliteHistory> SqliteHistory::of(SqliteDatabase& database) {
  std::string places = "?1";
  for (int i = 2; i <= 29; ++i) places += ", ?" + std::to_string(i);
  auto put = TRY(database.prepare(
      fmt::format("INSERT OR REPLACE INTO history({}) VALUES({}) RETURNING {}", kColumns, places, kBytesOfHistory)));
  auto drop = TRY(database.prepare(
      "DELETE FROM history WHERE job IN (SELECT job FROM history WHERE ended < ?1 ORDER BY ended LIMIT ?2) "
      "RETURNING job, uid, " +
      std::string(kBytesOfHistory)));
  return SqliteHistory(std::move(put), std::move(drop));
}

Result<std::int64_t> SqliteHistory::put(const HistoryRow& row) {
  const auto instant = [](Instant at) -> std::optional<std::int64_t> {
    if (at == kNever) return std::nullopt;
    return at.time_since_epoch().count();
  };
  return put_.one(row.job.value, row.number, row.name, row.user, row.group, row.partition, row.state, row.reason,
                  row.nodes, row.array, row.array_index, row.processors, row.node_count, row.memory,
                  instant(row.submit), instant(row.start), instant(row.end), row.limit.count(), row.waited.count(),
                  row.exit_code, row.signal, row.restarts, row.uid, row.backfills, row.preemptions,
                  asked_text(row.asked), row.used.processors.count(), row.used.in.count(), row.used.memory);
}

Result<std::vector<SqliteHistory::Dropped>> SqliteHistory::drop(Instant until, std::int64_t most) {
  TRY(drop_.start(until.time_since_epoch().count(), most));
  std::vector<Dropped> dropped;
  for (;;) {
    const auto more = TRY(drop_.step());
    if (!more) return dropped;
    dropped.push_back({JobId{static_cast<std::uint32_t>(drop_.integer(0))}, drop_.integer(1), drop_.integer(2)});
  }
}

namespace {

// A page for which one index is enough.
Result<std::vector<HistoryRow>> read_page(SqliteDatabase& database, const HistoryQuery& query, Lead lead) {
  auto statement =
      database.prepare(fmt::format("SELECT {} FROM history{}{}", kColumns, where(query, lead), page_of(query, lead)));
  if (!statement) return std::unexpected(statement.error());
  const Texts texts(query);
  TRY(start(*statement, query, texts, 0));
  std::vector<HistoryRow> rows;
  for (;;) {
    const auto more = TRY(statement->step());
    if (!more) return rows;
    rows.push_back(row_of(*statement));
  }
}

// Those whose pages are that of this one together, each in the order of one index: of several words at once SQLite
// would sort all that suit, for each page anew.
std::vector<HistoryQuery> parts_of(const HistoryQuery& query, bool few) {
  HistoryQuery one = query;
  if (!query.numbers.empty() && !query.own.empty()) {
    one.own.clear();
    std::vector<HistoryQuery> parts{one};
    if (!query.users.empty() && std::ranges::find(query.users, query.own) == query.users.end()) return parts;
    one.numbers.clear();
    one.users = {query.own};
    parts.push_back(one);
    return parts;
  }
  const Lead lead = lead_of(query, few);
  const auto words = lead == Lead::user        ? &HistoryQuery::users
                     : lead == Lead::name      ? &HistoryQuery::names
                     : lead == Lead::partition ? &HistoryQuery::partitions
                                               : &HistoryQuery::states;
  if (lead == Lead::job || lead == Lead::number || lead == Lead::end || (query.*words).size() < 2) return {query};
  std::vector<HistoryQuery> parts;
  for (const std::string& word : query.*words) {
    one.*words = {word};
    parts.push_back(one);
  }
  return parts;
}

// Whether one stands before another in a page.
bool is_before(const HistoryQuery& query, const HistoryRow& one, const HistoryRow& other) {
  if (query.before) return std::pair(one.end, one.job) > std::pair(other.end, other.job);
  return query.after_number ? one.number < other.number : one.number > other.number;
}

}  // namespace

Result<std::vector<HistoryRow>> read_history(SqliteDatabase& database, const HistoryQuery& query) {
  const auto few = TRY(is_short(database, query));
  const std::vector<HistoryQuery> parts = parts_of(query, few);
  if (parts.size() == 1) return read_page(database, parts.front(), lead_of(parts.front(), few));
  std::vector<HistoryRow> rows;
  for (const HistoryQuery& part : parts) {
    auto page = read_page(database, part, lead_of(part, few));
    if (!page) return page;
    std::ranges::move(*page, std::back_inserter(rows));
  }
  std::ranges::sort(rows, [&](const auto& one, const auto& other) { return is_before(query, one, other); });
  rows.erase(std::ranges::unique(rows, {}, &HistoryRow::job).begin(), rows.end());
  if (query.limit > 0 && rows.size() > static_cast<std::size_t>(query.limit))
    rows.resize(static_cast<std::size_t>(query.limit));
  return rows;
}

namespace {

// What is added up for one key.
struct Sum {
  std::int64_t jobs = 0;
  std::int64_t failed = 0;
  std::int64_t started = 0;
  double processor_milliseconds = 0;
  double waited = 0;

  // Columns from 1 on: state, processors, from start to end (NULL: never started), waited, and what few jobs have.
  void add(const SqliteStatement& row) {
    const std::string_view state = row.text(1);
    ++jobs;
    failed += state == "COMPLETED" || state == "CANCELLED" ? 0 : 1;
    if (row.is_null(3)) return;
    ++started;
    processor_milliseconds += row.figure(2) * (row.figure(3) + beside(row.text(5)));
    waited += row.figure(4);
  }

 private:
  // Milliseconds that it held its processors beside those from start to end.
  static double beside(std::string_view asked) {
    if (asked.find("\"earlier\"") == std::string_view::npos && asked.find("\"waited_again\"") == std::string_view::npos)
      return 0;
    const RareRequest request = read_asked(asked);
    return static_cast<double>((request.earlier - request.waited_again).count());
  }
};

}  // namespace

Result<std::vector<HistorySum>> read_sums(SqliteDatabase& database, const HistoryQuery& query, SumBy by,
                                          std::int64_t unix_start) {
  const std::string key = by == SumBy::user        ? "user"
                          : by == SumBy::partition ? "partition"
                                                   : "strftime('%Y-%m', ended / 1000 + ?9, 'unixepoch')";
  // Added up here: SQLite would sort all rows by key first.
  auto rows =
      TRY(database.prepare(fmt::format("SELECT {}, state, processors, ended - started, waited, asked FROM history{}",
                                       key, where(query, lead_of(query, true)))));
  const Texts texts(query);
  TRY(start(rows, query, texts, unix_start));
  std::map<std::string, Sum, std::less<>> found;
  for (;;) {
    const auto more = TRY(rows.step());
    if (!more) break;
    auto sum = found.find(rows.text(0));
    if (sum == found.end()) sum = found.emplace(rows.text(0), Sum()).first;
    sum->second.add(rows);
  }
  std::vector<HistorySum> sums;
  for (const auto& [name, sum] : found) {
    const double waited = sum.started > 0 ? sum.waited / static_cast<double>(sum.started) : 0;
    sums.push_back({.key = name,
                    .jobs = sum.jobs,
                    .processor_seconds = sum.processor_milliseconds / 1000,
                    .waited = Duration{static_cast<std::int64_t>(waited)},
                    .failed = sum.failed});
  }
  return sums;
}

}  // namespace rota::store

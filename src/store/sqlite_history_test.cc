#include "store/sqlite_history.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <utility>

#include "base/random.h"
#include "store/sqlite_reader.h"
#include "store/sqlite_store.h"
#include "store/temporary_folder_test.h"

namespace rota::store {
namespace {

constexpr std::int64_t kStart = 1'767'225'600;  // 2026-01-01

std::string one_of(Random& random, std::initializer_list<const char*> names) {
  return names.begin()[random.between(0, static_cast<std::int64_t>(names.size()) - 1)];
}

// Jobs over three months; one in ten was never started.
std::vector<HistoryRow> random_rows(std::size_t count) {
  Random random(5);
  std::vector<HistoryRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    HistoryRow row;
    row.job = JobId{static_cast<std::uint32_t>(i)};
    row.number = 1000 + 2 * static_cast<std::int64_t>(i);
    row.name = one_of(random, {"solve", "mesh", "it's \"quoted\""});
    row.user = one_of(random, {"ada", "bob", "cyd", "dan"});
    row.group = "staff";
    row.partition = one_of(random, {"main", "debug"});
    row.state = one_of(random, {"COMPLETED", "COMPLETED", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"});
    row.reason = "because";
    row.nodes = "n[1-4]";
    row.array = random.between(0, 3);
    row.array_index = random.between(0, 9);
    row.processors = static_cast<std::uint32_t>(random.between(1, 64));
    row.node_count = 4;
    row.memory = std::int64_t{1} << 40;
    row.submit = at_seconds(random.between(0, 80 * 86'400));
    row.waited = seconds(random.between(0, 86'400));
    row.end = row.submit + seconds(random.between(1, 86'400)) + row.waited;
    if (!random.chance(0.1)) row.start = row.submit + row.waited;
    row.limit = seconds(3600);
    row.exit_code = static_cast<int>(random.between(0, 255));
    row.signal = 9;
    row.restarts = 2;
    row.uid = UINT32_MAX;
    row.backfills = random.between(0, 3);
    row.preemptions = random.between(0, 3);
    if (random.chance(0.3)) {
      row.asked = {.priority = -3, .accelerators = 2, .accelerator_type = "a100", .licence = "it's", .licences = 4};
      row.asked.requeue = true;
      row.asked.checkpoint = random.chance(0.5);
      row.asked.after = {"afterok:12:13_4", "singleton"};
      row.asked.throttle = 7;
      row.asked.not_before = row.submit + seconds(5);
      row.asked.suspended = seconds(7);
      row.asked.earlier = seconds(11);
      if (random.chance(0.5)) row.asked.waited_again = seconds(3);
      if (random.chance(0.5)) row.asked.grace = {seconds(4), "run-on", "it's so"};
    }
    if (row.start != kNever) row.used = {seconds(random.between(0, 3600)), seconds(1800), std::int64_t{1} << 40};
    rows.push_back(row);
  }
  return rows;
}

bool suits(const HistoryRow& row, const HistoryQuery& query) {
  const auto is = [](const std::vector<std::string>& wanted, const std::string& text) {
    return wanted.empty() || std::ranges::find(wanted, text) != wanted.end();
  };
  if (query.jobs && (row.job < query.jobs->first || query.jobs->second < row.job)) return false;
  return is(query.users, row.user) && is(query.partitions, row.partition) && is(query.names, row.name) &&
         is(query.states, row.state) && (!query.ran || row.start != kNever) && row.end >= query.from &&
         row.end < query.until &&
         (query.numbers.empty() || row.user == query.own ||
          std::ranges::find(query.numbers, row.number) != query.numbers.end());
}

HistoryQuery random_query(Random& random) {
  HistoryQuery query;
  const auto words = [&](std::vector<std::string>& into, double chance, std::initializer_list<const char*> of) {
    if (random.chance(chance)) into.emplace_back(one_of(random, of));
    if (!into.empty() && random.chance(0.3)) into.emplace_back(one_of(random, of));
    if (into.size() == 2 && random.chance(0.2)) into.resize(12, "nobody's");  // more than pages are put together
  };
  words(query.users, 0.4, {"ada", "bob", "eve"});
  words(query.partitions, 0.3, {"main", "debug"});
  words(query.names, 0.3, {"solve", "it's \"quoted\"", "not \xff UTF-8"});
  if (random.chance(0.4)) query.states = {one_of(random, {"COMPLETED", "FAILED"})};
  if (random.chance(0.2)) query.states = {"FAILED", one_of(random, {"COMPLETED", "TIMEOUT", "it's \"odd\""})};
  query.ran = random.chance(0.2);
  if (random.chance(0.3)) query.from = at_seconds(random.between(0, 80 * 86'400));
  if (random.chance(0.3)) query.until = at_seconds(random.between(0, 90 * 86'400));
  if (random.chance(0.2)) {
    const auto first = static_cast<std::uint32_t>(random.between(0, 300));
    query.jobs = {JobId{first}, JobId{first + static_cast<std::uint32_t>(random.between(0, 300))}};
  }
  if (random.chance(0.2)) query.numbers = {1000, 1001, 1100, 1404};
  if (!query.numbers.empty() && random.chance(0.5)) query.own = one_of(random, {"ada", "bob", "eve"});
  if (random.chance(0.3)) query.before_number = random.between(900, 2500);
  if (random.chance(0.5)) query.limit = random.between(1, 20);
  return query;
}

std::map<std::string, std::vector<HistoryRow>> parted(const std::vector<HistoryRow>& rows, const HistoryQuery& query,
                                                      SumBy by) {
  std::map<std::string, std::vector<HistoryRow>> parts;
  for (const HistoryRow& row : rows) {
    if (!suits(row, query)) continue;
    const auto days = row.end.time_since_epoch().count() / 86'400'000;
    const std::string month = days < 31 ? "2026-01" : days < 59 ? "2026-02" : days < 90 ? "2026-03" : "2026-04";
    parts[by == SumBy::user ? row.user : by == SumBy::partition ? row.partition : month].push_back(row);
  }
  return parts;
}

HistorySum sum_of(const std::string& key, const std::vector<HistoryRow>& rows) {
  HistorySum sum{.key = key, .jobs = static_cast<std::int64_t>(rows.size())};
  std::int64_t started = 0;
  Duration waited{0};
  for (const HistoryRow& row : rows) {
    sum.failed += row.state == "FAILED" || row.state == "TIMEOUT" ? 1 : 0;
    if (row.start == kNever) continue;
    ++started;
    waited += row.waited;
    sum.processor_seconds +=
        row.processors * to_seconds(row.end - row.start + row.asked.earlier - row.asked.waited_again);
  }
  if (started > 0) sum.waited = waited / started;
  return sum;
}

class SqliteHistoryTest : public testing::Test {
 protected:
  SqliteHistoryTest() : rows_(random_rows(700)) {
    for (const HistoryRow& row : rows_) store_->put_history(row);
    EXPECT_TRUE(store_->commit());
    std::ranges::reverse(rows_);
  }

  TemporaryFolder folder_;
  std::unique_ptr<SqliteStore> store_ =
      std::move(SqliteStore::open(folder_ / "state.db", {.unix_start = kStart}).value());
  std::vector<HistoryRow> rows_;  // newest first
};

TEST_F(SqliteHistoryTest, gives_what_suits_newest_first_a_page_at_a_time) {
  EXPECT_EQ(store_->history({}).value(), rows_);
  Random random(6);
  for (int i = 0; i < 400; ++i) {
    const HistoryQuery query = random_query(random);
    std::vector<HistoryRow> wanted;
    for (const HistoryRow& row : rows_) {
      const bool full = query.limit > 0 && wanted.size() == static_cast<std::size_t>(query.limit);
      if (!full && row.number < query.before_number && suits(row, query)) wanted.push_back(row);
    }
    ASSERT_EQ(store_->history(query).value(), wanted) << i;
  }
}

TEST_F(SqliteHistoryTest, gives_pages_the_other_way_round_too) {
  Random random(8);
  for (int i = 0; i < 200; ++i) {
    HistoryQuery query = random_query(random);
    query.after_number = random.between(0, 2500);
    std::vector<HistoryRow> wanted;
    for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
      const bool full = query.limit > 0 && wanted.size() == static_cast<std::size_t>(query.limit);
      if (!full && row->number > *query.after_number && suits(*row, query)) wanted.push_back(*row);
    }
    ASSERT_EQ(store_->history(query).value(), wanted) << i;
  }
}

TEST_F(SqliteHistoryTest, gives_those_that_left_last_first_a_page_at_a_time) {
  Random random(9);
  for (int i = 0; i < 300; ++i) {
    HistoryQuery query = random_query(random);
    query.before.emplace();
    query.before_number = INT64_MAX;
    std::vector<HistoryRow> wanted;
    std::ranges::copy_if(rows_, std::back_inserter(wanted), [&](const HistoryRow& row) { return suits(row, query); });
    std::ranges::sort(wanted, std::greater{}, [](const HistoryRow& row) { return std::pair(row.end, row.job); });
    std::vector<HistoryRow> found;
    for (;;) {
      const auto page = store_->history(query).value();
      found.insert(found.end(), page.begin(), page.end());
      if (query.limit == 0 || page.size() < static_cast<std::size_t>(query.limit)) break;
      query.before = {page.back().end, page.back().job};
    }
    ASSERT_EQ(found, wanted) << i;
  }
}

TEST_F(SqliteHistoryTest, that_left_last_are_found_by_an_index) {
  auto database = SqliteDatabase::open(folder_ / "state.db", SqliteDatabase::Access::reads);
  for (const char* column : {"user", "name", "partition", "state"}) {
    const std::string by = fmt::format(
        "EXPLAIN QUERY PLAN SELECT * FROM history WHERE {} = 'x' ORDER BY ended DESC, job DESC LIMIT 9", column);
    auto plan = (*database)->prepare(by);
    ASSERT_TRUE(plan && plan->step().value());
    EXPECT_NE(std::string(plan->text(3)).find(fmt::format("history_by_{}_and_end", column)), std::string::npos);
  }
}

TEST_F(SqliteHistoryTest, adds_up_by_user_partition_and_month) {
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    const HistoryQuery query = random_query(random);
    for (const SumBy by : {SumBy::user, SumBy::partition, SumBy::month}) {
      std::vector<HistorySum> wanted;
      for (const auto& [key, rows] : parted(rows_, query, by)) wanted.push_back(sum_of(key, rows));
      ASSERT_EQ(store_->sums(query, by).value(), wanted) << i;
    }
  }
}

TEST_F(SqliteHistoryTest, what_left_long_ago_can_be_dropped) {
  const Instant until = at_seconds(40 * 86'400);
  store_->drop_history(until);
  ASSERT_TRUE(store_->commit());
  std::erase_if(rows_, [&](const HistoryRow& row) { return row.end < until; });
  EXPECT_EQ(store_->history({}).value(), rows_);
  store_->put_history({.job = rows_.front().job, .number = 1, .name = "again"});
  EXPECT_EQ(store_->history({.names = {"again"}}).value().size(), 1U);
  EXPECT_EQ(store_->history({}).value().size(), rows_.size()) << "a row a job";
}

TEST_F(SqliteHistoryTest, is_dropped_a_little_at_a_time_with_what_jobs_ran) {
  for (const HistoryRow& row : rows_) store_->put_payload(row.job, {"{}", "#!/bin/sh", ""});
  const Instant until = at_seconds(40 * 86'400);
  std::ranges::sort(rows_, [](const auto& a, const auto& b) { return a.end < b.end; });
  ASSERT_LT(rows_[6].end, until);
  ASSERT_LT(rows_[6].end, rows_[7].end);
  EXPECT_EQ(store_->drop_history(until, 7), 7);
  ASSERT_TRUE(store_->commit());
  EXPECT_EQ(store_->history({}).value().size(), rows_.size() - 7);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    EXPECT_EQ(store_->payload(rows_[i].job).value().has_value(), i >= 7) << i;
  }
  const auto rest = std::ranges::count_if(rows_, [&](const HistoryRow& row) { return row.end < until; }) - 7;
  EXPECT_EQ(store_->drop_history(until), rest);
  EXPECT_EQ(store_->drop_history(until), 0);
}

// As version 1 was at first.
constexpr const char* kOldHistory =
    "DROP VIEW jobs; DROP TABLE history; CREATE TABLE history(job INTEGER PRIMARY KEY, number INTEGER NOT NULL,"
    "name TEXT NOT NULL, user TEXT NOT NULL, user_group TEXT NOT NULL, partition TEXT NOT NULL, state TEXT NOT NULL,"
    "reason TEXT NOT NULL, nodes TEXT NOT NULL, array INTEGER NOT NULL, array_index INTEGER NOT NULL,"
    "processors INTEGER NOT NULL, node_count INTEGER NOT NULL, memory INTEGER NOT NULL, submitted INTEGER,"
    "started INTEGER, ended INTEGER, time_limit INTEGER NOT NULL, waited INTEGER NOT NULL, exit_code INTEGER NOT NULL,"
    "signal INTEGER NOT NULL, restarts INTEGER NOT NULL, uid INTEGER NOT NULL) STRICT;"
    "INSERT INTO history VALUES(0, 1, 'old', 'ada', 'staff', 'main', 'COMPLETED', '', 'n1', 0, -1, 2, 1, 0, 0, 1000,"
    "61000, 60000, 1000, 0, 0, 0, 7); PRAGMA user_version = 1";

TEST_F(SqliteHistoryTest, of_an_older_version_is_read_and_goes_on) {
  store_.reset();
  const std::string path = folder_ / "state.db";
  ASSERT_TRUE((*SqliteDatabase::open(path, SqliteDatabase::Access::writes))->run(kOldHistory));
  const auto first = [](const auto& rows) { return rows && !rows->empty() ? rows->front() : HistoryRow{}; };
  EXPECT_EQ(first(SqliteReader::open(path)->history({})).name, "old");
  for (const int times : {1, 2}) {
    auto store = SqliteStore::open(path, {.unix_start = kStart});
    ASSERT_TRUE(store) << store.error().message;
    const HistoryRow old = first((*store)->history({.numbers = {1}}));
    EXPECT_EQ(old.end, at_seconds(61)) << times;
    EXPECT_EQ(old.asked, RareRequest{});
    EXPECT_EQ(old.used, JobUse{});
    (*store)->put_history(rows_.front());
    ASSERT_TRUE((*store)->commit());
    EXPECT_EQ(first((*store)->history({})), rows_.front());
  }
  EXPECT_EQ(first(SqliteReader::open(path)->history({})), rows_.front());
}

TEST_F(SqliteHistoryTest, that_does_not_know_what_jobs_used_is_read_and_goes_on) {
  ASSERT_TRUE(store_->commit());
  store_.reset();
  const std::string path = folder_ / "state.db";
  constexpr const char* kVersion2 =
      "ALTER TABLE history DROP COLUMN cpu_time; ALTER TABLE history DROP COLUMN used_in;"
      "ALTER TABLE history DROP COLUMN peak_memory; PRAGMA user_version = 2";
  ASSERT_TRUE((*SqliteDatabase::open(path, SqliteDatabase::Access::writes))->run(kVersion2));
  for (HistoryRow& row : rows_) row.used = {};
  EXPECT_EQ(SqliteReader::open(path)->history({}).value(), rows_);
  auto store = SqliteStore::open(path, {.unix_start = kStart});
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->history({}).value(), rows_);
  rows_.front().used = {seconds(1), seconds(2), 3};
  (*store)->put_history(rows_.front());
  EXPECT_EQ((*store)->history({}).value(), rows_);
}

TEST_F(SqliteHistoryTest, with_all_columns_can_say_that_it_is_of_an_older_version) {
  store_.reset();
  const std::string path = folder_ / "state.db";
  ASSERT_TRUE((*SqliteDatabase::open(path, SqliteDatabase::Access::writes))->run("PRAGMA user_version = 1"));
  auto store = SqliteStore::open(path, {.unix_start = kStart});
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ((*store)->history({}).value(), rows_);
}

TEST_F(SqliteHistoryTest, can_be_read_by_people) {
  ASSERT_TRUE(store_->commit());
  const auto database = SqliteDatabase::open(folder_ / "state.db", SqliteDatabase::Access::reads);
  auto jobs = (*database)->prepare("SELECT number, ended, started FROM jobs ORDER BY number LIMIT 1");
  ASSERT_TRUE(jobs && jobs->step().value());
  EXPECT_EQ(jobs->integer(0), 1000);
  EXPECT_EQ(jobs->text(1).substr(0, 5), "2026-");
}

TEST(SqliteHistoryOfArrays, finds_the_tasks_that_have_left) {
  const TemporaryFolder folder;
  auto store = SqliteStore::open(folder / "state.db", {.unix_start = kStart});
  ASSERT_TRUE(store) << store.error().message;
  // An array of tasks 3 to 7, of which 5 has not left; a job before it and one behind, and another array.
  for (const auto& [number, array] : {std::pair{2, 0}, {3, 3}, {4, 3}, {6, 3}, {7, 3}, {8, 0}, {9, 9}, {10, 9}}) {
    HistoryRow row;
    row.job = JobId{static_cast<std::uint32_t>(number - 1)};
    row.number = number;
    row.array = array;
    row.end = at_seconds(number);
    (*store)->put_history(row);
  }
  ASSERT_TRUE((*store)->commit());
  const auto numbers = [&](std::int64_t array, std::int64_t before = INT64_MAX) {
    HistoryQuery query;
    query.array = array;
    query.before_number = before;
    std::vector<std::int64_t> found;
    const auto rows = (*store)->history(query).value();
    for (const HistoryRow& row : rows) found.push_back(row.number);
    std::ranges::sort(found);
    return found;
  };
  EXPECT_EQ(numbers(3), (std::vector<std::int64_t>{3, 4, 6, 7}));
  EXPECT_EQ(numbers(9), (std::vector<std::int64_t>{9, 10}));
  EXPECT_EQ(numbers(3, 6), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(numbers(3, 9), (std::vector<std::int64_t>{3, 4, 6, 7}));
  for (const std::int64_t none : {1, 2, 4, 8, 10, 11}) EXPECT_EQ(numbers(none), std::vector<std::int64_t>{}) << none;
}

}  // namespace
}  // namespace rota::store

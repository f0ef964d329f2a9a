#include "store/sqlite_store.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "store/random_facts_test.h"
#include "store/replayed_test.h"
#include "store/sqlite_reader.h"
#include "store/temporary_folder_test.h"

namespace rota::store {
namespace {

namespace fs = std::filesystem;

const JournalHead kHead{.rota = "1.0.0", .policy = "easy", .processors = 8};

class SqliteStoreTest : public testing::Test {
 protected:
  std::unique_ptr<SqliteStore> opened(const JournalHead& head = kHead) const {
    auto store = SqliteStore::open(path_, head);
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
  }
  std::string refusal() const {
    const auto store = SqliteStore::open(path_, kHead);
    return store ? "none" : store.error().message;
  }
  // Does something to the database that Rota would not do.
  void meddle(const char* statements) const {
    const auto database = SqliteDatabase::open(path_, SqliteDatabase::Access::writes);
    const auto done = (*database)->run(statements);
    ASSERT_TRUE(done) << done.error().message;
  }
  std::int64_t number(const char* statement) const {
    const auto database = SqliteDatabase::open(path_, SqliteDatabase::Access::reads);
    const auto found = (*database)->number(statement);
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(-1);
  }
  std::vector<Fact> read() const {
    auto reader = SqliteReader::open(path_);
    EXPECT_TRUE(reader) << reader.error().message;
    return all_of([&](const FactVisitor& visit) { return reader->visit(visit); });
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "state.db";
};

TEST_F(SqliteStoreTest, is_for_its_owner_only_and_can_be_read_while_it_is_written) {
  const auto facts = random_facts(60, 1);
  const auto store = opened();
  for (const char* name : {"state.db", "state.db-wal", "state.db-shm", "state.db.lock"}) {
    EXPECT_EQ(fs::status(folder_ / name).permissions(), fs::perms::owner_read | fs::perms::owner_write) << name;
  }
  append(*store, facts);
  EXPECT_TRUE(read().empty());
  ASSERT_TRUE(store->commit());
  auto reader = SqliteReader::open(path_);
  EXPECT_EQ(reader->head(), kHead);
  append(*store, facts);
  ASSERT_TRUE(store->commit());
  ASSERT_TRUE(store->compact(snapshot_of({})));
  EXPECT_TRUE(same_facts(all_of([&](const FactVisitor& visit) { return reader->visit(visit); }), facts))
      << "as it was at one commit";
  EXPECT_TRUE(read().empty());
}

TEST_F(SqliteStoreTest, has_one_writer_at_a_time) {
  const std::string busy = fmt::format(
      "The database {}/state.db is in use by a service that runs already, process {}; `rota stop` ends it, with "
      "--socket where it was started with one.",
      fs::canonical(folder_.path()).string(), ::getpid());
  auto store = opened();
  EXPECT_EQ(refusal(), busy);
  fs::create_symlink("state.db", folder_ / "link.db");
  EXPECT_EQ(SqliteStore::open(folder_ / "link.db", kHead).error().message, busy);
  store.reset();
  EXPECT_EQ(refusal(), "none");
}

TEST_F(SqliteStoreTest, waits_a_moment_for_the_child_of_a_writer_that_was_killed) {
  opened();
  const fs::path path = folder_ / "state.db.lock";
  std::ofstream(path) << 1;
  const int held = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX | LOCK_NB), 0);
  const int watch = ::inotify_init1(IN_CLOEXEC);
  ::inotify_add_watch(watch, path.c_str(), IN_ACCESS);
  const pid_t child = ::fork();
  if (child == 0) {  // until a process that was kept out looks which one has it
    std::array<char, 256> event{};
    ::_exit(::read(watch, event.data(), event.size()) > 0 ? 0 : 1);
  }
  ::close(watch);
  ::close(held);
  EXPECT_EQ(refusal(), "none");
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST_F(SqliteStoreTest, leaves_alone_what_is_no_database_of_its_own) {
  std::ofstream(path_) << "rota-journal 1 2 00000000\n{}\n and a little more, so that it could be one";
  const std::string text = read_file(path_).value();
  EXPECT_TRUE(
      refusal().ends_with("is no database, or it is damaged at its beginning. Give another path, or use a copy "
                          "of it."));
  EXPECT_EQ(read_file(path_).value(), text);
  EXPECT_FALSE(is_database(path_));
  fs::remove(path_);
  std::ofstream{path_};
  meddle("CREATE TABLE recipes(name)");
  EXPECT_TRUE(refusal().ends_with("/state.db is a database of another program. Give another path.")) << refusal();
  EXPECT_EQ(number("SELECT count(*) FROM sqlite_schema"), 1);
  EXPECT_FALSE(SqliteStore::open("", kHead));
  EXPECT_FALSE(SqliteStore::open(folder_ / "no/state.db", kHead));
  EXPECT_TRUE(SqliteStore::open(folder_.path(), kHead)
                  .error()
                  .message.ends_with("is not a regular file. Give another "
                                     "path."));
}

TEST_F(SqliteStoreTest, is_known_by_how_it_begins) {
  EXPECT_FALSE(is_database(path_));
  opened();
  EXPECT_TRUE(is_database(path_));
  EXPECT_FALSE(is_database(folder_.path()));
}

TEST_F(SqliteStoreTest, takes_an_empty_file_for_a_new_one) {
  std::ofstream{path_};
  EXPECT_EQ(opened()->head(), kHead);
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(opened({.policy = "fcfs"})->head(), kHead);
}

TEST_F(SqliteStoreTest, gives_all_settings_whose_names_begin_alike) {
  const auto store = opened();
  for (const char* name : {"message 12", "messages", "message 3", "message", "node a"}) store->put_setting(name, name);
  using Named = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(store->settings("message ").value(), (Named{{"12", "message 12"}, {"3", "message 3"}}));
  store->put_setting("message 3", "");
  EXPECT_EQ(store->settings("message ").value(), (Named{{"12", "message 12"}}));
  EXPECT_EQ(store->settings("nobody").value(), Named());
}

TEST_F(SqliteStoreTest, refuses_what_is_newer) {
  opened();
  meddle("PRAGMA user_version = 6");
  EXPECT_TRUE(
      refusal().ends_with("/state.db is a database of version 6, and this Rota knows versions 1 to 5. Use a "
                          "newer Rota."))
      << refusal();
  EXPECT_FALSE(SqliteReader::open(path_));
}

TEST_F(SqliteStoreTest, tells_which_batch_is_damaged) {
  const auto facts = random_facts(40, 2);
  auto store = opened();
  for (std::size_t i = 0; i < facts.size(); i += 10) {
    append(*store, std::span(facts).subspan(i, 10));
    ASSERT_TRUE(store->commit());
  }
  store.reset();
  const auto told = [&] {
    std::size_t visits = 0;
    const auto replayed = opened()->replay([&](const Fact& fact) -> Result<void> {
      EXPECT_TRUE(same_fact(fact, facts[visits++]));
      return {};
    });
    return fmt::format("{} {}", visits, replayed ? "" : replayed.error().message);
  };
  const std::string whole = read_file(path_).value();
  const std::string database = " of the database " + fs::canonical(path_).string();
  meddle("UPDATE batches SET facts = substr(facts, 1, length(facts) - 1) WHERE number = 3");
  EXPECT_EQ(told(), fmt::format("20 Batch 3{} is damaged. Use a copy of it.", database));
  meddle(
      "UPDATE batches SET facts = (SELECT facts FROM batches WHERE number = 1), crc = (SELECT crc FROM batches "
      "WHERE number = 1) WHERE number = 3");
  EXPECT_EQ(told(), fmt::format("20 Batch 3{} is damaged. Use a copy of it.", database));
  meddle("DELETE FROM batches WHERE number = 2");
  EXPECT_EQ(told(), fmt::format("10 Batch 2{} is missing. Use a copy of it.", database));
  meddle("DELETE FROM batches WHERE number = 1");
  EXPECT_EQ(told(), fmt::format("0 Batch 1{} is missing. Use a copy of it.", database));
  std::ofstream(path_) << whole;
  meddle("UPDATE batches SET version = 99 WHERE number = 4");
  EXPECT_EQ(told(),
            fmt::format("30 Batch 4{} is of version 99, and this Rota knows versions 1 to {}. Use a newer Rota.",
                        database, kJournalVersion));
}

TEST_F(SqliteStoreTest, tells_of_pages_that_are_damaged) {
  auto store = opened();
  for (int i = 0; i < 50; ++i) {
    append(*store, random_facts(50, 3));
    ASSERT_TRUE(store->commit());
  }
  store.reset();
  {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(0, std::ios::end);
    const auto end = static_cast<std::int64_t>(file.tellp());
    for (std::int64_t page = 30; page < end / 4096; ++page) {
      file.seekp(page * 4096);
      file << std::string(16, '\xff');
    }
  }
  const auto reopened = SqliteStore::open(path_, kHead);
  const auto told =
      reopened ? (*reopened)->replay([](const Fact&) { return Result<void>(); }) : std::unexpected(reopened.error());
  ASSERT_FALSE(told);
  EXPECT_TRUE(told.error().message.ends_with(". Use a copy of it.")) << told.error().message;
}

TEST_F(SqliteStoreTest, puts_become_durable_together_with_the_facts) {
  const auto facts = random_facts(3, 4);
  auto store = opened();
  append(*store, facts);
  store->put_setting("a", "1");
  store->put_payload(JobId{1}, {"{}", "true", ""});
  store->put_key("again", 7, JobId{1}, at_seconds(5));
  store->put_history({.job = JobId{1}, .number = 10});
  EXPECT_EQ(*store->setting("a").value(), "1") << "seen before it is durable";
  EXPECT_EQ(store->payload(JobId{1}).value()->script, "true");
  EXPECT_EQ(store->history({}).value().size(), 1U);
  store.reset();
  store = opened();
  EXPECT_TRUE(replayed(*store).empty());
  EXPECT_FALSE(store->setting("a").value());
  EXPECT_FALSE(store->payload(JobId{1}).value());
  EXPECT_FALSE(store->key("again", 7).value());
  EXPECT_TRUE(store->history({}).value().empty());
  store->put_setting("a", "2");
  ASSERT_TRUE(store->commit()) << "also without facts";
  store.reset();
  EXPECT_EQ(*opened()->setting("a").value(), "2");
}

TEST_F(SqliteStoreTest, goes_on_under_another_head_after_a_compaction) {
  const auto facts = random_facts(30, 5);
  auto store = opened();
  append(*store, facts);
  ASSERT_TRUE(store->commit());
  store->put_setting("policy", "fcfs");
  ASSERT_TRUE(store->compact(snapshot_of(facts), {.policy = "fcfs", .unix_start = 5}));
  EXPECT_EQ(fs::file_size(path_ + "-wal"), 0U) << "all is in the database";
  EXPECT_EQ(store->head().policy, "fcfs");
  store.reset();
  store = opened();
  EXPECT_EQ(store->head(), (JournalHead{.policy = "fcfs", .unix_start = 5}));
  EXPECT_EQ(*store->setting("policy").value(), "fcfs");
  EXPECT_TRUE(same_facts(replayed(*store), facts));
}

TEST_F(SqliteStoreTest, keeps_what_jobs_share_once) {
  const std::string script =
      fmt::format("#!/bin/sh\nexec ./solve\n{}{}", std::string(1, '\0'), std::string(100'000, 'x'));
  auto store = opened();
  for (std::uint32_t job = 0; job < 100; ++job) {
    store->put_payload(JobId{job}, {fmt::format("{{\"name\":{}}}", job), script, "HOME=" + std::to_string(job % 2)});
  }
  ASSERT_TRUE(store->commit());
  EXPECT_EQ(number("SELECT count(*) FROM contents"), 3);
  EXPECT_EQ(number("SELECT sum(count) FROM uses"), 200);
  EXPECT_EQ(store->payload(JobId{7}).value(), (Payload{"{\"name\":7}", script, "HOME=1"}));
  EXPECT_FALSE(store->payload(JobId{100}).value());
  store->put_payload(JobId{7}, {"null", script, script});
  store->put_payload(JobId{7}, {"null", script, script});
  EXPECT_EQ(store->payload(JobId{7}).value(), (Payload{"null", script, script}));
  for (std::uint32_t job = 0; job < 100; ++job) {
    if (job != 7) store->drop_payload(JobId{job});
  }
  store->drop_payload(JobId{0});
  ASSERT_TRUE(store->commit());
  EXPECT_EQ(number("SELECT count(*) FROM contents"), 1);
  EXPECT_EQ(number("SELECT sum(count) FROM uses"), 2);
  store.reset();
  EXPECT_EQ(opened()->payload(JobId{7}).value(), (Payload{"null", script, script}));
  meddle("UPDATE contents SET bytes = CAST('rm' AS BLOB)");
  EXPECT_EQ(opened()->payload(JobId{7}).error().message,
            fmt::format("The script or the environment of job 7 in the database {} is damaged. Use a copy of it.",
                        fs::canonical(path_).string()));
  meddle("DELETE FROM contents");
  EXPECT_FALSE(opened()->payload(JobId{7}));
}

TEST_F(SqliteStoreTest, gives_a_job_what_another_one_has) {
  const Payload first{"first", "#!/bin/sh\n" + std::string(100'000, 'x'), "HOME=/"};
  auto store = opened();
  store->put_payload(JobId{1}, first);
  for (std::uint32_t job = 2; job <= 50; ++job) store->put_payload_like(JobId{job}, std::to_string(job), JobId{1});
  store->put_payload_like(JobId{50}, "50 again", JobId{2});
  store->put_about(JobId{3}, "another");
  store->put_about(JobId{51}, "of nobody");
  EXPECT_EQ(store->payload(JobId{3}).value(), (Payload{"another", first.script, first.environment}));
  ASSERT_TRUE(store->commit());
  EXPECT_EQ(number("SELECT count(*) FROM payloads"), 50);
  EXPECT_EQ(number("SELECT count(*) FROM contents"), 2);
  EXPECT_EQ(number("SELECT min(count) FROM uses"), 50);
  EXPECT_EQ(number("SELECT max(count) FROM uses"), 50);
  EXPECT_EQ(store->payload(JobId{50}).value(), (Payload{"50 again", first.script, first.environment}));
  for (std::uint32_t job = 1; job <= 50; ++job) store->drop_payload(JobId{job});
  store->put_payload(JobId{60}, {"late", first.script, "HOME=/late"});  // what would go with the last that has it
  ASSERT_TRUE(store->commit());
  EXPECT_EQ(number("SELECT count(*) FROM contents"), 2);
  EXPECT_EQ(number("SELECT sum(count) FROM uses"), 2);
  store.reset();
  EXPECT_EQ(opened()->payload(JobId{60}).value(), (Payload{"late", first.script, "HOME=/late"}));
}

TEST_F(SqliteStoreTest, counts_what_is_kept_of_each_user) {
  const std::string script(100'000, 'x');
  auto store = opened();
  store->put_payload(JobId{1}, {"about", script, "HOME=/", 7});
  const std::int64_t one = store->stored(7);
  EXPECT_GE(one, 100'011);
  EXPECT_EQ(store->payload(JobId{1}).value()->owner, 7);
  store->put_payload(JobId{2}, {"about", script, "HOME=/", 8});  // another's is another
  store->put_payload_like(JobId{3}, "about", JobId{1});
  EXPECT_EQ(store->stored(8), one);
  const std::int64_t row = store->stored(7) - one;
  EXPECT_LT(row, 1000);
  store->put_about(JobId{3}, "about that");
  EXPECT_EQ(store->stored(7) - one, row + 5);
  ASSERT_TRUE(store->commit());
  const std::int64_t all = store->stored(7);
  store.reset();
  store = opened();
  EXPECT_EQ(store->stored(7), all);
  store->put_payload(JobId{1}, {"about", "another", "HOME=/", 7});
  for (std::uint32_t job = 1; job <= 3; ++job) store->drop_payload(JobId{job});
  ASSERT_TRUE(store->commit());
  EXPECT_EQ(store->stored(7), 0);
  EXPECT_EQ(store->stored(8), 0);
  EXPECT_EQ(number("SELECT sum(bytes) FROM stored"), 0);
  EXPECT_GT(store->free_bytes(), 100'000);
}

TEST_F(SqliteStoreTest, knows_how_much_the_last_snapshot_took_also_when_it_is_opened_again) {
  auto store = opened();
  EXPECT_EQ(store->snapshot_bytes(), 0U);
  const auto facts = random_facts(200, 6);
  ASSERT_TRUE(store->compact(snapshot_of(facts)));
  const std::uint64_t bytes = store->snapshot_bytes();
  EXPECT_GT(bytes, 0U);
  append(*store, facts);
  ASSERT_TRUE(store->commit());
  store.reset();
  store = opened();
  EXPECT_EQ(store->snapshot_bytes(), bytes);
  EXPECT_FALSE(store->wants_compaction());
}

TEST_F(SqliteStoreTest, drops_what_ended_jobs_of_one_user_ran_a_part_at_a_time) {
  const auto script = [](std::uint32_t job) { return std::to_string(job) + std::string(1 << 20, 'x'); };
  const auto store = opened();
  for (std::uint32_t job = 0; job < 100; ++job) {
    store->put_payload(JobId{job}, {"about", script(job), "", job % 2 == 0 ? 7U : 8U});
    if (job % 10 < 8) store->put_history({.job = JobId{job}, .number = job, .end = kEpoch});
  }
  ASSERT_TRUE(store->commit());
  std::int64_t before = store->stored(7);
  EXPECT_EQ(store->drop_ended_payloads(7, {}, kEpoch - Duration{1}), std::nullopt);
  EXPECT_EQ(store->stored(7), before) << "they ended later";
  std::optional<JobId> next;
  int parts = 0;
  do {
    next = store->drop_ended_payloads(7, next);
    ASSERT_TRUE(store->commit());
    EXPECT_LT(before - store->stored(7), 34 << 20);
    before = store->stored(7);
    ++parts;
  } while (next);
  EXPECT_EQ(parts, 2);
  for (std::uint32_t job = 0; job < 100; ++job)
    EXPECT_EQ(store->payload(JobId{job}).value().has_value(), job % 2 == 1 || job % 10 == 8) << job;
  EXPECT_LT(before, 11 << 20);
  const std::int64_t others = store->stored(0);  // whose the history is
  const std::int64_t row = others / 80;
  EXPECT_GE(row, 1000);
  EXPECT_EQ(others, 80 * row);
  EXPECT_EQ(store->drop_history(kNever, 30), 30);
  EXPECT_EQ(store->stored(0), 50 * row);
}

TEST_F(SqliteStoreTest, counts_nothing_of_users_that_older_versions_did_not_name) {
  auto store = opened();
  store->put_payload(JobId{1}, {"about", "true", ""});
  store->put_payload(JobId{4}, {R"({"uid":8})", "true", ""});
  for (std::uint32_t job = 5; job < 7; ++job) store->put_history({.job = JobId{job}, .number = job, .uid = 9});
  ASSERT_TRUE(store->commit());
  store.reset();
  meddle(
      "DROP INDEX payloads_by_owner; ALTER TABLE contents DROP COLUMN owner; ALTER TABLE payloads DROP COLUMN owner; "
      "UPDATE contents SET uses = (SELECT count FROM uses WHERE content = id); DROP TABLE uses; DROP TABLE stored; "
      "PRAGMA user_version = 4");
  store = opened();
  EXPECT_EQ(store->stored(7), 0);
  EXPECT_EQ(store->stored(8), 0);
  EXPECT_GE(store->stored(9), 2 * 1000);
  EXPECT_EQ(store->payload(JobId{1}).value()->script, "true");
  store->put_payload(JobId{2}, {"about", "true", "", 7});
  EXPECT_EQ(store->stored(7), 209);
  store->drop_payload(JobId{1});
  store->drop_payload(JobId{2});
  ASSERT_TRUE(store->commit());
  EXPECT_EQ(store->stored(7), 0);
}

TEST_F(SqliteStoreTest, cannot_give_what_no_job_has) {
  const auto store = opened();
  store->put_payload_like(JobId{2}, "about", JobId{1});
  EXPECT_TRUE(store->commit().error().message.ends_with(" has no script of job 1."));
}

TEST_F(SqliteStoreTest, tells_in_one_go_what_is_kept_about_the_jobs_that_are_asked_for) {
  const auto store = opened();
  for (std::uint32_t job = 0; job < 1000; job += 3) store->put_payload(JobId{job}, {std::to_string(job), "a", "b"});
  // Some have none, some are next to each other, and between some there are more than it passes over.
  const std::vector<JobId> asked{JobId{0},   JobId{1},   JobId{3},   JobId{6},
                                 JobId{300}, JobId{301}, JobId{999}, JobId{1002}};
  std::vector<std::string> told;
  const auto note = [&](JobId job, std::string_view about) -> Result<void> {
    EXPECT_EQ(about, std::to_string(job.value));
    told.emplace_back(about);
    return {};
  };
  ASSERT_TRUE(store->abouts(asked, note));
  EXPECT_EQ(told, (std::vector<std::string>{"0", "3", "6", "300", "999"}));
  told.clear();
  EXPECT_EQ(store->abouts(asked, [](JobId, std::string_view) { return Result<void>(fail("no")); }).error().message,
            "no");
  ASSERT_TRUE(store->abouts({JobId{6}}, note));
  EXPECT_EQ(told, std::vector<std::string>{"6"});
}

TEST_F(SqliteStoreTest, knows_the_job_of_a_request_by_its_key_and_user) {
  auto store = opened();
  store->put_key("a", 1, JobId{3}, at_seconds(10));
  store->put_key("a", 2, JobId{4}, at_seconds(20));
  ASSERT_TRUE(store->commit());
  EXPECT_EQ(store->key("a", 1).value(), JobId{3});
  EXPECT_EQ(store->key("a", 2).value(), JobId{4});
  EXPECT_FALSE(store->key("b", 1).value());
  store->drop_keys(at_seconds(20));
  ASSERT_TRUE(store->commit());
  EXPECT_FALSE(store->key("a", 1).value());
  EXPECT_EQ(store->key("a", 2).value(), JobId{4});
}

TEST_F(SqliteStoreTest, knows_what_the_request_of_a_key_was_as_far_as_it_was_told) {
  auto store = opened();
  store->put_key("old", 1, JobId{2}, at_seconds(9));
  ASSERT_TRUE(store->commit());
  store.reset();
  meddle("ALTER TABLE keys DROP COLUMN request; PRAGMA user_version = 3");
  store = opened();
  EXPECT_EQ(store->key_use("old", 1).value()->job, JobId{2});
  EXPECT_EQ(store->key_use("old", 1).value()->request, "");
  store->put_key("new", 1, JobId{3}, at_seconds(10), "digest");
  ASSERT_TRUE(store->commit());
  store.reset();
  store = opened();
  EXPECT_EQ(store->key_use("new", 1).value()->request, "digest");
}

}  // namespace
}  // namespace rota::store

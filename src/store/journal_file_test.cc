#include "store/journal_file.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "store/file_limit_test.h"
#include "store/random_facts_test.h"
#include "store/replayed_test.h"
#include "store/temporary_folder_test.h"

namespace rota::store {
namespace {

const JournalHead kHead{.rota = "1.0.0", .policy = "easy", .processors = 8};

class JournalFileTest : public testing::Test {
 protected:
  std::string content() const { return read_file(path_).value(); }
  void put(const std::string& text) const { std::ofstream(path_) << text; }
  std::unique_ptr<JournalFile> created(Durability durability = Durability::synced) const {
    return std::move(JournalFile::create(path_, kHead, durability).value());
  }
  std::unique_ptr<JournalFile> opened() const {
    return std::move(JournalFile::open(path_, Durability::synced).value());
  }
  std::vector<Fact> on_disk() const {
    auto reader = read_journal(path_);
    EXPECT_TRUE(reader) << reader.error().message;
    return all_of([&](const FactVisitor& visit) { return reader->visit(visit); });
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "j";
};

TEST_F(JournalFileTest, gives_back_what_was_committed) {
  const auto facts = random_facts(200, 1);
  {
    const auto journal = created();
    EXPECT_EQ(folder_.files(), 1U);
    EXPECT_EQ(content(), journal_start(kHead));
    append(*journal, std::span(facts).first(100));
    ASSERT_TRUE(journal->commit());
    EXPECT_EQ(on_disk().size(), 100U) << "it is there when commit returns";
    ASSERT_TRUE(journal->commit()) << "there is nothing to do";
    append(*journal, std::span(facts).subspan(100));
    EXPECT_EQ(on_disk().size(), 100U) << "and not before";
    ASSERT_TRUE(journal->commit());
    EXPECT_TRUE(same_facts(replayed(*journal), facts));
    append(*journal, std::span(facts).first(1));  // never committed
  }
  EXPECT_TRUE(same_facts(on_disk(), facts));
  const auto again = opened();
  EXPECT_EQ(again->head(), kHead);
  EXPECT_EQ(again->note(), "");
  append(*again, std::span(facts).first(1));
  ASSERT_TRUE(again->commit());
  EXPECT_EQ(on_disk().size(), 201U);
}

TEST_F(JournalFileTest, a_streamed_one_is_written_now_and_then_and_at_the_end) {
  const auto facts = random_facts(4000, 2);
  const auto journal = created(Durability::streamed);
  std::uint64_t sizes = 1;
  for (std::size_t i = 0; i < facts.size(); i += 2) {
    const std::uint64_t size = journal->size();
    append(*journal, std::span(facts).subspan(i, 2));
    ASSERT_TRUE(journal->commit());
    sizes += journal->size() == size ? 0U : 1U;
  }
  EXPECT_LT(sizes, 20U) << "in large pieces";
  EXPECT_LT(on_disk().size(), facts.size());
  append(*journal, std::span(facts).first(1));  // never committed
  ASSERT_TRUE(journal->close());
  EXPECT_TRUE(same_facts(on_disk(), facts));
}

TEST_F(JournalFileTest, a_streamed_one_can_be_replayed_and_compacted_on_its_way) {
  const auto facts = random_facts(50, 3);
  const auto journal = created(Durability::streamed);
  append(*journal, facts);
  ASSERT_TRUE(journal->commit());
  EXPECT_TRUE(same_facts(replayed(*journal), facts));
  append(*journal, facts);
  ASSERT_TRUE(journal->commit());
  ASSERT_TRUE(journal->compact(snapshot_of(facts)));
  ASSERT_TRUE(journal->close());
  EXPECT_TRUE(same_facts(on_disk(), facts));
}

TEST_F(JournalFileTest, cut_anywhere_it_goes_on_after_the_last_whole_batch) {
  const auto facts = random_facts(20, 4);
  std::vector<std::uint64_t> ends;
  {
    const auto journal = created();
    ends.push_back(journal->size());
    for (std::size_t i = 0; i < facts.size(); i += 5) {
      append(*journal, std::span(facts).subspan(i, 5));
      ASSERT_TRUE(journal->commit());
      ends.push_back(journal->size());
    }
  }
  const std::string whole = content();
  for (std::uint64_t size = ends.front(); size < whole.size(); size += 7) {
    put(whole.substr(0, size));
    const auto before = static_cast<std::size_t>(std::ranges::upper_bound(ends, size) - ends.begin()) - 1;
    const auto journal = opened();
    ASSERT_EQ(journal->note().empty(), size == ends[before]) << journal->note();
    ASSERT_EQ(journal->size(), ends[before]);
    append(*journal, std::span(facts).subspan(5 * before, 5));
    ASSERT_TRUE(journal->commit());
    ASSERT_EQ(content(), whole.substr(0, ends[before + 1])) << "as if nothing had been";
  }
}

TEST_F(JournalFileTest, refuses_a_damaged_one_and_leaves_it_as_it_is) {
  {
    const auto journal = created();
    for (const Fact& fact : random_facts(3, 5)) {
      append(*journal, std::span(&fact, 1));
      ASSERT_TRUE(journal->commit());
    }
  }
  std::string bytes = content();
  const std::size_t place = journal_start(kHead).size();
  bytes[place + 1] ^= 1;
  put(bytes);
  const auto journal = JournalFile::open(path_, Durability::synced);
  ASSERT_FALSE(journal);
  EXPECT_EQ(
      journal.error().message,
      fmt::format("The journal {} is damaged at byte {}, and there are whole batches after that. Use a copy of it.",
                  path_, place));
  EXPECT_EQ(content(), bytes);
}

TEST_F(JournalFileTest, compacts_to_a_snapshot_under_the_same_name) {
  const auto facts = random_facts(3000, 6);
  const auto journal = created();
  append(*journal, std::span(facts).first(5));
  ASSERT_TRUE(journal->commit());
  const auto old_reader = std::make_unique<JournalReader>(std::move(read_journal(path_).value()));
  ASSERT_TRUE(journal->compact(snapshot_of(facts)));
  EXPECT_EQ(folder_.files(), 1U);
  EXPECT_TRUE(same_facts(on_disk(), facts));
  EXPECT_TRUE(same_facts(replayed(*journal), facts));
  append(*journal, std::span(facts).first(1));
  ASSERT_TRUE(journal->commit());
  EXPECT_EQ(on_disk().size(), facts.size() + 1);
  Fact fact;
  EXPECT_TRUE(old_reader->next_fact(fact).value()) << "whoever reads the old one goes on";
  EXPECT_FALSE(JournalFile::open(path_, Durability::synced)) << "the lock has moved to the new one";
}

TEST_F(JournalFileTest, has_one_writer_at_a_time) {
  const std::string busy =
      fmt::format("The journal {} is being written by another Rota. Wait until that has ended, or stop it.", path_);
  {
    const auto journal = created();
    EXPECT_EQ(JournalFile::open(path_, Durability::synced).error().message, busy);
    EXPECT_EQ(JournalFile::create(path_, kHead, Durability::synced, true).error().message, busy);
    EXPECT_TRUE(read_journal(path_)) << "reading needs no lock";
  }
  const auto making = LockedFile::create(path_);
  EXPECT_EQ(JournalFile::create(path_, kHead, Durability::synced, true).error().message, busy);
}

TEST_F(JournalFileTest, does_not_replace_what_is_there_unless_it_is_asked_to) {
  put("old");
  EXPECT_EQ(JournalFile::create(path_, kHead, Durability::synced).error().message,
            fmt::format("There is a file {} already; give another path, or remove it.", path_));
  EXPECT_EQ(JournalFile::create(path_, kHead, Durability::synced, true).error().message,
            path_ + " is there and is no journal, so that it is not replaced; give another path, or remove it.");
  EXPECT_EQ(content(), "old");
  std::filesystem::remove(path_);
  ASSERT_TRUE(JournalFile::create(path_, kHead, Durability::synced));
  ASSERT_TRUE(JournalFile::create(path_, kHead, Durability::synced, true));
  EXPECT_EQ(content(), journal_start(kHead));
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(JournalFileTest, takes_over_what_a_crash_left_behind) {
  std::ofstream(path_ + ".new")
      << "half of something that is longer than the head of a journal, so that it has to be cut";
  const auto journal = created();
  EXPECT_EQ(content(), journal_start(kHead));
  EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(JournalFileTest, leaves_nothing_behind_that_was_not_published) {
  {
    const auto making = LockedFile::create(path_);
  }
  EXPECT_EQ(folder_.files(), 0U);
}

TEST_F(JournalFileTest, tells_what_cannot_be_opened) {
  EXPECT_EQ(
      JournalFile::open(path_, Durability::synced).error().message,
      fmt::format("Cannot open the journal {}: No such file or directory. Check the spelling of the path.", path_));
  EXPECT_EQ(
      read_journal(path_).error().message,
      fmt::format("Cannot read the journal {}: No such file or directory. Check the spelling of the path.", path_));
  EXPECT_EQ(read_journal(folder_.path()).error().message,
            fmt::format("Cannot read the journal {}: it is not a regular file.", folder_.path().string()));
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(JournalFile::open(path_, Durability::synced).error().message,
            fmt::format("Cannot write the journal {}: it is not a regular file.", path_));
  EXPECT_FALSE(JournalFile::create("", kHead, Durability::synced));
  EXPECT_FALSE(JournalFile::create(folder_ / "no/j", kHead, Durability::synced));
}

TEST_F(JournalFileTest, a_failed_write_ends_all_writing) {
  const auto facts = random_facts(40, 7);
  auto journal = created();
  append(*journal, std::span(facts).first(1));
  ASSERT_TRUE(journal->commit());
  {
    const FileSizeLimit full(journal->size() + 20);
    append(*journal, std::span(facts).subspan(1));
    EXPECT_EQ(journal->commit().error().message, fmt::format("Cannot write the journal {}: File too large.", path_));
  }
  append(*journal, std::span(facts).subspan(1));
  EXPECT_TRUE(journal->failed());
  EXPECT_FALSE(journal->commit());
  EXPECT_FALSE(journal->replay([](const Fact&) { return Result<void>(); }));
  EXPECT_FALSE(journal->compact(snapshot_of(facts)));
  EXPECT_FALSE(journal->close());
  journal.reset();
  EXPECT_TRUE(same_facts(replayed(*opened()), {facts.begin(), facts.begin() + 1}));
}

TEST_F(JournalFileTest, can_be_removed_but_not_what_has_its_name_by_now) {
  auto journal = created(Durability::streamed);
  EXPECT_FALSE(journal->failed());
  append(*journal, random_facts(4, 9));
  ASSERT_TRUE(journal->commit());
  journal->remove();
  journal.reset();
  EXPECT_EQ(folder_.files(), 0U) << "nor is it written after that";
  journal = created(Durability::streamed);
  std::filesystem::remove(path_);
  put("another");
  journal->remove();
  EXPECT_EQ(content(), "another");
}

TEST_F(JournalFileTest, a_failed_compaction_leaves_the_old_one) {
  const auto facts = random_facts(40, 8);
  auto journal = created();
  append(*journal, std::span(facts).first(1));
  ASSERT_TRUE(journal->commit());
  {
    const FileSizeLimit full(journal->size() + 20);
    EXPECT_FALSE(journal->compact(snapshot_of(facts)));
  }
  EXPECT_EQ(folder_.files(), 1U);
  EXPECT_TRUE(same_facts(on_disk(), {facts.begin(), facts.begin() + 1}));
}

}  // namespace
}  // namespace rota::store

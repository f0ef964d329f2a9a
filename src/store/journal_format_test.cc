#include "store/journal_format.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "store/random_facts_test.h"

namespace rota::store {
namespace {

using Bytes = std::vector<std::byte>;

const JournalHead kHead{"1.0.0", "easy", 64, "", "", "", ""};

Bytes bytes_of(const std::string& text) {
  const auto span = std::as_bytes(std::span(text.data(), text.size()));
  return {span.begin(), span.end()};
}

void add_batch(Bytes& to, std::span<const Fact> facts) {
  FactEncoder batch;
  for (const Fact& fact : facts) batch.append(ref_of(fact));
  const auto head = batch_head(batch.bytes(), to.size());
  to.insert(to.end(), head.begin(), head.end());
  to.insert(to.end(), batch.bytes().begin(), batch.bytes().end());
}

// One batch for each `size` facts, and where each begins.
Bytes journal_of(std::span<const Fact> facts, std::size_t size, std::vector<std::size_t>* begins = nullptr) {
  Bytes bytes = bytes_of(journal_start(kHead));
  for (; !facts.empty(); facts = facts.subspan(std::min(size, facts.size()))) {
    if (begins != nullptr) begins->push_back(bytes.size());
    add_batch(bytes, facts.first(std::min(size, facts.size())));
  }
  return bytes;
}

struct Found {
  std::vector<Fact> facts = {};
  std::string error = {};
  std::string note = {};
};

Found read(const Bytes& bytes) {
  Found found;
  auto reader = JournalReader::open(std::make_unique<BytesInMemory>(bytes), "j");
  if (!reader) return {.error = reader.error().message};
  const auto visited = reader->visit([&](const Fact& fact) {
    found.facts.push_back(fact);
    return Result<void>();
  });
  if (!visited) found.error = visited.error().message;
  found.note = reader->note();
  return found;
}

bool begins_with(const std::vector<Fact>& all, const std::vector<Fact>& first) {
  return first.size() <= all.size() && std::equal(first.begin(), first.end(), all.begin(), same_fact);
}

TEST(JournalFormat, gives_head_and_facts_back) {
  const auto facts = random_facts(100, 1);
  const Bytes bytes = journal_of(facts, 7);
  auto reader = JournalReader::open(std::make_unique<BytesInMemory>(bytes), "j");
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->head(), kHead);
  EXPECT_EQ(reader->version(), kJournalVersion);
  const Found found = read(bytes);
  EXPECT_EQ(found.error + found.note, "");
  EXPECT_TRUE(same_facts(found.facts, facts));
  EXPECT_TRUE(read(bytes_of(journal_start(kHead))).facts.empty());
}

TEST(JournalFormat, skips_what_is_left_of_a_batch) {
  const auto facts = random_facts(9, 2);
  const Bytes bytes = journal_of(facts, 3);
  auto reader = JournalReader::open(std::make_unique<BytesInMemory>(bytes), "j");
  Fact fact;
  ASSERT_TRUE(reader->next_fact(fact).value());
  ASSERT_TRUE(reader->next_batch().value());
  ASSERT_TRUE(reader->next_fact(fact).value());
  EXPECT_TRUE(same_fact(fact, facts[3]));
  ASSERT_TRUE(reader->next_batch().value());
  EXPECT_FALSE(reader->next_batch().value());
  EXPECT_FALSE(reader->next_fact(fact).value());
  EXPECT_EQ(reader->place(), bytes.size());
}

TEST(JournalFormat, cut_anywhere_has_all_whole_batches_and_says_what_is_left_out) {
  const auto facts = random_facts(AllKinds::kCount, 3);
  std::vector<std::size_t> begins;
  const Bytes bytes = journal_of(facts, 5, &begins);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Found found = read(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
    if (size < begins.front()) {
      ASSERT_NE(found.error, "") << size;
      continue;
    }
    const auto whole = static_cast<std::size_t>(std::ranges::upper_bound(begins, size) - begins.begin()) - 1;
    ASSERT_EQ(found.error, "") << size;
    ASSERT_EQ(found.facts.size(), 5 * whole) << size;
    ASSERT_TRUE(begins_with(facts, found.facts)) << size;
    ASSERT_EQ(found.note.empty(), size == begins[whole]) << size << found.note;
  }
}

TEST(JournalFormat, a_flipped_bit_is_never_taken_for_a_fact) {
  const auto facts = random_facts(AllKinds::kCount, 4);
  std::vector<std::size_t> begins;
  const Bytes bytes = journal_of(facts, 13, &begins);
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    Bytes flipped = bytes;
    flipped[place] ^= static_cast<std::byte>(1U << (place % 8));
    const Found found = read(flipped);
    ASSERT_TRUE(begins_with(facts, found.facts)) << place;
    ASSERT_LT(found.facts.size(), facts.size()) << place;
    if (place < begins.back()) {
      ASSERT_NE(found.error, "") << "a whole batch follows " << place;
    } else {
      ASSERT_NE(found.note + found.error, "") << "this is the last batch " << place;
    }
  }
}

TEST(JournalFormat, names_the_place_of_damage) {
  std::vector<std::size_t> begins;
  Bytes bytes = journal_of(random_facts(30, 5), 10, &begins);
  bytes[begins[1] + 20] ^= std::byte{4};
  EXPECT_EQ(
      read(bytes).error,
      fmt::format("The journal j is damaged at byte {}, and there are whole batches after that. Use a copy of it.",
                  begins[1]));
  EXPECT_EQ(read(bytes).facts.size(), 10U);
}

TEST(JournalFormat, finds_a_batch_a_long_way_after_the_damage) {
  const auto facts = random_facts(3, 6);
  Bytes bytes = journal_of(std::span(facts).first(1), 1);
  const std::size_t hole = bytes.size();
  bytes.resize(bytes.size() + (std::size_t{5} << 19U) + 5);
  EXPECT_EQ(read(bytes).note, fmt::format("The last 2621445 bytes of the journal j, from byte {} on, are a batch that "
                                          "was not written to its end, or is damaged; it is left out.",
                                          hole));
  add_batch(bytes, std::span(facts).last(1));
  EXPECT_NE(read(bytes).error, "");
}

TEST(JournalFormat, a_batch_counts_only_where_it_was_written) {
  const auto facts = random_facts(3, 7);
  std::vector<std::size_t> begins;
  Bytes bytes = journal_of(facts, 1, &begins);
  const Bytes last(bytes.begin() + static_cast<std::ptrdiff_t>(begins.back()), bytes.end());
  bytes.insert(bytes.end(), last.begin(), last.end());
  const Found found = read(bytes);
  EXPECT_TRUE(same_facts(found.facts, facts)) << "the same batch again is none";
  EXPECT_NE(found.error, "");
}

TEST(JournalFormat, bytes_that_came_or_went_in_the_middle_are_damage) {
  const auto facts = random_facts(30, 8);
  std::vector<std::size_t> begins;
  const Bytes bytes = journal_of(facts, 10, &begins);
  for (std::size_t place = begins[1]; place < bytes.size(); ++place) {
    Bytes shorter = bytes;
    shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(place));
    ASSERT_EQ(read(shorter).error.empty(), place >= begins[2] + 12) << place;
    Bytes longer = bytes;
    longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(place), std::byte{7});
    ASSERT_NE(read(longer).error, "") << place;
  }
}

TEST(JournalFormat, refuses_what_is_no_journal_or_a_newer_one) {
  const auto error = [](const std::string& text) { return read(bytes_of(text)).error; };
  const std::string start = journal_start(kHead);
  EXPECT_EQ(error(""), "j is empty, so it is no journal.");
  EXPECT_EQ(error("; a job log\n1 2 3\n"), "j is no journal: it does not begin with \"rota-journal \".");
  std::string newer = start;
  const std::string known = std::to_string(kJournalVersion);
  newer.replace(newer.find(known), known.size(), std::to_string(kJournalVersion + 1));
  EXPECT_EQ(error(newer),
            fmt::format("j is a journal of version {}, and this Rota knows versions 1 to {}. Use a newer Rota.",
                        kJournalVersion + 1, kJournalVersion));
  for (const char* const line : {"rota-journal 0 2 00000000\n{}\n", "rota-journal 1 x\n", "rota-journal 1 2 zz\n{}\n",
                                 "rota-journal 1 99999999999 00000000\n{}\n", "rota-journal 1 2 0\r\n{}\n"}) {
    EXPECT_EQ(error(line), "The first line of the journal j is damaged. Use a copy of it.") << line;
  }
  EXPECT_EQ(error(start.substr(0, start.size() - 3)),
            "The head of the journal j, its second line, is damaged. Use a copy of it.");
  EXPECT_EQ(error("rota-journal 1 2 00000000\n{}\n"),
            "The head of the journal j, its second line, is damaged. Use a copy of it.");
}

TEST(JournalFormat, refuses_a_whole_batch_that_makes_no_sense) {
  Bytes bytes = bytes_of(journal_start(kHead));
  const std::size_t begin = bytes.size();
  const Bytes payload{std::byte{198}, std::byte{1}, std::byte{0}, std::byte{0}};
  const auto head = batch_head(payload, begin);
  bytes.insert(bytes.end(), head.begin(), head.end());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  EXPECT_EQ(read(bytes).error, fmt::format("The batch at byte {} of the journal j is whole and cannot be understood: "
                                           "fact 1 of the batch is of kind 99, and there are {}.",
                                           begin, AllKinds::kCount));
}

TEST(JournalFormat, hands_the_error_of_a_visitor_on) {
  const Bytes bytes = journal_of(random_facts(9, 8), 2);
  auto reader = JournalReader::open(std::make_unique<BytesInMemory>(bytes), "j");
  int seen = 0;
  const auto visited = reader->visit([&](const Fact&) -> Result<void> {
    if (++seen == 5) return fail("Enough.");
    return {};
  });
  EXPECT_EQ(visited.error().message, "Enough.");
  EXPECT_EQ(seen, 5);
}

}  // namespace
}  // namespace rota::store

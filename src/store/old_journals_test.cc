// A journal of every version that there has been lies in tests/journal, in hexadecimal, beside the JSON lines that it
// has to give. What a released version wrote never changes: where this fails, mend the code and not the files. Those of
// the newest version are written, while it is not released, by a run with ROTA_WRITE_JOURNALS=1.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/file.h"
#include "store/fact_json.h"
#include "store/memory_store.h"
#include "store/random_facts_test.h"

namespace rota::store {
namespace {

constexpr std::size_t kBytesInLine = 48;

std::string path_of(std::uint32_t version, const char* ending) {
  return ROTA_SOURCE_DIR "/tests/journal/version-" + std::to_string(version) + ending;
}

// Each kind as it is by default, and each with values of all sizes.
std::vector<Fact> one_of_each() {
  std::vector<Fact> facts;
  AllKinds::for_each([&]<class Kind>(std::type_identity<Kind>) { facts.push_back({kEpoch, 0, Kind{}}); });
  Random random(2026);
  for (std::size_t kind = 0; kind < AllKinds::kCount; ++kind) facts.push_back(random_fact(kind, random));
  for (std::size_t i = 0; i < facts.size(); ++i) {
    facts[i].at = at_seconds(100 + static_cast<std::int64_t>(i));
    facts[i].sequence = i + 1;
  }
  return facts;
}

void write_newest() {
  MemoryStore store(
      {"1.0.0", "easy,beside=no", 64, "submit-first", "name = \"small\"\nprocessors = 64\n", "may.swf", "seed=1"});
  std::ofstream lines(path_of(kJournalVersion, ".jsonl"));
  for (const Fact& fact : one_of_each()) {
    lines << fact_line(ref_of(fact)) << "\n";
    store.append(ref_of(fact));
    if (fact.sequence % 10 == 0) {
      ASSERT_TRUE(store.commit());
    }
  }
  ASSERT_TRUE(store.commit());
  std::ofstream hex(path_of(kJournalVersion, ".hex"));
  for (std::size_t i = 0; i < store.bytes().size(); ++i) {
    const auto byte = static_cast<unsigned>(store.bytes()[i]);
    hex << "0123456789abcdef"[byte / 16] << "0123456789abcdef"[byte % 16];
    if (i + 1 == store.bytes().size() || (i + 1) % kBytesInLine == 0) hex << "\n";
  }
}

std::vector<std::byte> bytes_of(std::uint32_t version) {
  std::vector<std::byte> bytes;
  std::istringstream hex(read_file(path_of(version, ".hex")).value());
  for (std::string line; hex >> line;) {
    for (std::size_t i = 0; i + 1 < line.size(); i += 2) {
      bytes.push_back(static_cast<std::byte>(std::stoul(line.substr(i, 2), nullptr, 16)));
    }
  }
  return bytes;
}

std::vector<Fact> wanted_of(std::uint32_t version) {
  std::vector<Fact> facts;
  std::istringstream lines(read_file(path_of(version, ".jsonl")).value());
  for (std::string line; std::getline(lines, line);) {
    auto fact = read_fact_line(line);
    EXPECT_TRUE(fact) << fact.error().message << "\n" << line;
    facts.push_back(fact ? std::move(*fact) : Fact{});
  }
  return facts;
}

TEST(OldJournals, can_be_read_for_ever) {
  if (std::getenv("ROTA_WRITE_JOURNALS") != nullptr)
    write_newest();  // NOLINT(concurrency-mt-unsafe): tests do not set it
  for (std::uint32_t version = 1; version <= kJournalVersion; ++version) {
    const auto bytes = bytes_of(version);
    auto reader = JournalReader::open(std::make_unique<BytesInMemory>(bytes), "the old journal");
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_EQ(reader->version(), version);
    EXPECT_EQ(reader->head().policy, "easy,beside=no");
    EXPECT_EQ(reader->head().processors, 64);
    const auto wanted = wanted_of(version);
    ASSERT_GE(wanted.size(), 2U * 37U) << "each kind that version 1 has, twice";
    std::size_t count = 0;
    const auto read = reader->visit([&](const Fact& fact) -> Result<void> {
      if (count == wanted.size()) return fail("There are more facts than lines.");
      EXPECT_TRUE(same_fact(fact, wanted[count])) << fact_line(ref_of(fact)) << "\n"
                                                  << fact_line(ref_of(wanted[count]));
      ++count;
      return {};
    });
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(count, wanted.size());
    EXPECT_EQ(reader->note(), "");
  }
}

}  // namespace
}  // namespace rota::store

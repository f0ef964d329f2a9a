// Any bytes as a journal, as a batch of facts and as JSON lines of facts: never a crash; what is read is read the same
// again from what is written, and what is wrong is told in a sentence.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/text.h"
#include "store/fact_codec.h"
#include "store/fact_json.h"
#include "store/journal_format.h"
#include "store/memory_store.h"

namespace {

using namespace rota;
using namespace rota::store;

void check_sentence(const std::string& text) {
  CHECK(is_utf8(text) && (text.ends_with('.') || text.ends_with('?')), "errors are sentences");
}

void check_line(const Fact& fact) {
  const std::string line = fact_line(ref_of(fact));
  const auto again = read_fact_line(line);
  CHECK(again.has_value(), "what was written can be read");
  CHECK(fact_line(ref_of(*again)) == line, "the same fact");
}

void check_batch(ByteSpan bytes) {
  FactDecoder decoder(bytes, kJournalVersion);
  FactEncoder encoder;
  Fact fact;
  for (;;) {
    const auto more = decoder.next(fact);
    if (!more) return;
    if (!*more) break;
    encoder.append(ref_of(fact));
    check_line(fact);
  }
  CHECK(std::ranges::equal(encoder.bytes(), bytes), "a batch has one form");
}

void check_journal(ByteSpan bytes) {
  auto reader = JournalReader::open(std::make_unique<BytesInMemory>(bytes), "fuzz");
  if (!reader) return check_sentence(reader.error().message);
  MemoryStore copy(reader->head());
  const auto read = reader->visit([&](const Fact& fact) {
    copy.append(ref_of(fact));
    return Result<void>();
  });
  if (!read) check_sentence(read.error().message);
  if (!reader->note().empty()) check_sentence(reader->note());
  CHECK(copy.commit(), "nothing was to fail");
  auto store = MemoryStore::open({bytes.begin(), bytes.end()});
  if (!store) return check_sentence(store.error().message);
  CHECK((*store)->bytes().size() == reader->place() || !read, "all but a cut tail is kept");
}

void check_text(std::string_view text) {
  const auto fact = read_fact_line(text);
  if (fact) return check_line(*fact);
  check_sentence(fact.error().message);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteSpan bytes = std::as_bytes(std::span(data, size));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with('{')) check_text(text);
  check_batch(bytes);
  // as the one batch of a journal too, so that what is behind the checks of damage is reached
  const std::string start = journal_start({});
  std::vector<std::byte> whole;
  const auto begin = std::as_bytes(std::span(start.data(), start.size()));
  whole.assign(begin.begin(), begin.end());
  if (size > 0) {
    const auto head = batch_head(bytes, whole.size());
    whole.insert(whole.end(), head.begin(), head.end());
    whole.insert(whole.end(), bytes.begin(), bytes.end());
  }
  check_journal(whole);
  check_journal(bytes);
  return 0;
}

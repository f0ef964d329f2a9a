#include "store/journal_format.h"

#include <fmt/core.h>

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "base/text.h"

namespace rota::store {
namespace {

constexpr std::string_view kMagic = "rota-journal ";
constexpr std::size_t kMostFirstLine = 64;
constexpr std::size_t kWindow = std::size_t{1} << 20U;  // of the search for a batch after a damaged one

std::uint32_t crc_of(ByteSpan bytes) { return libdeflate_crc32(0, bytes.data(), bytes.size()); }

std::uint32_t word_at(const std::byte* at) {
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4; ++i) word |= static_cast<std::uint32_t>(at[i]) << (8 * i);
  return word;
}

std::uint32_t head_crc(const std::byte* head, std::uint64_t place) {
  std::array<std::byte, 16> all;
  std::copy_n(head, 8, all.begin());
  put_fixed(all.data() + 8, place);
  return crc_of(all);
}

// Whether these are the 12 bytes of a batch at this place.
bool is_batch_head(const std::byte* head, std::uint64_t place) {
  const std::uint32_t length = word_at(head);
  return length > 0 && length <= kMostBatch && word_at(head + 8) == head_crc(head, place);
}

// Whether these are the 12 bytes of a batch that is whole, where so many bytes are left in the journal.
bool begins_batch(const std::byte* head, std::uint64_t place, std::uint64_t left) {
  return word_at(head) + kBatchHead <= left && is_batch_head(head, place);
}

// The first line of a journal.
struct FirstLine {
  std::uint64_t version = 0;
  std::uint64_t length = 0;
  std::uint64_t crc = 0;
};

template <class Number>
bool take_number(std::string_view& text, Number& n, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n, base);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take_space(std::string_view& text) {
  if (!text.starts_with(' ')) return false;
  text.remove_prefix(1);
  return true;
}

std::string hex(std::uint32_t n) {
  std::string digits(8, '0');
  for (std::size_t i = 0; i < 8; ++i) digits[7 - i] = "0123456789abcdef"[n >> (4 * i) & 0xfU];
  return digits;
}

ByteSpan bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

}  // namespace

std::string journal_start(const JournalHead& head) {
  const std::string text = head_text(head);
  CHECK(text.size() <= kMostHead, "the head of a journal is no longer than a cluster file may be");
  return fmt::format("{}{} {} {}\n{}\n", kMagic, kJournalVersion, text.size(), hex(crc_of(bytes_of(text))), text);
}

std::array<std::byte, kBatchHead> batch_head(ByteSpan payload, std::uint64_t place) {
  CHECK(!payload.empty() && payload.size() <= kMostBatch, "a batch has facts, and fewer than a gigabyte of them");
  std::array<std::byte, kBatchHead> head;
  std::byte* at = put_fixed(head.data(), static_cast<std::uint32_t>(payload.size()));
  at = put_fixed(at, crc_of(payload));
  put_fixed(at, head_crc(head.data(), place));
  return head;
}

Result<void> BytesInMemory::read(std::uint64_t place, std::span<std::byte> into) {
  CHECK(place <= bytes_.size() && into.size() <= bytes_.size() - place, "what is read is there");
  if (!into.empty()) std::memcpy(into.data(), bytes_.data() + place, into.size());
  return {};
}

JournalReader::JournalReader(std::unique_ptr<JournalBytes> bytes, std::string shown)
    : bytes_(std::move(bytes)), shown_(std::move(shown)) {}

Result<JournalReader> JournalReader::open(std::unique_ptr<JournalBytes> bytes, std::string shown) {
  JournalReader reader(std::move(bytes), std::move(shown));
  TRY(reader.read_start());
  return reader;
}

Result<void> JournalReader::read_start() {
  std::string line(std::min<std::uint64_t>(bytes_->size(), kMostFirstLine), '\0');
  if (auto got = bytes_->read(0, std::as_writable_bytes(std::span(line))); !got) return got;
  if (line.empty()) return fail(shown_ + " is empty, so it is no journal.");
  if (!line.starts_with(kMagic)) {
    return fail("{} is no journal: it does not begin with \"{}\".", shown_, kMagic);
  }
  FirstLine first;
  std::string_view rest(line);
  rest.remove_prefix(kMagic.size());
  const auto damaged = [&] { return fail("The first line of the journal {} is damaged. Use a copy of it.", shown_); };
  if (!take_number(rest, first.version, 10) || !take_space(rest) || first.version == 0) return damaged();
  if (first.version > kJournalVersion) {
    return fail("{} is a journal of version {}, and this Rota knows versions 1 to {}. Use a newer Rota.", shown_,
                first.version, kJournalVersion);
  }
  if (!take_number(rest, first.length, 10) || !take_space(rest) || !take_number(rest, first.crc, 16) ||
      !rest.starts_with('\n') || first.length > kMostHead || first.crc > UINT32_MAX) {
    return damaged();
  }
  const std::uint64_t from = line.size() - rest.size() + 1;
  const auto damaged_head = [&] {
    return fail("The head of the journal {}, its second line, is damaged. Use a copy of it.", shown_);
  };
  if (bytes_->size() - from < first.length + 1) return damaged_head();
  std::string text(first.length + 1, '\0');
  if (auto got = bytes_->read(from, std::as_writable_bytes(std::span(text))); !got) return got;
  if (text.back() != '\n') return damaged_head();
  text.pop_back();
  if (crc_of(bytes_of(text)) != first.crc) return damaged_head();
  auto head = read_head(text);
  if (!head) return fail("The head of the journal {} cannot be understood. {}", shown_, head.error().message);
  head_ = std::move(*head);
  version_ = static_cast<std::uint32_t>(first.version);
  begin_ = next_ = from + first.length + 1;
  return {};
}

// The batch at a place; false: none is whole there.
Result<bool> JournalReader::read_batch(std::uint64_t place, std::vector<std::byte>& payload) {
  std::array<std::byte, kBatchHead> head;
  const std::uint64_t left = bytes_->size() - place;
  if (left < kBatchHead) return false;
  TRY(bytes_->read(place, head));
  if (!begins_batch(head.data(), place, left)) return false;
  payload.resize(word_at(head.data()));
  TRY(bytes_->read(place + kBatchHead, payload));
  return crc_of(payload) == word_at(head.data() + 4);
}

// Looks at every place from here on.
Result<bool> JournalReader::any_batch_after(std::uint64_t place) {
  std::vector<std::byte> window;
  std::vector<std::byte> payload;
  for (const std::uint64_t size = bytes_->size(); place < size && size - place > kBatchHead;) {
    window.resize(std::min<std::uint64_t>(size - place, kWindow));
    TRY(bytes_->read(place, window));
    const std::size_t heads = window.size() - kBatchHead;  // there is at least one byte after the last of them
    for (std::size_t i = 0; i < heads; ++i) {
      if (!begins_batch(window.data() + i, place + i, size - place - i)) continue;
      auto found = read_batch(place + i, payload);
      if (!found || *found) return found;
    }
    place += heads;
  }
  return false;
}

// Whether the tail is what a crash leaves of one batch: nothing but its beginning, or its place without its bytes.
Result<bool> JournalReader::may_be_cut(std::uint64_t tail) {
  if (tail < kBatchHead) return true;
  std::array<std::byte, kBatchHead> head;
  TRY(bytes_->read(next_, head));
  if (is_batch_head(head.data(), next_)) return word_at(head.data()) + kBatchHead >= tail;
  std::vector<std::byte> window;
  for (std::uint64_t place = next_; place < bytes_->size(); place += window.size()) {
    window.resize(std::min<std::uint64_t>(bytes_->size() - place, kWindow));
    TRY(bytes_->read(place, window));
    if (std::ranges::any_of(window, [](std::byte b) { return b != std::byte{0}; })) return false;
  }
  return true;
}

Result<bool> JournalReader::end_of_journal() {
  ended_ = true;
  const std::uint64_t tail = bytes_->size() - next_;
  if (tail == 0) return false;
  const std::string damaged = fmt::format("The journal {} is damaged at byte {}", shown_, next_);
  const auto more = any_batch_after(next_ + 1);
  if (!more) return more;
  if (*more) return fail(damaged + ", and there are whole batches after that. Use a copy of it.");
  const auto cut = may_be_cut(tail);
  if (!cut) return cut;
  if (!*cut) return fail(damaged + ", and what follows is no batch that was cut off. Use a copy of it.");
  note_ = fmt::format(
      "The last {} bytes of the journal {}, from byte {} on, are a batch that was not written to its end, or is "
      "damaged; it is left out.",
      tail, shown_, next_);
  return false;
}

Result<bool> JournalReader::next_batch() {
  facts_.reset();
  payload_.clear();
  if (ended_) return false;
  const auto whole = read_batch(next_, payload_);
  if (!whole) return whole;
  if (!*whole) {
    payload_.clear();
    return end_of_journal();
  }
  begin_ = next_;
  next_ += kBatchHead + payload_.size();
  facts_.emplace(payload_, version_);
  return true;
}

Result<bool> JournalReader::next_fact(Fact& fact) {
  for (;;) {
    if (facts_) {
      auto more = facts_->next(fact);
      if (more && *more) return true;
      if (!more) {
        ended_ = true;
        facts_.reset();
        return fail("The batch at byte {} of the journal {} is whole and cannot be understood: {}.", begin_, shown_,
                    more.error().message);
      }
    }
    auto batch = next_batch();
    if (!batch || !*batch) return batch;
  }
}

Result<void> JournalReader::visit(const FactVisitor& visitor) {
  Fact fact;
  for (;;) {
    const auto more = TRY(next_fact(fact));
    if (!more) return {};
    if (auto visited = visitor(fact); !visited) return visited;
  }
}

}  // namespace rota::store

// How a journal lies in a file. It begins with two lines of text,
//
//   rota-journal VERSION LENGTH CRC      LENGTH: of the next line without its newline; CRC: of that, 8 hex digits
//   {"rota":"1.2.0",...}                 the head (store/journal_head.h)
//
// and batches follow: 4 bytes length, 4 bytes CRC of the payload, 4 bytes CRC of these eight and of the place in the
// file at which the batch begins (8 bytes), then the payload (store/fact_codec.h). All of these have their least byte
// first; CRC is the CRC-32 of gzip. A batch that is not whole, with no whole one after it, is the tail of a write that
// a crash cut short: it is left out. What is damaged and has a whole batch after it is an error.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "control/store.h"
#include "model/fact.h"
#include "store/bytes.h"
#include "store/fact_codec.h"
#include "store/journal_head.h"

namespace rota::store {

inline constexpr std::size_t kBatchHead = 12;
inline constexpr std::size_t kMostBatch = std::size_t{1} << 30U;  // bytes of a payload
inline constexpr std::size_t kMostHead = std::size_t{64} << 20U;  // bytes of the head's line

// The two lines.
std::string journal_start(const JournalHead& head);

// The 12 bytes before a payload of 1 .. kMostBatch bytes, of a batch that begins at this place of the file.
std::array<std::byte, kBatchHead> batch_head(ByteSpan payload, std::uint64_t place);

// Where the bytes of a journal are read from.
class JournalBytes {
 public:
  virtual ~JournalBytes() = default;
  virtual std::uint64_t size() const = 0;
  // Reads all of `into`, which is within size().
  virtual Result<void> read(std::uint64_t place, std::span<std::byte> into) = 0;
};

// Bytes in memory, which must outlive it.
class BytesInMemory final : public JournalBytes {
 public:
  explicit BytesInMemory(ByteSpan bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  Result<void> read(std::uint64_t place, std::span<std::byte> into) override;

 private:
  ByteSpan bytes_;
};

// Reads a journal from front to back. Total: any bytes give batches that were written so, or an error. Memory: one
// batch and one fact. Not thread-safe.
class JournalReader {
 public:
  // Reads the head. `shown` names the journal in messages. Errors: it is no journal, of a newer version, or damaged.
  static Result<JournalReader> open(std::unique_ptr<JournalBytes> bytes, std::string shown);

  const JournalHead& head() const { return head_; }
  std::uint32_t version() const { return version_; }

  // Goes on to the next batch and finds out that it is whole; false at the end. It may be left there: next_fact goes
  // through a batch, next_batch skips what is left of it.
  Result<bool> next_batch();
  ByteSpan payload() const { return payload_; }
  std::uint64_t place() const { return next_; }  // where the batches that were read end

  // The next fact, of this batch or of the next ones; false at the end. Errors name journal and place.
  Result<bool> next_fact(Fact& fact);

  // Visits all facts that are left; the visitor's first error ends that.
  Result<void> visit(const FactVisitor& visitor);

  // Once the end has been reached: that there is a cut tail, and how long it is, as a sentence; empty: there is none.
  const std::string& note() const { return note_; }

 private:
  JournalReader(std::unique_ptr<JournalBytes> bytes, std::string shown);
  Result<void> read_start();
  Result<bool> read_batch(std::uint64_t place, std::vector<std::byte>& payload);
  Result<bool> any_batch_after(std::uint64_t place);
  Result<bool> may_be_cut(std::uint64_t tail);
  Result<bool> end_of_journal();

  std::unique_ptr<JournalBytes> bytes_;
  std::string shown_;
  JournalHead head_;
  std::uint32_t version_ = 0;
  std::uint64_t begin_ = 0;  // of the latest batch that was read
  std::uint64_t next_ = 0;   // after it
  bool ended_ = false;
  std::vector<std::byte> payload_;
  std::optional<FactDecoder> facts_;  // of what is left of the payload; nothing: it has been left
  std::string note_;
};

}  // namespace rota::store

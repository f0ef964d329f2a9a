// Facts as bytes and back, by the table of their fields (model/fact_fields.h); docs/journal.md has the form for people.
//
// A batch of facts is read from its beginning only: of each fact it has the number of its kind (the place in
// FactKinds), the distance of its time from that of the fact before, the distance of its sequence number from the next
// one, both with their signs folded in (store/bytes.h), and then its fields (store/field_codec.h).
#pragma once

#include <cstdint>

#include "base/result.h"
#include "model/fact.h"
#include "store/bytes.h"

namespace rota::store {

// The same without a copy; as long as the fact lives and stays what it is.
FactRef ref_of(const Fact& fact);

// Writes batches of the newest version. Not thread-safe. A fact that was submitted, started or ended takes some tens of
// nanoseconds, and nothing is allocated once there is room for a batch.
class FactEncoder {
 public:
  void append(const FactRef& fact);
  ByteSpan bytes() const { return out_.bytes(); }  // the batch so far; until the next append or clear
  std::size_t size() const { return out_.size(); }
  void clear();  // to the next batch

 private:
  ByteBuffer out_;
  Instant at_ = kEpoch;  // of the latest fact
  std::uint64_t sequence_ = 0;
};

// Reads a batch of a version up to the newest. Total: any bytes give facts or an error. Not thread-safe.
class FactDecoder {
 public:
  FactDecoder(ByteSpan batch, std::uint32_t version);  // the bytes must outlive it

  // The next fact; false at the end. The error says which fact of the batch, of which kind, in which field, without a
  // full stop; after it nothing more can be read.
  Result<bool> next(Fact& fact);

 private:
  ByteReader in_;
  std::uint32_t version_;
  Instant at_ = kEpoch;
  std::uint64_t sequence_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace rota::store

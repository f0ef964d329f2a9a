// A journal in memory that can fail: for tests and for runs of whole systems with faults. It keeps the very bytes that
// a file would have, so that codec and format are part of every such run. What goes wrong is drawn from a seeded
// generator, or asked for. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "control/store.h"
#include "store/fact_codec.h"
#include "store/journal_format.h"

namespace rota::store {

// Chances from 0 to 1.
struct StoreFaults {
  double commit_fails = 0;   // how much of the batch is there is not known
  double compact_fails = 0;  // whether the old or the new journal is there is not known
  double tears = 0;          // a crash leaves some first part of what was not synced,
  double loses = 0;          // or nothing of it; else all of it
};

// How often each has happened.
struct FaultCounts {
  std::int64_t failed_commits = 0;
  std::int64_t failed_compactions = 0;
  std::int64_t torn = 0;
  std::int64_t lost = 0;

  bool operator==(const FaultCounts&) const = default;
};

// What a crash does to what was not synced.
enum class CrashKind : std::uint8_t { keeps, tears, loses };

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(const JournalHead& head = {}, const StoreFaults& faults = {}, std::uint64_t seed = 1);
  // Goes on with what was found after a crash; a cut tail is removed, and note() says so.
  static Result<std::unique_ptr<MemoryStore>> open(std::vector<std::byte> found, const StoreFaults& faults = {},
                                                   std::uint64_t seed = 1);

  void append(const FactRef& fact) override {
    if (error_.empty()) batch_.append(fact);
  }
  Result<void> commit() override;
  Result<void> replay(const FactVisitor& visit) override;
  Result<void> compact(const FactSource& snapshot) override;

  // With `false` a commit no longer syncs, as of a streamed journal; sync() does.
  void sync_at_commit(bool syncs) { syncs_ = syncs; }
  void sync() { synced_ = bytes_.size(); }
  // The next commit or compact that has anything to do fails.
  void fail_next() { fails_next_ = true; }

  // What would be found after a crash now. The store itself stays as it is, and is of no use to the program that
  // crashed.
  std::vector<std::byte> crash();  // of a kind that is drawn
  std::vector<std::byte> crash(CrashKind kind);

  ByteSpan bytes() const { return bytes_; }  // of the journal, were there no crash
  const JournalHead& head() const { return head_; }
  const std::string& note() const { return note_; }  // of open(); empty: nothing was cut off
  const FaultCounts& counts() const { return counts_; }

 private:
  bool fails(double chance);
  Result<void> fail_for_good(const char* what);

  JournalHead head_;
  std::vector<std::byte> bytes_;
  std::size_t synced_ = 0;                            // so many of them survive any crash
  std::optional<std::vector<std::byte>> other_ = {};  // after a failed compact: what may be there instead
  FactEncoder batch_;
  StoreFaults faults_;
  Random random_;
  FaultCounts counts_;
  bool syncs_ = true;
  bool fails_next_ = false;
  std::string note_;
  std::string error_;  // empty: all is well
};

}  // namespace rota::store

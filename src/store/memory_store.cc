#include "store/memory_store.h"

#include <span>
#include <utility>

#include "base/check.h"

namespace rota::store {
namespace {

constexpr std::size_t kSnapshotBatch = std::size_t{1} << 16U;

void append_bytes(std::vector<std::byte>& to, ByteSpan bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }

void append_batch(std::vector<std::byte>& to, ByteSpan payload) {
  append_bytes(to, batch_head(payload, to.size()));
  append_bytes(to, payload);
}

std::vector<std::byte> begun(const JournalHead& head) {
  const std::string start = journal_start(head);
  std::vector<std::byte> bytes;
  append_bytes(bytes, std::as_bytes(std::span(start.data(), start.size())));
  return bytes;
}

Result<JournalReader> reader_of(ByteSpan bytes) {
  return JournalReader::open(std::make_unique<BytesInMemory>(bytes), "in memory");
}

}  // namespace

MemoryStore::MemoryStore(const JournalHead& head, const StoreFaults& faults, std::uint64_t seed)
    : head_(head), bytes_(begun(head)), synced_(bytes_.size()), faults_(faults), random_(seed) {}

Result<std::unique_ptr<MemoryStore>> MemoryStore::open(std::vector<std::byte> found, const StoreFaults& faults,
                                                       std::uint64_t seed) {
  auto reader = TRY(reader_of(found));
  if (reader.version() != kJournalVersion) return fail("A journal in memory goes on in the newest version only.");
  for (;;) {
    const auto more = TRY(reader.next_batch());
    if (!more) break;
  }
  auto store = std::make_unique<MemoryStore>(reader.head(), faults, seed);
  store->note_ = reader.note();
  found.resize(reader.place());
  store->bytes_ = std::move(found);
  store->sync();
  return store;
}

bool MemoryStore::fails(double chance) {
  if (std::exchange(fails_next_, false)) return true;
  return chance > 0 && random_.chance(chance);
}

Result<void> MemoryStore::fail_for_good(const char* what) {
  error_ = what;
  return fail(error_);
}

Result<void> MemoryStore::commit() {
  if (!error_.empty()) return fail(error_);
  if (batch_.size() == 0) return {};
  append_batch(bytes_, batch_.bytes());
  batch_.clear();
  if (fails(faults_.commit_fails)) {
    ++counts_.failed_commits;
    return fail_for_good("Cannot write the journal in memory: this fault was asked for.");
  }
  if (syncs_) sync();
  return {};
}

Result<void> MemoryStore::replay(const FactVisitor& visit) {
  CHECK(batch_.size() == 0, "no batch is open while the journal is replayed");
  if (!error_.empty()) return fail(error_);
  auto reader = reader_of(bytes_);
  return reader ? reader->visit(visit) : std::unexpected(reader.error());
}

Result<void> MemoryStore::compact(const FactSource& snapshot) {
  CHECK(batch_.size() == 0, "no batch is open while the journal is compacted");
  if (!error_.empty()) return fail(error_);
  std::vector<std::byte> bytes = begun(head_);
  FactEncoder batch;
  snapshot([&](const FactRef& fact) {
    batch.append(fact);
    if (batch.size() < kSnapshotBatch) return;
    append_batch(bytes, batch.bytes());
    batch.clear();
  });
  if (batch.size() > 0) append_batch(bytes, batch.bytes());
  if (fails(faults_.compact_fails)) {
    ++counts_.failed_compactions;
    other_ = std::move(bytes);
    return fail_for_good("Cannot compact the journal in memory: this fault was asked for.");
  }
  bytes_ = std::move(bytes);
  sync();
  return {};
}

std::vector<std::byte> MemoryStore::crash() {
  const double drawn = random_.unit();
  if (drawn < faults_.tears) return crash(CrashKind::tears);
  return crash(drawn < faults_.tears + faults_.loses ? CrashKind::loses : CrashKind::keeps);
}

std::vector<std::byte> MemoryStore::crash(CrashKind kind) {
  if (other_ && random_.chance(0.5)) return *other_;
  std::vector<std::byte> found = bytes_;
  const std::size_t unsynced = found.size() - synced_;
  if (unsynced == 0 || kind == CrashKind::keeps) return found;
  if (kind == CrashKind::loses) {
    ++counts_.lost;
    found.resize(synced_);
    return found;
  }
  ++counts_.torn;
  found.resize(synced_ + static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(unsynced) - 1)));
  return found;
}

}  // namespace rota::store

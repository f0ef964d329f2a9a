#include "store/journal_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace rota::store {
namespace {

constexpr std::size_t kStreamedBatch = std::size_t{64} << 10U;
constexpr std::size_t kSnapshotBatch = std::size_t{1} << 20U;

class BytesOfFile final : public JournalBytes {
 public:
  explicit BytesOfFile(LockedFile& file) : file_(file) {}  // must outlive it
  explicit BytesOfFile(LockedFile&& file) : own_(std::make_unique<LockedFile>(std::move(file))), file_(*own_) {}
  std::uint64_t size() const override { return file_.size(); }
  Result<void> read(std::uint64_t place, std::span<std::byte> into) override { return file_.read(place, into); }

 private:
  std::unique_ptr<LockedFile> own_;
  LockedFile& file_;
};

Result<void> append_batch(LockedFile& file, ByteSpan payload) {
  if (payload.size() > kMostBatch) {
    return fail("Cannot write the journal {}: a batch of facts is larger than a gigabyte.", file.shown());
  }
  const auto head = batch_head(payload, file.size());
  if (auto done = file.append(head); !done) return done;
  return file.append(payload);
}

// A journal beside the one at this path, of these facts, that has its name.
Result<LockedFile> write_anew(const std::string& path, const JournalHead& head, const FactSource& snapshot) {
  auto file = LockedFile::create(path);
  if (!file) return file;
  const std::string start = journal_start(head);
  Result<void> done = file->append(std::as_bytes(std::span(start.data(), start.size())));
  FactEncoder batch;
  snapshot([&](const FactRef& fact) {
    batch.append(fact);
    if (batch.size() < kSnapshotBatch) return;
    if (done) done = append_batch(*file, batch.bytes());
    batch.clear();
  });
  if (done && batch.size() > 0) done = append_batch(*file, batch.bytes());
  if (done) done = file->sync();
  if (done) done = file->publish();
  if (!done) return std::unexpected(done.error());
  return file;
}

}  // namespace

JournalFile::JournalFile(LockedFile file, std::string path, Durability durability)
    : file_(std::move(file)), path_(std::move(path)), durability_(durability) {}

JournalFile::~JournalFile() {
  if (closed_) return;
  const auto unreported = close();
  static_cast<void>(unreported);
}

namespace {

// Nothing but a journal is replaced by one.
Result<void> is_a_journal(LockedFile& file, const std::string& path) {
  constexpr std::string_view kBegins = "rota-journal ";
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode)) {
    return fail(file.shown() + " is a link to another file; give the path of the journal itself.");
  }
  std::array<std::byte, kBegins.size()> first{};
  const bool long_enough = file.size() >= first.size() && file.read(0, first);
  const auto same = [](std::byte a, char b) { return static_cast<char>(a) == b; };
  if (long_enough && std::ranges::equal(first, kBegins, same)) return {};
  return fail(file.shown() +
              " is there and is no journal, so that it is not replaced; give another path, or remove it.");
}

}  // namespace

Result<std::unique_ptr<JournalFile>> JournalFile::create(const std::string& path, const JournalHead& head,
                                                         Durability durability, bool replaces) {
  if (path.empty()) return fail("Cannot create a journal without a name; give a path.");
  const bool exists = ::access(path.c_str(), F_OK) == 0;
  if (exists && !replaces) return fail("There is a file {} already; give another path, or remove it.", path);
  Result<LockedFile> old = exists ? LockedFile::open(path) : fail("");  // no other process writes what is replaced
  if (exists && !old) return std::unexpected(old.error());
  if (exists) {
    TRY(is_a_journal(*old, path));
  }
  auto file = TRY(write_anew(path, head, [](const FactTaker&) {}));
  std::unique_ptr<JournalFile> journal(new JournalFile(std::move(file), path, durability));
  journal->head_ = head;
  return journal;
}

Result<std::unique_ptr<JournalFile>> JournalFile::open(const std::string& path, Durability durability) {
  auto file = TRY(LockedFile::open(path));
  std::unique_ptr<JournalFile> journal(new JournalFile(std::move(file), path, durability));
  if (auto checked = journal->check(); !checked) {
    journal->closed_ = true;
    return std::unexpected(checked.error());
  }
  return journal;
}

// Looks at all batches and removes a cut tail.
Result<void> JournalFile::check() {
  auto reader = TRY(JournalReader::open(std::make_unique<BytesOfFile>(file_), file_.shown()));
  for (;;) {
    const auto more = TRY(reader.next_batch());
    if (!more) break;
  }
  head_ = reader.head();
  note_ = reader.note();
  if (!note_.empty()) {
    if (auto cut = file_.cut(reader.place()); !cut) return cut;
    if (auto synced = file_.sync(); !synced) return synced;
  }
  if (reader.version() == kJournalVersion) return {};
  const auto readable = replay([](const Fact&) { return Result<void>(); });
  if (!readable) return readable;
  return compact([&](const FactTaker& take) {
    const auto again = replay([&](const Fact& fact) -> Result<void> {
      take(ref_of(fact));
      return {};
    });
    CHECK(again, "what could be read can be read again");
  });
}

Result<void> JournalFile::fail_for_good(Result<void> failed) {
  error_ = failed.error().message;
  return failed;
}

void JournalFile::append(const FactRef& fact) {
  CHECK(!closed_, "nothing is appended to a journal that was closed");
  if (error_.empty()) batch_.append(fact);
}

Result<void> JournalFile::write_batch(ByteSpan payload) {
  auto done = append_batch(file_, payload);
  if (done && durability_ == Durability::synced) done = file_.sync();
  batch_.clear();
  committed_ = 0;
  return done ? done : fail_for_good(done);
}

Result<void> JournalFile::commit() {
  if (!error_.empty()) return fail(error_);
  committed_ = batch_.size();
  const std::size_t enough = durability_ == Durability::synced ? 1 : kStreamedBatch;
  return committed_ < enough ? Result<void>() : write_batch(batch_.bytes());
}

Result<void> JournalFile::close() {
  CHECK(!closed_, "a journal is closed once");
  closed_ = true;
  if (!error_.empty()) return fail(error_);
  return committed_ == 0 ? Result<void>() : write_batch(batch_.bytes().first(committed_));
}

void JournalFile::remove() {
  closed_ = true;
  file_.remove();
}

Result<void> JournalFile::replay(const FactVisitor& visit) {
  CHECK(batch_.size() == committed_, "no batch is open while the journal is replayed");
  if (!error_.empty()) return fail(error_);
  if (committed_ > 0) {
    if (auto done = write_batch(batch_.bytes()); !done) return done;
  }
  auto reader = JournalReader::open(std::make_unique<BytesOfFile>(file_), file_.shown());
  return reader ? reader->visit(visit) : std::unexpected(reader.error());
}

Result<void> JournalFile::compact(const FactSource& snapshot) {
  CHECK(batch_.size() == committed_, "no batch is open while the journal is compacted");
  if (!error_.empty()) return fail(error_);
  auto file = write_anew(path_, head_, snapshot);
  if (!file) return fail_for_good(std::unexpected(file.error()));
  batch_.clear();
  committed_ = 0;
  file_ = std::move(*file);
  return {};
}

Result<JournalReader> read_journal(const std::string& path) {
  auto file = TRY(LockedFile::open_to_read(path));
  const std::string shown = file.shown();
  return JournalReader::open(std::make_unique<BytesOfFile>(std::move(file)), shown);
}

}  // namespace rota::store

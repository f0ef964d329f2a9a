// A journal in one file, as store/journal_format.h has it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "control/store.h"
#include "store/fact_codec.h"
#include "store/journal_format.h"
#include "store/locked_file.h"

namespace rota::store {

enum class Durability : std::uint8_t {
  synced,    // a batch is on the disk when commit() returns; for live clusters
  streamed,  // batches are put together and written now and then, in order; for rehearsals. A crash loses the latest
};

// Appends to a journal. One writer at a time, held to that by a lock; readers need none. Not thread-safe.
//
// Costs: append as FactEncoder; commit of a synced journal two writes and an fdatasync, of a streamed one nothing but
// about one write in 64 KiB. Memory: the open batch.
class JournalFile final : public Store {
 public:
  // A new journal, which appears with its head or not at all. One that is there already is replaced if `replaces`, else
  // refused. Errors are sentences with the path, here and below.
  static Result<std::unique_ptr<JournalFile>> create(const std::string& path, const JournalHead& head,
                                                     Durability durability, bool replaces = false);
  // One that is there. All batches are looked at, O(size); the tail of a write that a crash cut short is removed. One
  // of an older version is written anew in the newest.
  static Result<std::unique_ptr<JournalFile>> open(const std::string& path, Durability durability);
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  ~JournalFile() override;  // as close(), but what went wrong is not reported

  void append(const FactRef& fact) override;
  Result<void> commit() override;
  Result<void> replay(const FactVisitor& visit) override;
  Result<void> compact(const FactSource& snapshot) override;

  // Writes all that was committed, and nothing can be appended any more. At most once.
  Result<void> close();

  bool failed() const { return !error_.empty(); }  // something could not be written
  // Takes the file out of its folder. Nothing can be appended any more.
  void remove();

  const JournalHead& head() const { return head_; }
  const std::string& note() const { return note_; }    // of open(): what was cut off, as a sentence; empty: nothing
  std::uint64_t size() const { return file_.size(); }  // bytes in the file

 private:
  JournalFile(LockedFile file, std::string path, Durability durability);
  Result<void> check();
  Result<void> write_batch(ByteSpan payload);
  Result<void> fail_for_good(Result<void> failed);

  LockedFile file_;
  std::string path_;
  Durability durability_;
  JournalHead head_;
  std::string note_;
  FactEncoder batch_;
  std::size_t committed_ = 0;  // bytes of the batch: streamed, but not written yet
  bool closed_ = false;
  std::string error_;  // empty: all is well
};

// Reads a journal that may be being written: it ends with the last batch that is whole.
Result<JournalReader> read_journal(const std::string& path);

}  // namespace rota::store

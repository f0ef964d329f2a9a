// A file that one process at a time writes. The lock is the system's (flock): it ends with the process, however that
// ends, and reading needs none. Every failure is a sentence with the path and the system's reason.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "store/bytes.h"

namespace rota::store {

// Not thread-safe. Closes and unlocks on destruction.
class LockedFile {
 public:
  // A regular file that is there, for reading and appending. Fails where another process writes it.
  static Result<LockedFile> open(const std::string& path);
  // A regular file that is there, for reading only, without a lock.
  static Result<LockedFile> open_to_read(const std::string& path);
  // A new file that goes by the name PATH.new until publish(); one that was left over under that name is overwritten.
  // Without publish() it is removed. Fails where another process is making one.
  static Result<LockedFile> create(const std::string& path);
  LockedFile(LockedFile&& other) noexcept;
  LockedFile& operator=(LockedFile&& other) noexcept;
  ~LockedFile();

  // Gives what was created its name, in place of what has it now; the lock stays. A reader sees the old or the new.
  Result<void> publish();

  // Takes it out of its folder, unless its name is another file's by now.
  void remove();

  std::uint64_t size() const { return size_; }
  const std::string& shown() const { return shown_; }  // the path for messages
  Result<void> append(ByteSpan bytes);                 // after an error some of them may be there; size() is as before
  Result<void> sync();                                 // on return all is on the disk
  Result<void> cut(std::uint64_t size);                // to a smaller size
  Result<void> read(std::uint64_t place, std::span<std::byte> into);  // all of it

 private:
  LockedFile(int descriptor, std::string path);
  Result<bool> lock(const std::string& name);
  bool goes_by(const std::string& name) const;
  std::unexpected<Error> cannot(const char* verb, int error) const;

  int descriptor_ = -1;
  std::string path_;
  std::string shown_;
  std::uint64_t size_ = 0;
  bool unpublished_ = false;  // still goes by the other name
};

}  // namespace rota::store

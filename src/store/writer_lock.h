// Which process writes a database: a file beside it (PATH.lock) that the writer keeps locked and in which its process
// id stands. The lock is the system's (flock): it ends with the process, however that ends; the file stays.
#pragma once

#include <string>

#include "base/result.h"

namespace rota::store {

// Not thread-safe. Unlocks on destruction.
class WriterLock {
 public:
  // Fails where another process, or this one already, writes the database; the sentence says which process. For another
  // one it waits two seconds: it may have been killed just now.
  static Result<WriterLock> take(const std::string& path);
  WriterLock(WriterLock&& other) noexcept;
  WriterLock& operator=(WriterLock&& other) noexcept;
  ~WriterLock();

 private:
  explicit WriterLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

}  // namespace rota::store

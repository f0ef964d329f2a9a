#include "engine/local/spare_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace rota::local {
namespace {

struct flock whole_file(short kind) {
  struct flock whole{};
  whole.l_type = kind;
  whole.l_whence = SEEK_SET;
  return whole;
}

Descriptor spares_file(int folder) {
  return Descriptor(::openat(folder, "spares.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600));
}

}  // namespace

bool lock_alone(int file) {
  constexpr int kPatience = 500;  // looks
  constexpr int kLookMilliseconds = 10;
  struct flock lock = whole_file(F_WRLCK);
  for (int look = 1; ::fcntl(file, F_SETLK, &lock) != 0; ++look) {
    if (errno != EAGAIN && errno != EACCES) return false;
    if (look >= kPatience) {
      struct flock holder = whole_file(F_WRLCK);
      if (::fcntl(file, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK) ::kill(holder.l_pid, SIGKILL);
    }
    ::poll(nullptr, 0, kLookMilliseconds);
  }
  return true;
}

bool SpareLock::take() {
  if (!file_) file_ = spares_file(folder_);
  struct flock lock = whole_file(F_RDLCK);
  return file_ && ::fcntl(file_.get(), F_SETLK, &lock) == 0;
}

void SpareLock::leave() {
  struct flock lock = whole_file(F_UNLCK);
  ::fcntl(file_.get(), F_SETLK, &lock);
}

bool wait_for_spares_to_end(int folder) {
  const Descriptor file = spares_file(folder);
  return file && lock_alone(file.get());  // it is let go with the file
}

}  // namespace rota::local

#include "engine/local/spare_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "process/descriptor.h"

namespace rota::local {

using process::Descriptor;

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

// Only a process that is seen here; 0: none.
pid_t holder_of(int file) {
  struct flock lock = whole_file(F_WRLCK);
  const bool held = ::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  return held ? std::max(lock.l_pid, 0) : 0;
}

// It may let go, end and give its number to another process at any time: it is killed only if it has the lock while it
// is held by its descriptor.
void kill_holder_of(int file) {
  const pid_t pid = holder_of(file);
  if (pid == 0) return;
  const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (process && holder_of(file) == pid) ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
}

}  // namespace

bool lock_alone(int file) {
  constexpr int kPatience = 500;  // looks
  constexpr int kLookMilliseconds = 10;
  struct flock lock = whole_file(F_WRLCK);
  for (int look = 1; ::fcntl(file, F_SETLK, &lock) != 0; ++look) {
    if (errno != EAGAIN && errno != EACCES) return false;
    if (look >= kPatience) {
      kill_holder_of(file);
    }
    ::poll(nullptr, 0, kLookMilliseconds);
  }
  return true;
}

bool SpareLock::try_lock() {
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

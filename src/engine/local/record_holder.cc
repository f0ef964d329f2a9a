#include "engine/local/record_holder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "engine/local/descriptor.h"

namespace rota::local {
namespace {

struct flock whole_file() {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return whole;
}

pid_t holder_of(int file) {  // 0: nobody
  struct flock lock = whole_file();
  return ::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
}

}  // namespace

void hold_record(int file) {
  struct flock lock = whole_file();
  ::fcntl(file, F_SETLK, &lock);
}

void end_holder(int folder, const std::string& name) {
  constexpr int kPatienceMilliseconds = 1000;
  const Descriptor file(::openat(folder, name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  const pid_t pid = file ? holder_of(file.get()) : 0;
  if (pid <= 0) return;
  const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process || holder_of(file.get()) != pid) return;  // it has ended just now, and the number may be another's
  ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  pollfd gone{process.get(), POLLIN, 0};
  ::poll(&gone, 1, kPatienceMilliseconds);
}

}  // namespace rota::local

#include "engine/local/record_holder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>

#include "engine/local/record.h"
#include "process/clock.h"
#include "process/descriptor.h"

namespace rota::local {

using process::boot_milliseconds;
using process::Descriptor;

namespace {

struct flock whole_file() {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return whole;
}

pid_t holder_of(int file) {  // 0: none
  struct flock lock = whole_file();
  return ::fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
}

}  // namespace

void hold_record(int file) {
  struct flock lock = whole_file();
  ::fcntl(file, F_SETLK, &lock);
}

Descriptor kill_holder(int folder, const std::string& name) {
  const Descriptor file(::openat(folder, name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  const pid_t pid = file ? holder_of(file.get()) : 0;
  if (pid <= 0) return {};
  Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process || holder_of(file.get()) != pid) return {};  // it has ended just now, and the number may be another's
  ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0);
  return process;
}

pid_t record_holder(int folder, const std::string& name) {
  const Descriptor file(::openat(folder, name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  return file ? std::max(holder_of(file.get()), 0) : 0;
}

void wait_until_gone(std::span<const Descriptor> holders) {
  constexpr std::int64_t kPatience = 1000;  // milliseconds
  const std::int64_t until = boot_milliseconds() + kPatience;
  for (const Descriptor& holder : holders) {
    pollfd gone{holder.get(), POLLIN, 0};
    if (holder) ::poll(&gone, 1, static_cast<int>(std::max<std::int64_t>(until - boot_milliseconds(), 0)));
  }
}

}  // namespace rota::local

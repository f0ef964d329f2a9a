#include "engine/local/file_reader.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>

#include "base/words.h"
#include "control/live_engine.h"
#include "engine/local/become_user.h"
#include "process/descriptor.h"

namespace rota::local {

using process::Descriptor;

namespace {

constexpr int kAnswer = 0;

// A file may be named by what this process has open ("/proc/self/fd/7"): that is nothing but the connection.
void leave_files(const Descriptor& connection) {
  ::dup2(connection.get(), kAnswer);
  ::syscall(SYS_close_range, kAnswer + 1U, ~0U, 0U);
  if (::chdir("/") != 0) errno = 0;
}

bool ends_with(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  return ::getppid() == parent;
}

// Gives errno, or 0. Opening does not wait for a process at the other end of a pipe, and takes no terminal.
int read_piece_of(const Order& order, PieceHead& head, std::string& bytes) {
  const Descriptor file(::open(order.run.input.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EINVAL;
  head.size = status.st_size;
  bytes.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(head.size - order.from, 0, kMostRead)));
  const ssize_t got = ::pread(file.get(), bytes.data(), bytes.size(), order.from);
  const int error = got < 0 ? errno : 0;
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  return error;
}

}  // namespace

int give_piece(const Order& order, const Descriptor& connection, pid_t parent) {
  ::prctl(PR_SET_NAME, "rota-reader", 0, 0, 0);
  ::alarm(static_cast<unsigned>(kReadPatience.count()));
  leave_files(connection);
  PieceHead head;
  std::string bytes;
  if (!ends_with(parent)) return 1;
  if (become_user(order.run)) {
    if (!ends_with(parent)) return 1;  // another user's process begins without
    head.error = read_piece_of(order, head, bytes);
  } else {
    head.error = errno;
  }
  const std::string text = in_words(head) + bytes;
  ::fcntl(kAnswer, F_SETFL, 0);  // now it waits for the process that listens
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t sent = ::send(kAnswer, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) return 1;
    done += static_cast<std::size_t>(std::max<ssize_t>(0, sent));
  }
  return 0;
}

}  // namespace rota::local

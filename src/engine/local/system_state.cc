#include "engine/local/system_state.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/local/record.h"
#include "process/clock.h"
#include "process/descriptor.h"
#include "process/spawn.h"

namespace rota::local {

using process::boot_milliseconds;
using process::Descriptor;
using process::read_more;
using process::spawn;

namespace {

constexpr std::string_view kLastProgram = "systemd-shutdow";  // as much of its name as the kernel keeps

// What it writes until it ends, or for so long.
std::string output_of(const std::vector<std::string>& words) {
  constexpr std::int64_t kPatience = 5000;  // milliseconds
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return {};
  const Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  const pid_t pid = spawn({.words = words, .files = {{theirs.get(), 1}}, .searched = true});
  if (pid == 0) return {};
  theirs.reset();
  std::string text;
  const std::int64_t until = boot_milliseconds() + kPatience;
  do {
    pollfd more{ours.get(), POLLIN, 0};
    const auto left = static_cast<int>(std::max<std::int64_t>(until - boot_milliseconds(), 0));
    if (::poll(&more, 1, left) == 0) break;
  } while (read_more(ours.get(), text));
  ::kill(pid, SIGKILL);  // it has closed its output, or is late
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

bool systemd_stops() {
  if (::access("/run/systemd/system", F_OK) != 0) return false;
  return output_of({"systemctl", "is-system-running"}).starts_with("stopping");
}

}  // namespace

bool system_goes_down(bool told_to_end) {
  return process::contents_of("/proc/1/comm").starts_with(kLastProgram) || (told_to_end && systemd_stops());
}

}  // namespace rota::local

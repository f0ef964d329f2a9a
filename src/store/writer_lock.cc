#include "store/writer_lock.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace rota::store {
namespace {

constexpr std::chrono::milliseconds kPatience{2000};
constexpr int kPause = 10;  // milliseconds between tries

// As the holder wrote it; nothing where it has not come to that yet.
std::optional<std::int64_t> holder(int descriptor) {
  std::array<char, 24> text{};
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), 0);
  if (got <= 0) return std::nullopt;
  const auto id = parse_integer(trimmed({text.data(), static_cast<std::size_t>(got)}));
  return id ? std::optional(*id) : std::nullopt;
}

// 0, or the number of an error. A process that was killed may be still going, and a child that it was just starting has
// its files until it runs its program.
int lock_soon(int descriptor) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error != EWOULDBLOCK || holder(descriptor) == ::getpid()) return error;
    if (std::chrono::steady_clock::now() >= until) return error;
    ::poll(nullptr, 0, kPause);
  }
  return 0;
}

}  // namespace

WriterLock::WriterLock(WriterLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
WriterLock& WriterLock::operator=(WriterLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}
WriterLock::~WriterLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<WriterLock> WriterLock::take(const std::string& path) {
  const std::string name = path + ".lock";
  const auto cannot = [&](const char* what, int error) {
    return fail("Cannot {} {}: {}. Check the permissions of the folder.", what, shown_path(name), std::strerror(error));
  };
  WriterLock lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600));
  if (lock.descriptor_ < 0) return cannot("open", errno);
  if (const int error = lock_soon(lock.descriptor_); error != 0) {
    if (error != EWOULDBLOCK) return cannot("lock", error);
    const auto process = holder(lock.descriptor_);
    return fail(
        "The database {} is in use by a service that runs already{}; `rota stop` ends it, with --socket where it was "
        "started with one.",
        shown_path(path), process ? ", process " + std::to_string(*process) : "");
  }
  const std::string id = std::to_string(::getpid()) + "\n";
  // Only for a process that is refused; a lock without a number in it is a lock as well.
  if (::ftruncate(lock.descriptor_, 0) == 0) {
    [[maybe_unused]] const ssize_t written = ::pwrite(lock.descriptor_, id.data(), id.size(), 0);
  }
  return lock;
}

}  // namespace rota::store

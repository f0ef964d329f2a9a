#include "store/writer_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace rota::store {
namespace {

// ", process 1234", as the holder wrote it; nothing where it has not come to that yet.
std::string holder(int descriptor) {
  std::array<char, 24> text{};
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), 0);
  if (got <= 0) return "";
  const auto id = parse_integer(trimmed({text.data(), static_cast<std::size_t>(got)}));
  return id ? ", process " + std::to_string(*id) : "";
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
  const auto cannot = [&](const char* what) {
    return fail(std::string("Cannot ") + what + " " + shown_path(name) + ": " + std::strerror(errno) +
                ". Check the permissions of the folder.");
  };
  WriterLock lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600));
  if (lock.descriptor_ < 0) return cannot("open");
  if (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return cannot("lock");
    return fail("The database " + shown_path(path) + " is being written by another Rota" + holder(lock.descriptor_) +
                ". Wait until that has ended, or stop it.");
  }
  const std::string id = std::to_string(::getpid()) + "\n";
  // Only for who is refused; a lock without a name in it is a lock as well.
  if (::ftruncate(lock.descriptor_, 0) == 0) {
    [[maybe_unused]] const ssize_t written = ::pwrite(lock.descriptor_, id.data(), id.size(), 0);
  }
  return lock;
}

}  // namespace rota::store

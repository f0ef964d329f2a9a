#include "store/locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/file.h"

namespace rota::store {
namespace {

constexpr int kTries = 100;  // while the file is replaced by others as fast as we open it

std::string new_name(const std::string& path) { return path + ".new"; }

// What to do about the commonest reasons.
std::string advice(int error) {
  switch (error) {
    case ENOENT:
      return " Check the spelling of the path.";
    case EACCES:
    case EPERM:
    case EROFS:
      return " Check the permissions of the file and its folder.";
    case ENOSPC:
    case EDQUOT:
      return " Free some space.";
    default:
      return "";
  }
}

}  // namespace

LockedFile::LockedFile(int descriptor, std::string path)
    : descriptor_(descriptor), path_(std::move(path)), shown_(shown_path(path_)) {}

LockedFile::LockedFile(LockedFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      shown_(std::move(other.shown_)),
      size_(other.size_),
      unpublished_(std::exchange(other.unpublished_, false)) {}

LockedFile& LockedFile::operator=(LockedFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  std::swap(shown_, other.shown_);
  std::swap(size_, other.size_);
  std::swap(unpublished_, other.unpublished_);
  return *this;
}

LockedFile::~LockedFile() {
  if (unpublished_) ::unlink(new_name(path_).c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::unexpected<Error> LockedFile::cannot(const char* verb, int error) const {
  return fail("Cannot {} the journal {}: {}.{}", verb, shown_, std::strerror(error), advice(error));
}

// Locks the file and sees whether it still goes by this name.
Result<bool> LockedFile::lock(const std::string& name) {
  struct stat held{};
  if (::fstat(descriptor_, &held) != 0) return cannot("open", errno);
  if (!S_ISREG(held.st_mode)) return fail("Cannot write the journal {}: it is not a regular file.", shown_);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return cannot("lock", errno);
    return fail("The journal {} is being written by another Rota. Wait until that has ended, or stop it.", shown_);
  }
  if (::fstat(descriptor_, &held) != 0) return cannot("open", errno);
  size_ = static_cast<std::uint64_t>(held.st_size);
  return goes_by(name);
}

bool LockedFile::goes_by(const std::string& name) const {
  struct stat held{};
  struct stat named{};
  return ::fstat(descriptor_, &held) == 0 && ::stat(name.c_str(), &named) == 0 && named.st_ino == held.st_ino &&
         named.st_dev == held.st_dev;
}

Result<LockedFile> LockedFile::open(const std::string& path) {
  for (int i = 0; i < kTries; ++i) {
    LockedFile file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), path);
    if (file.descriptor_ < 0) return file.cannot("open", errno);
    auto current = TRY(file.lock(path));
    if (current) return file;
  }
  return fail("Cannot open the journal {}: it is being replaced all the time.", shown_path(path));
}

Result<LockedFile> LockedFile::open_to_read(const std::string& path) {
  LockedFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), path);
  if (file.descriptor_ < 0) return file.cannot("read", errno);
  struct stat facts{};
  if (::fstat(file.descriptor_, &facts) != 0) return file.cannot("read", errno);
  if (!S_ISREG(facts.st_mode)) return fail("Cannot read the journal {}: it is not a regular file.", file.shown_);
  file.size_ = static_cast<std::uint64_t>(facts.st_size);
  return file;
}

Result<LockedFile> LockedFile::create(const std::string& path) {
  for (int i = 0; i < kTries; ++i) {
    LockedFile file(::open(new_name(path).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0666), path);
    if (file.descriptor_ < 0) return file.cannot("create", errno);
    auto current = TRY(file.lock(new_name(path)));
    if (!current) continue;
    file.unpublished_ = true;
    if (::ftruncate(file.descriptor_, 0) != 0) return file.cannot("create", errno);
    file.size_ = 0;
    return file;
  }
  return fail("Cannot create the journal {}: it is being replaced all the time.", shown_path(path));
}

Result<void> LockedFile::publish() {
  CHECK(unpublished_, "a file is published once");
  if (::rename(new_name(path_).c_str(), path_.c_str()) != 0) return cannot("create", errno);
  unpublished_ = false;
  sync_folder(folder_of(path_));
  return {};
}

void LockedFile::remove() {
  if (goes_by(path_)) ::unlink(path_.c_str());
}

Result<void> LockedFile::append(ByteSpan bytes) {
  std::uint64_t place = size_;
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return cannot("write", errno);
    place += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  size_ = place;
  return {};
}

Result<void> LockedFile::sync() {
  if (::fdatasync(descriptor_) != 0) return cannot("write", errno);
  return {};
}

Result<void> LockedFile::cut(std::uint64_t size) {
  CHECK(size <= size_, "a file is cut to a smaller size");
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) return cannot("write", errno);
  size_ = size;
  return {};
}

Result<void> LockedFile::read(std::uint64_t place, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t got = ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(place));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot("read", errno);
    if (got == 0) return fail("The journal {} became shorter while it was read. Read it again.", shown_);
    place += static_cast<std::uint64_t>(got);
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace rota::store

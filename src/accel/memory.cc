#include "accel/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace rota::accel {
namespace {

constexpr std::uint64_t kPage = 4096;

}  // namespace

Memory::Buffer& Memory::Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    reset();
    memory_ = std::exchange(other.memory_, nullptr);
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

void Memory::Buffer::reset() {
  if (memory_ != nullptr) std::exchange(memory_, nullptr)->give_back(std::exchange(bytes_, {}));
}

Memory::Memory(std::uint64_t limit, std::function<void()> freed)
    : limit_(limit / kPage * kPage), freed_(std::move(freed)), file_(::memfd_create("rota-accel", MFD_CLOEXEC)) {
  if (!file_ || ::ftruncate(file_.get(), static_cast<off_t>(limit_)) != 0) return;
  void* at = ::mmap(nullptr, limit_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_.get(), 0);
  if (at != MAP_FAILED) all_ = {static_cast<std::byte*>(at), limit_};
}

Memory::~Memory() {
  if (!all_.empty()) ::munmap(all_.data(), all_.size());
}

std::uint64_t Memory::rounded(std::uint64_t bytes) { return std::max(kPage, (bytes + kPage - 1) / kPage * kPage); }

std::uint64_t Memory::used() const {
  const std::lock_guard lock(mutex_);
  return used_ + scratch_;
}

bool Memory::could_hold(std::uint64_t bytes, std::uint64_t scratch) const {
  if (bytes > limit_ || scratch > limit_) return false;  // before anything is added or rounded up
  const std::uint64_t room = rounded(bytes);
  const std::uint64_t beside = scratch == 0 ? 0 : rounded(scratch);
  return room <= all_.size() && beside <= all_.size() - room;
}

Memory::Buffer Memory::reserve(std::uint64_t bytes, std::uint64_t scratch) {
  if (!could_hold(bytes, scratch)) return {};
  const std::lock_guard lock(mutex_);
  const std::uint64_t size = rounded(bytes);
  const std::uint64_t beside = std::max(scratch_, scratch == 0 ? 0 : rounded(scratch));
  const std::uint64_t end = all_.size() - beside;
  if (!taken_.empty()) {
    const auto& [last, length] = *taken_.rbegin();
    if (last + length > end) return {};
  }
  std::uint64_t at = 0;
  for (const auto& [begin, length] : taken_) {
    if (begin - at >= size) break;
    at = begin + length;
  }
  if (at > end || end - at < size) return {};
  taken_.emplace(at, size);
  used_ += size;
  scratch_ = beside;
  return {this, all_.subspan(at, size)};
}

void Memory::give_back(std::span<std::byte> bytes) {
  {
    const std::lock_guard lock(mutex_);
    taken_.erase(static_cast<std::uint64_t>(bytes.data() - all_.data()));
    used_ -= bytes.size();
    if (taken_.empty()) scratch_ = 0;  // no task computes: the next ones may need less
  }
  if (wanted_.exchange(false)) freed_();
}

}  // namespace rota::accel

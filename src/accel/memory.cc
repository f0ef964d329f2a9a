#include "accel/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

namespace rota::accel {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;

std::byte* mapped(std::uint64_t size) {
  void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

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

Memory::~Memory() {
  make_room(limit_);
  if (!scratch_.empty()) ::munmap(scratch_.data(), scratch_.size());
}

std::uint64_t Memory::rounded(std::uint64_t bytes) {
  if (bytes <= kPage) return kPage;
  if (bytes <= kMebibyte) return std::bit_ceil(bytes);
  return (bytes + kMebibyte - 1) / kMebibyte * kMebibyte;
}

std::uint64_t Memory::used() const {
  const std::lock_guard lock(mutex_);
  return used_ + scratch_reserved_;
}

bool Memory::could_hold(std::uint64_t bytes, std::uint64_t scratch) const {
  if (bytes > limit_ || scratch > limit_) return false;  // before anything is added or rounded up
  const std::uint64_t room = rounded(bytes);
  const std::uint64_t beside = scratch == 0 ? 0 : rounded(scratch);
  return room <= limit_ && beside <= limit_ - room;
}

Memory::Buffer Memory::reserve(std::uint64_t bytes, std::uint64_t scratch) {
  if (!could_hold(bytes, scratch)) return {};
  const std::lock_guard lock(mutex_);
  const std::uint64_t size = rounded(bytes);
  const std::uint64_t beside = std::max(scratch_reserved_, scratch == 0 ? 0 : rounded(scratch));
  if (used_ + size + beside > limit_) return {};
  std::byte* at = nullptr;
  const auto kept = idle_buffers_.find(size);
  if (kept != idle_buffers_.end() && !kept->second.empty()) {
    at = kept->second.back();
    kept->second.pop_back();
    idle_ -= size;
  }
  used_ += size;
  scratch_reserved_ = beside;
  make_room(0);
  if (at == nullptr) at = mapped(size);
  if (at != nullptr) return {this, {at, size}};
  used_ -= size;
  return {};
}

std::byte* Memory::scratch(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (scratch_.size() >= bytes) return scratch_.data();
  if (!scratch_.empty()) ::munmap(scratch_.data(), scratch_.size());
  scratch_ = {};
  std::byte* at = mapped(rounded(bytes));
  if (at != nullptr) scratch_ = {at, rounded(bytes)};
  return at;
}

// Idle buffers go until the limit holds for them, too.
void Memory::make_room(std::uint64_t wanted) {
  for (auto at = idle_buffers_.begin();
       at != idle_buffers_.end() && used_ + scratch_reserved_ + idle_ + wanted > limit_;) {
    if (at->second.empty()) {
      at = idle_buffers_.erase(at);
      continue;
    }
    ::munmap(at->second.back(), at->first);
    at->second.pop_back();
    idle_ -= at->first;
  }
}

void Memory::give_back(std::span<std::byte> bytes) {
  {
    const std::lock_guard lock(mutex_);
    used_ -= bytes.size();
    idle_ += bytes.size();
    idle_buffers_[bytes.size()].push_back(bytes.data());
    if (used_ == 0) {  // no task computes: the next ones may need less
      scratch_reserved_ = 0;
      if (!scratch_.empty()) ::munmap(scratch_.data(), scratch_.size());
      scratch_ = {};
    }
  }
  if (wanted_.exchange(false)) freed_();
}

}  // namespace rota::accel

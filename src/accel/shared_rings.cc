#include "accel/shared_rings.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <utility>

namespace rota::accel {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;  // access beyond the end of a file is a signal

}  // namespace

std::byte* SharedRings::mapped(const process::Descriptor& file) {
  void* at = ::mmap(nullptr, kRingsBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

std::unique_ptr<SharedRings> SharedRings::make() {
  process::Descriptor file(::memfd_create("rota-accel-client", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), kRingsBytes) != 0 || ::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) return {};
  std::byte* all = mapped(file);
  if (all == nullptr) return {};
  return std::unique_ptr<SharedRings>(new SharedRings(std::move(file), all, kRingsBytes / 2, 0));
}

std::unique_ptr<SharedRings> SharedRings::open(process::Descriptor file) {
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || status.st_size != static_cast<off_t>(kRingsBytes)) return {};
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return {};
  std::byte* all = mapped(file);
  if (all == nullptr) return {};
  return std::unique_ptr<SharedRings>(new SharedRings(std::move(file), all, 0, kRingsBytes / 2));
}

SharedRings::~SharedRings() { ::munmap(all_, kRingsBytes); }

void SharedRings::put(std::span<const std::byte> chunk) {
  --free_;
  std::memcpy(out_ + (next_out_++ % kSlots) * kSlotBytes, chunk.data(), chunk.size());
}

bool SharedRings::given_back() {
  if (free_ == kSlots) return false;
  ++free_;
  return true;
}

void SharedRings::take(std::span<std::byte> into) {
  std::memcpy(into.data(), in_ + (next_in_++ % kSlots) * kSlotBytes, into.size());
}

}  // namespace rota::accel

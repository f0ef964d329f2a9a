#include "base/memory.h"

#include <sys/mman.h>

#include <bit>
#include <cstdint>

namespace rota {

void prefer_large_pages(const void* begin, std::size_t bytes) {
  constexpr std::uintptr_t page = 4096;
  const std::uintptr_t from = (std::bit_cast<std::uintptr_t>(begin) + page - 1) & ~(page - 1);
  const std::uintptr_t to = (std::bit_cast<std::uintptr_t>(begin) + bytes) & ~(page - 1);
  if (to > from) ::madvise(std::bit_cast<void*>(from), to - from, MADV_HUGEPAGE);
}

}  // namespace rota

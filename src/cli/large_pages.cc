// The program's operator new: big tables (job tables, above all) get large pages. A rehearsal fills them from one end
// to the other, and taking their page faults 4 KiB at a time costs a fifth of its time. Everything else goes to malloc.
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20U;
constexpr std::size_t kBigTable = std::size_t{1} << 20U;

void* large(std::size_t size) {
  if (size > SIZE_MAX - kLargePage) return nullptr;
  const std::size_t whole = (size + kLargePage - 1) / kLargePage * kLargePage;
  void* memory = std::aligned_alloc(kLargePage, whole);
  if (memory) ::madvise(memory, whole, MADV_HUGEPAGE);  // a hint: if it is not taken, all is as usual
  return memory;
}

}  // namespace

void* operator new(std::size_t size) {
  if (void* memory = size >= kBigTable ? large(size) : std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

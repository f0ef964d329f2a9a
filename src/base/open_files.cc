#include "base/open_files.h"

#include <sys/resource.h>

#include <algorithm>

namespace rota {
namespace {

constexpr rlim_t kMost = 1 << 20;

// The soft limit before; 0: it was not raised.
rlim_t& former() {
  static rlim_t limit = 0;
  return limit;
}

}  // namespace

void raise_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  if (former() == 0) former() = limit.rlim_cur;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kMost));
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t most_open_files() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

bool restore_open_files() {
  rlimit limit{};
  if (former() == 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  limit.rlim_cur = std::min(former(), limit.rlim_max);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace rota

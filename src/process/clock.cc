#include "process/clock.h"

#include <ctime>

#include "process/descriptor.h"

namespace rota::process {
namespace {

std::int64_t milliseconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

}  // namespace

std::string boot_id() {
  std::string id = contents_of("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id.empty() ? "unknown" : id;
}

std::int64_t boot_milliseconds() { return milliseconds_of(CLOCK_BOOTTIME); }
std::int64_t unix_milliseconds() { return milliseconds_of(CLOCK_REALTIME); }

}  // namespace rota::process

#include "serve/disk_room.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"

namespace rota::serve {

Result<void> disk_room(const std::string& folder, std::uint64_t bytes, DiskUse use, bool operates) {
  constexpr std::uint64_t kKept = 64U << 20U;  // bytes, and a fiftieth of a small disk
  struct statvfs disk{};
  if (::statvfs(folder.c_str(), &disk) != 0) return {};
  const std::uint64_t left = (::geteuid() == 0 ? disk.f_bfree : disk.f_bavail) * disk.f_frsize;
  const std::uint64_t kept = std::min(kKept, disk.f_blocks * disk.f_frsize / 50);
  const bool submits = use == DiskUse::submission;
  const std::uint64_t leave = !submits ? kept / 2 : operates ? kept : 2 * kept;
  if (left >= leave + bytes) return {};
  const std::string has =
      "the disk that holds the service's state has only " + format_size(static_cast<std::int64_t>(left)) + " left, so ";
  if (submits) return fail(has + "no job is taken in; tell who runs the service.");
  if (use == DiskUse::start) return fail(has + "that no large script is put there; tell who runs the service.");
  return fail(has + "that jobs can only be cancelled, or changed by an operator; tell who runs the service.");
}

std::uint64_t LargeWrites::under_way(Clock::time_point now) {
  constexpr std::chrono::seconds kLongest{10};
  while (!begun_.empty() && now - begun_.front().at > kLongest) begun_.pop_front();
  std::uint64_t bytes = 0;
  for (const Write& write : begun_) bytes += write.bytes;
  return bytes;
}

}  // namespace rota::serve

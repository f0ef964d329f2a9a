#include "serve/state_room.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace rota::serve {
namespace {

std::string shown(std::uint64_t bytes) { return format_size(static_cast<std::int64_t>(bytes)); }

}  // namespace

std::string StateRoom::Disk::sentence() const {
  return "the disk that holds the service's state has only " + shown(left) + " left, so ";
}

// Of one that cannot be asked there is room enough.
StateRoom::Disk StateRoom::disk() const {
  constexpr std::uint64_t kMostKept = 64U << 20U;
  struct statvfs disk{};
  if (::statvfs(folder_.c_str(), &disk) != 0) return {};
  return {.left = (::geteuid() == 0 ? disk.f_bfree : disk.f_bavail) * disk.f_frsize,
          .kept = std::min(kMostKept, disk.f_blocks * disk.f_frsize / 50)};
}

// Free pages of the database are room, too.
std::uint64_t StateRoom::left_for_users(const Disk& disk) const {
  const std::uint64_t left = disk.left + static_cast<std::uint64_t>(store_.free_bytes());
  return left - std::min(left, 2 * disk.kept);
}

// What comes is written to the log of the database first, and then into the database; and a script once more to be run.
Result<void> StateRoom::takes_jobs(const Caller& caller, std::uint64_t bytes) const {
  const Disk now = disk();
  const std::uint64_t of_users = left_for_users(now);
  const bool fits = caller.operates ? now.left + static_cast<std::uint64_t>(store_.free_bytes()) >= now.kept + 2 * bytes
                                    : of_users >= 2 * bytes;
  if (!fits || now.left < now.kept / 2 + 2 * bytes)
    return fail(now.sentence() + "no job is taken in; tell who runs the service.");
  const auto stored = static_cast<std::uint64_t>(std::max<std::int64_t>(store_.stored(caller.uid), 0));
  if (caller.operates || stored + 2 * bytes <= of_users) return {};
  return fail("what is kept of your jobs, their scripts and environments and the history, takes " +
              shown(stored + bytes) + ", and " + shown(of_users - bytes) +
              " are left for others on the disk that holds the service's state; cancel some, or let some end. What is "
              "kept of the history goes after `keep_history`; who runs the service can make that shorter.");
}

Result<void> StateRoom::takes_script(std::uint64_t bytes) {
  constexpr std::chrono::seconds kLongest{10};
  const auto at = Clock::now();
  while (!scripts_.empty() && at - scripts_.front().at > kLongest) scripts_.pop_front();
  std::uint64_t wanted = bytes;
  for (const Write& each : scripts_) wanted += each.bytes;
  const Disk now = disk();
  if (now.left < now.kept / 2 + wanted)
    return fail(now.sentence() + "that no large script is put there; tell who runs the service.");
  scripts_.push_back({at, bytes});
  return {};
}

Result<void> StateRoom::takes_change() const {
  const Disk now = disk();
  if (now.left >= now.kept / 2) return {};
  return fail(now.sentence() +
              "that jobs can only be cancelled, or changed by an operator; tell who runs the service.");
}

bool StateRoom::is_tight_for(std::uint32_t uid) const {
  const auto stored = static_cast<std::uint64_t>(std::max<std::int64_t>(store_.stored(uid), 0));
  return 2 * stored > left_for_users(disk());
}

std::vector<std::uint32_t> StateRoom::begin_to_let_go() {
  std::vector<std::uint32_t> begin;
  for (const std::uint32_t uid : std::exchange(ended_, {})) {
    if (is_tight_for(uid) && at_.try_emplace(uid).second) begin.push_back(uid);
  }
  return begin;
}

bool StateRoom::lets_go_some(std::uint32_t uid) {
  if (!is_tight_for(uid)) return at_.erase(uid), false;
  std::optional<JobId>& at = at_[uid];
  at = store_.drop_ended_payloads(uid, at);
  if (!at) at_.erase(uid);
  return at_.contains(uid);
}

}  // namespace rota::serve

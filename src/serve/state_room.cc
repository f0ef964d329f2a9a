#include "serve/state_room.h"

#include <fmt/core.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace rota::serve {
namespace {

constexpr const char* kSpare = "/spare-room";
constexpr const char* kLock = "/rota.db.lock";  // store/writer_lock.h
constexpr std::uint64_t kBytesToCome = 2000;    // of a job, when it ends

std::string shown(std::uint64_t bytes) { return format_size(static_cast<std::int64_t>(bytes)); }

}  // namespace

std::string StateRoom::Disk::sentence(std::uint64_t to_come) const {
  constexpr std::uint64_t kMuch = 1 << 20;
  return fmt::format(
      "the disk that holds the service's state has only {} left, {}so ", shown(left),
      to_come < kMuch ? "" : shown(to_come) + " of which the history of the jobs that are here will take, ");
}

// A disk that cannot be asked counts as one with room enough.
StateRoom::Disk StateRoom::disk(const std::string& folder) {
  constexpr std::uint64_t kMostKept = 64U << 20U;
  struct statvfs disk{};
  if (::statvfs(folder.c_str(), &disk) != 0) return {};
  return {.left = (::geteuid() == 0 ? disk.f_bfree : disk.f_bavail) * disk.f_frsize,
          .kept = std::min(kMostKept, disk.f_blocks * disk.f_frsize / 50)};
}

// What the history will take of the jobs that are here.
std::uint64_t StateRoom::to_come() const { return book_.size() * kBytesToCome; }

// Free pages of the database are room, too, and asked for where there is not `enough` without; what jobs that are here
// will take in the history is none.
std::uint64_t StateRoom::left_for(const Disk& disk, std::uint64_t kept, std::uint64_t enough) const {
  const std::uint64_t taken = kept + to_come();
  std::uint64_t left = disk.left;
  if (left < taken + enough) left += static_cast<std::uint64_t>(store_.free_bytes());
  return left - std::min(left, taken);
}

// What the disk alone has, beside what is to be left, and what jobs that are here will take in the history; the
// database's free pages are for that, and asked for where there is not `enough` without.
std::uint64_t StateRoom::left_alone(const Disk& disk, std::uint64_t leave, std::uint64_t enough) const {
  std::uint64_t history = to_come();
  if (disk.left < leave + history + enough)
    history -= std::min(history, static_cast<std::uint64_t>(store_.free_bytes()));
  return disk.left - std::min(disk.left, leave + history);
}

std::uint64_t StateRoom::left_by_scripts(const Disk& disk, bool of_operator) {
  return disk.kept / 2 + (of_operator ? 0 : 2 * disk.kept);
}

std::uint64_t StateRoom::stored(std::uint32_t uid) const {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(store_.stored(uid), 0));
}

// What comes is written to the log of the database first, and then into the database; and a script once more to be run.
Result<void> StateRoom::fits(const Caller& caller, std::uint64_t bytes) const {
  const Disk now = disk(folder_);
  const std::uint64_t had = stored(caller.uid);
  const std::uint64_t wanted = 2 * bytes + (caller.operates ? 0 : had);
  const std::uint64_t left = left_for(now, caller.operates ? now.kept : 2 * now.kept, wanted);
  if (left < 2 * bytes || left_alone(now, left_by_scripts(now, caller.operates), 2 * bytes) < 2 * bytes)
    return fail(now.sentence(to_come()) + "no job is taken in; tell the user who runs the service.");
  if (wanted <= left) return {};
  return fail(
      "what is kept of your jobs, their scripts and environments and the history, takes {}, and {} are left for others "
      "on the disk that holds the service's state; cancel some, or let some end. What is kept of the history goes "
      "after `keep_history`; the user who runs the service can make that shorter.",
      shown(had + bytes), shown(left - bytes));
}

Result<void> StateRoom::takes_jobs(const Caller& caller, std::uint64_t bytes) {
  constexpr int kSlices = 4;  // some 100 ms in all
  auto room = fits(caller, bytes);
  Place behind;
  for (int slice = 0; !room && !caller.operates && slice < kSlices && (slice == 0 || behind); ++slice) {
    behind = makes_room(caller.uid, behind);
    room = fits(caller, bytes);
  }
  return room;
}

Result<void> StateRoom::takes_script(const Script& script, bool of_operator) {
  constexpr std::chrono::seconds kLongest{10};
  const auto at = Clock::now();
  script_is_gone(script.job);  // as it was started before
  std::erase_if(coming_, [&](const auto& each) { return at - each.second.at > kLongest; });
  std::uint64_t wanted = script.bytes;
  for (const auto& [job, write] : coming_) wanted += write.bytes;
  const auto own = of_operator ? copies_.end() : copies_.find(script.uid);
  const std::uint64_t copies = own == copies_.end() ? 0 : own->second;
  const Disk now = disk(folder_);
  const std::uint64_t left = left_alone(now, left_by_scripts(now, of_operator), wanted + copies);
  if (left < wanted) return fail(now.sentence() + "that no script is put there; tell the user who runs the service.");
  if (left - wanted < copies)
    return fail(
        "the scripts of your jobs that run take {} of the disk that holds the service's state, and no more than that "
        "is left for others there; it starts when some of these have ended.",
        shown(copies));
  coming_[script.job] = {at, script.bytes};
  if (of_operator) return {};
  scripts_.insert_or_assign(script.job, script);
  copies_[script.uid] += script.bytes;
  return {};
}

void StateRoom::script_is_gone(JobId job) {
  coming_.erase(job);
  const auto found = scripts_.find(job);
  if (found == scripts_.end()) return;
  const auto copies = copies_.find(found->second.uid);
  copies->second -= found->second.bytes;
  if (copies->second == 0) copies_.erase(copies);
  scripts_.erase(found);
}

std::uint64_t StateRoom::wants() const {
  return FactKinds::bits<Launched, Finished, Requeued, LaunchFailed, Cancelled>();
}

// A job that was suspended and vacated has its script yet.
void StateRoom::fact_recorded(const View& /*before*/, const FactRef& fact) {
  std::visit(
      [&]<class Kind>(const Kind* what) {
        if constexpr (std::is_same_v<Kind, Launched>) coming_.erase(what->job);
        if constexpr (std::is_same_v<Kind, Finished> || std::is_same_v<Kind, Requeued> ||
                      std::is_same_v<Kind, LaunchFailed> || std::is_same_v<Kind, Cancelled>)
          script_is_gone(what->job);
      },
      fact.what);
}

Result<void> StateRoom::takes_change() const {
  const Disk now = disk(folder_);
  if (left_alone(now, now.kept / 2, 1) > 0) return {};
  return fail(now.sentence() +
              "that jobs can only be cancelled, or changed by an operator; tell the user who runs the service.");
}

// It goes into the log of the database. How much the first one takes is not known: it is counted by job.
bool StateRoom::takes_snapshot() const {
  constexpr std::uint64_t kBytesOfJob = 400;
  const Disk now = disk(folder_);
  return now.left >= now.kept / 8 + std::max(store_.snapshot_bytes(), book_.size() * kBytesOfJob);
}

bool StateRoom::is_tight_for(std::uint32_t uid) const {
  const std::uint64_t had = stored(uid);
  const Disk now = disk(folder_);
  return had > now.kept / 4 && 2 * had > left_for(now, 2 * now.kept, 2 * had);
}

std::vector<std::uint32_t> StateRoom::begin_to_let_go() {
  constexpr std::chrono::minutes kBetween{1};
  std::vector<std::uint32_t> begin;
  if (ended_.empty()) return begin;
  const auto at = Clock::now();
  std::erase_if(began_, [&](const auto& each) { return at - each.second > kBetween; });
  for (const std::uint32_t uid : std::exchange(ended_, {})) {
    if (is_tight_for(uid) && began_.try_emplace(uid, at).second) begin.push_back(uid);
  }
  return begin;
}

StateRoom::Place StateRoom::lets_go_some(std::uint32_t uid, Place behind, Instant until) {
  return is_tight_for(uid) ? store_.drop_ended_payloads(uid, behind, until) : std::nullopt;
}

// A user who has little makes no room.
StateRoom::Place StateRoom::makes_room(std::uint32_t uid, Place behind) {
  return stored(uid) > disk(folder_).kept / 64 ? store_.drop_ended_payloads(uid, behind, kNever) : std::nullopt;
}

// Not another service's, which holds its lock.
void StateRoom::use_spare(const std::string& folder) {
  const Disk now = disk(folder);
  if (now.left >= now.kept / 2) return;
  const int lock = ::open((folder + kLock).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (lock < 0) return;
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0) ::unlink((folder + kSpare).c_str());
  ::close(lock);
}

void StateRoom::keep_spare() const {
  const Disk now = disk(folder_);
  const std::string path = folder_ + kSpare;
  const auto wanted = static_cast<off_t>(now.kept / 4);
  struct stat there{};
  const bool whole = ::stat(path.c_str(), &there) == 0 && there.st_size >= wanted;
  if (now.left < 4 * now.kept || whole) return;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  if (::posix_fallocate(file, 0, wanted) != 0) ::unlink(path.c_str());
  ::close(file);
}

}  // namespace rota::serve

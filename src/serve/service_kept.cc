// What is kept of what was, and for how long.
#include <algorithm>

#include "serve/service.h"

namespace rota::serve {
namespace {

constexpr std::uint64_t kFactsBetweenSnapshots = 200'000;

}  // namespace

void Service::compact_if_long() {
  const std::uint64_t facts = desk_.view().sequence() - compacted_at_;
  if ((facts < kFactsBetweenSnapshots || facts < 4 * book_.size()) && !desk_.store().wants_compaction()) return;
  if (!room_.takes_snapshot()) return;
  if (auto done = compact(); !done) return desk_.fail_for_good(done);
}

// What was kept for long enough goes, a little at a time: soon again where more of it is left, since a thousand in ten
// minutes are fewer than may come.
void Service::forget_old() {
  if (desk_.view().now() < forgets_at_) return;
  constexpr std::int64_t kAtOnce = 1000;
  const Instant until = desk_.view().now() - std::min(settings_.keep_history, desk_.view().now() - kEpoch);
  const bool more = desk_.store().drop_history(until, kAtOnce) > 0;
  room_.keep_spare();
  forgets_at_ = desk_.view().now() + (more ? seconds(1) : seconds(600));
  desk_.store().drop_keys(desk_.view().now() - std::min(seconds(86'400), desk_.view().now() - kEpoch));
}

// Lets go of what was kept for long enough, and of what ended jobs of users with too much ran.
void Service::let_go() {
  forget_old();
  room_.set_jobs(book_.size());
  for (const std::uint32_t uid : room_.begin_to_let_go()) let_ended_go(uid, {});
}

// What ended jobs of theirs ran makes room first.
Result<void> Service::has_room_on_disk(const Caller& caller, std::uint64_t bytes) {
  constexpr int kSlices = 4;  // some 100 ms in all
  room_.set_jobs(book_.size());
  auto room = room_.takes_jobs(caller, bytes);
  StateRoom::Place behind;
  for (int slice = 0; !room && !caller.operates && slice < kSlices && (slice == 0 || behind); ++slice) {
    behind = room_.makes_room(caller.uid, behind);
    room = room_.takes_jobs(caller, bytes);
  }
  return room;
}

// What a user's jobs ran, a little at a time; but for those that have just ended, whose output a client may follow.
void Service::let_ended_go(std::uint32_t uid, std::optional<JobId> behind) {
  if (desk_.stopped() || !desk_.health()) return;
  constexpr std::chrono::milliseconds kBetween{50};
  constexpr Duration kFollowed = seconds(600);
  behind = room_.lets_go_some(uid, behind, desk_.view().now() - std::min(kFollowed, desk_.view().now() - kEpoch));
  if (behind) desk_.loop().later([this, uid, behind] { let_ended_go(uid, behind); }, kBetween);
  static_cast<void>(desk_.decide());
}

}  // namespace rota::serve

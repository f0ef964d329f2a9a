#include "plan/plan.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "model/moment.h"
#include "plan/kept_timeline.h"

namespace rota {

Plan::Plan() : kept_timeline_(std::make_unique<KeptTimeline>()) {}
Plan::~Plan() = default;

// What only matters where nodes are described, sleep or are reserved.
void Plan::open_nodes(const View& view) {
  if (!view.power().all_on()) collect_returns(view);
  if (!view.nodes().counted() || !nodes_.counted()) nodes_.follow(view.nodes());
  if (view.reserved_in_reach()) withhold_reserved(view);
}

// What is reserved from now on, or has been for a while.
void Plan::withhold_reserved(const View& view) {
  free_ -= view.reservations().processors_at(view.now());
  for (const Reservation& r : view.reservations().all()) {
    if (!r.holds_at(view.now())) continue;
    for (const NodeId node : r.nodes) {
      if (!nodes_.available(node)) continue;
      free_ -= nodes_.free_on(node);
      nodes_.set_available(node, false);
    }
  }
}

void Plan::start(JobId id, const Reason& reason, bool backfilled) {
  if (!nodes_.counted()) {
    Placement& where = next_place();
    CHECK(nodes_.find(view_->job(id).spec, where), "a job starts where there is room for it");
    nodes_.occupy(where);
  }
  note_start(id, reason, backfilled);
}

void Plan::note_start(JobId id, const Reason& reason, bool backfilled) {
  const Job& job = view_->job(id);
  free_ -= job.spec.processors;
  const Tentative tentative{view_->now() + job.expected, job.spec.processors, placed_ - 1};
  if (!started_.empty() && tentative.end < started_.back().end) started_in_order_ = false;
  started_.push_back(tentative);
  if (profile_open_) profile_.change(view_->now(), tentative.end, -tentative.processors);
  actions_.push_back({ActionKind::start, backfilled, id, kNever, reason});
}

void Plan::sort_starts() const {
  std::sort(started_.begin(), started_.end());
  started_in_order_ = true;
}

bool Plan::starts(JobId id) const {
  if (actions_seen_ < actions_.size()) {
    for (; actions_seen_ < actions_.size(); ++actions_seen_) {
      const Action& a = actions_[actions_seen_];
      if (a.kind == ActionKind::start) jobs_started_.push_back(a.job);
    }
    std::ranges::sort(jobs_started_);
  }
  return std::ranges::binary_search(jobs_started_, id);
}

bool Plan::holds(JobId id) const {
  return std::any_of(held_.begin(), held_.end(), [&](const Hold& h) { return h.job == id; });
}

Profile& Plan::open_profile() {
  const Instant now = view_->now();
  profile_.open(now, view_->free());
  const Instant late = view_->options().presume_ended ? now : now + kMoment;
  view_->running().for_each([&](const RunningEntry& e) {
    if (e.place.end > now) {
      profile_.release(e.place.end, e.processors);
    } else if (late > now) {
      profile_.release(late, e.processors);
    }
    return true;
  });
  for (const Release& r : returns_) profile_.change(r.at, kNever, r.processors);
  for (const Reservation& r : view_->reservations().all()) profile_.withhold(r.from, r.until, r.processors);
  for (const Tentative& t : started_) profile_.change(now, t.end, -t.processors);
  profile_open_ = true;
  return profile_;
}

// At the end of its cycle. What is carried out is one fact for each, and one that closes the cycle.
void Plan::note_kept_profile() {
  profile_kept_ = false;
  if (promises_.size() != promises_kept_) return;
  for (const Action& a : actions_) {
    if (a.kind != ActionKind::start) return;
  }
  kept_until_ = kept_from_ + 1 + actions_.size() + promises_.size() + (reviewed_ ? 1 : 0) + (replanned_ ? 1 : 0);
}

bool Plan::follow_profile() {
  const View& view = *view_;
  if (kept_until_ == kNotKept || profile_open_ || !actions_.empty()) return false;
  const auto ended = view.gone().size();
  if (view.sequence() != kept_until_ + ended + view.arrived().size()) return false;  // something else has happened
  if (view.releases() != static_cast<std::int64_t>(ended)) return false;             // or a job is back in the queue
  if (!view.nodes().counted() || view.options().presume_ended || !view.reservations().empty()) return false;
  if (view.running().released_by(view.now()) > 0) return false;  // an overdue job holds its processors a moment longer
  for (const JobId id : view.gone()) {
    if (!view.job(id).ended() || view.job(id).expected_end() <= kept_at_) return false;
  }
  profile_.advance(view.now());
  for (const JobId id : view.gone()) {
    profile_.change(view.now(), view.job(id).expected_end(), view.job(id).spec.processors);
  }
  return profile_open_ = true;
}

void Plan::kill(JobId id, const Reason& reason) {
  ++kills_;
  actions_.push_back({ActionKind::kill, false, id, kNever, reason});
}

void Plan::extend(JobId id, Instant until, const Reason& reason) {
  actions_.push_back({ActionKind::extend, false, id, until, reason});
}

void Plan::preempt(JobId id, const Reason& reason, Instant until) {
  actions_.push_back({ActionKind::preempt, false, id, until, reason});
}

// A job that is overdue holds its processors a moment longer; all that are overdue are counted as ending then.
Opening Plan::opening_at(Instant at, std::int64_t beside) const {
  const Instant soonest = view_->now() + kMoment;
  if (at >= soonest) return {at, beside};
  const RunningJobs& running = view_->running();
  return {soonest, beside + running.released_by(soonest) - running.released_by(at)};
}

Opening Plan::opening(std::int64_t processors) const {
  const RunningJobs& running = view_->running();
  std::int64_t taken = 0;
  for (const Tentative& t : started_) taken += t.processors;
  const std::int64_t free_now =
      view_->free_as_reported() - sent_to_sleep_ - taken;  // free at `at`: this + all that is released by then
  std::int64_t from_others = 0;                            // released by what is not a running job, by the same instant
  auto start = starts_by_end().begin();
  auto back = returns_.begin();
  for (;;) {
    const RunningJobs::Release release = running.release_of(processors - free_now - from_others);
    const Instant next_start_over = start != started_.end() ? start->end : kNever;
    const Instant next = back != returns_.end() ? std::min(back->at, next_start_over) : next_start_over;
    if (release.at == kNever && next == kNever) return {};
    if (release.at < next) return opening_at(release.at, free_now + from_others + release.processors - processors);
    for (; start != started_.end() && start->end == next; ++start) from_others += start->processors;
    for (; back != returns_.end() && back->at == next; ++back) from_others += back->processors;
    const std::int64_t spare = free_now + from_others + running.released_by(next) - processors;
    if (spare >= 0) return opening_at(next, spare);
  }
}

std::int64_t Plan::free_at(Instant at) const {
  std::int64_t free = view_->free_as_reported() - sent_to_sleep_ + view_->running().released_by(at);
  for (const Tentative& t : started_) free -= t.end > at ? t.processors : 0;
  for (const Release& r : returns_) free += r.at <= at ? r.processors : 0;
  return free;
}

void Plan::note_promise(JobId id, Instant start) {
  const bool has_place = !nodes_.counted() && !view_->promised_place(id).shares.empty();
  if (view_->job(id).promise != start || has_place) promises_.push_back({id, start});
}

std::uint64_t Plan::hash() const {
  Hash hash;
  const auto mix_instant = [&](Instant at) { hash.mix(static_cast<std::uint64_t>(at.time_since_epoch().count())); };
  mix_instant(view_->now());
  std::size_t place = 0;
  for (const Action& a : actions_) {
    const std::uint32_t about = a.of_power() ? a.node.value : a.job.value;
    hash.mix(std::uint64_t{about} << 8U | static_cast<std::uint64_t>(a.kind) << 1U | (a.backfilled ? 1U : 0U));
    if (a.kind == ActionKind::extend || a.kind == ActionKind::preempt) mix_instant(a.until);
    if (a.kind == ActionKind::preempt) hash.mix(a.reason.promised.value);
    if (a.has_place() && placed_ > 0) mix(hash, places_[place++]);
  }
  hash.mix(actions_.size());
  for (const Promise& p : promises_) {
    hash.mix(p.job.value);
    mix_instant(p.start);
    if (p.place != Promise::kNone) mix(hash, set_aside_[p.place]);
  }
  if (reviewed_) mix_instant(review_);
  if (replanned_) {
    mix_instant(replan_.tried);
    mix_instant(replan_.walked);
    mix_instant(replan_.planned);
    hash.mix((replan_.owes_try ? 1U : 0U) | (replan_.owes_plan ? 2U : 0U));
  }
  return hash.value();
}

void Plan::mix(Hash& hash, const Placement& where) {
  for (const Share& share : where.shares) hash.mix(std::uint64_t{share.node.value} << 32U | share.processors);
  hash.mix(static_cast<std::uint64_t>(where.per_node.memory));
  hash.mix(std::uint64_t{static_cast<std::uint32_t>(where.per_node.accelerators)} << 32U | where.licences);
  hash.mix(std::uint64_t{where.licence.value} << 32U | where.shares.size());
  where.more_licences.each([&](const LicenceUse& also) {
    hash.mix(std::uint64_t{also.licence.value} << 32U | also.count);
    return true;
  });
}

}  // namespace rota

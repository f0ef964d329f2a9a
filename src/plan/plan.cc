#include "plan/plan.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace rota {
namespace {

// The last instant that still counts as "by now": a running job whose time is up holds its processors a moment longer.
constexpr Duration kMoment{1};

}  // namespace

void Plan::open(const View& view) {
  view_ = &view;
  free_ = view.free();
  actions_.clear();
  promises_.clear();
  started_.clear();
  held_.clear();
  profile_open_ = false;
  kills_ = 0;
  migrations_ = 0;
  closed_ = false;
  placed_ = 0;
  set_asides_ = 0;
  if (!view.nodes().counted() || !nodes_.counted()) nodes_.follow(view.nodes());
}

void Plan::start(JobId id, const Reason& reason, bool backfilled) {
  if (!nodes_.counted()) {
    Placement& where = next_place();
    CHECK(nodes_.find(view_->job(id).spec, where), "a job starts where there is room for it");
    nodes_.take(where);
  }
  note_start(id, reason, backfilled);
}

void Plan::note_start(JobId id, const Reason& reason, bool backfilled) {
  const Job& job = view_->job(id);
  free_ -= job.spec.processors;
  const Tentative tentative{view_->now() + job.expected, job.spec.processors, placed_ - 1};
  started_.insert(std::upper_bound(started_.begin(), started_.end(), tentative,
                                   [](const Tentative& a, const Tentative& b) { return a.end < b.end; }),
                  tentative);
  if (profile_open_) profile_.change(view_->now(), tentative.end, -tentative.processors);
  actions_.push_back({ActionKind::start, backfilled, id, kNever, reason});
}

bool Plan::starts(JobId id) const {
  return std::any_of(actions_.begin(), actions_.end(),
                     [&](const Action& a) { return a.job == id && a.kind == ActionKind::start; });
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
  for (const Tentative& t : started_) profile_.change(now, t.end, -t.processors);
  profile_open_ = true;
  return profile_;
}

void Plan::kill(JobId id, const Reason& reason) {
  ++kills_;
  actions_.push_back({ActionKind::kill, false, id, kNever, reason});
}

void Plan::extend(JobId id, Instant until, const Reason& reason) {
  actions_.push_back({ActionKind::extend, false, id, until, reason});
}

void Plan::preempt(JobId id, const Reason& reason) {
  actions_.push_back({ActionKind::preempt, false, id, kNever, reason});
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
  const std::int64_t unheld = view_->unheld() - taken;  // free at `at`: unheld + all that is released by then
  std::int64_t from_started = 0;                        // released by the tentative starts that are over before `at`
  for (std::size_t i = 0;; ++i) {
    const RunningJobs::Release release = running.release_of(processors - unheld - from_started);
    const Instant next_start_over = i < started_.size() ? started_[i].end : kNever;
    if (release.at == kNever && next_start_over == kNever) return {};
    if (release.at < next_start_over)
      return opening_at(release.at, unheld + from_started + release.processors - processors);
    from_started += started_[i].processors;
    while (i + 1 < started_.size() && started_[i + 1].end == next_start_over) from_started += started_[++i].processors;
    const std::int64_t left = unheld + from_started + running.released_by(next_start_over) - processors;
    if (left >= 0) return opening_at(next_start_over, left);
  }
}

std::int64_t Plan::left_at(Instant at) const {
  std::int64_t left = view_->unheld() + view_->running().released_by(at);
  for (const Tentative& t : started_) left -= t.end > at ? t.processors : 0;
  return left;
}

void Plan::promise(JobId id, Instant start) {
  const bool has_place = !nodes_.counted() && !view_->promised_place(id).shares.empty();
  if (view_->job(id).promise != start || has_place) promises_.push_back({id, start});
}

std::uint64_t Plan::hash() const {
  Hash hash;
  for (const Action& a : actions_) {
    hash.mix(std::uint64_t{a.job.value} << 8U | static_cast<std::uint64_t>(a.kind) << 1U | (a.backfilled ? 1U : 0U));
    if (a.kind == ActionKind::extend) hash.mix(static_cast<std::uint64_t>(a.until.time_since_epoch().count()));
  }
  for (const Promise& p : promises_) {
    hash.mix(p.job.value);
    hash.mix(static_cast<std::uint64_t>(p.start.time_since_epoch().count()));
  }
  return hash.value();
}

}  // namespace rota

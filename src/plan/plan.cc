#include "plan/plan.h"

#include <algorithm>

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
}

void Plan::start(JobId id, const Reason& reason, bool backfilled) {
  const Job& job = view_->job(id);
  free_ -= job.spec.processors;
  const Tentative tentative{view_->now() + job.expected, job.spec.processors};
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

Opening Plan::opening(std::int64_t processors) const {
  const RunningJobs& running = view_->running();
  std::int64_t taken = 0;
  for (const Tentative& t : started_) taken += t.processors;
  const std::int64_t unheld = view_->unheld() - taken;  // free at `at`: unheld + all that is released by then
  Instant at = kNever;
  std::int64_t from_started = 0;
  for (std::size_t i = 0;; ++i) {  // with the first i tentative starts over: do running jobs or start i fill the need?
    const Instant by_running = running.release_of(processors - unheld - from_started);
    if (i == started_.size() || by_running <= started_[i].end) {
      at = by_running;
      break;
    }
    from_started += started_[i].processors;
    if (unheld + from_started + running.released_by(started_[i].end) >= processors) {
      at = started_[i].end;
      break;
    }
  }
  if (at == kNever) return {};
  at = std::max(at, view_->now() + kMoment);
  std::int64_t free_then = unheld + running.released_by(at);
  for (const Tentative& t : started_) free_then += t.end <= at ? t.processors : 0;
  return {at, free_then - processors};
}

void Plan::promise(JobId id, Instant start) {
  if (view_->job(id).promise != start) promises_.push_back({id, start});
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

#include "policy/auction/bid.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "model/moment.h"
#include "plan/profile.h"
#include "policy/auction/bid_room.h"

namespace rota {
namespace {

constexpr double kBillion = 1e9;

Price price_of(double value) { return static_cast<Price>(std::llround(value * kBillion)); }

double nearness(const Haul& haul) {
  if (haul.longest <= Duration{0}) return 1;
  return 1 - static_cast<double>(haul.here.count()) / static_cast<double>(haul.longest.count());
}

double scaled(Duration d, double factor) { return static_cast<double>(d.count()) * factor; }

// Processors of the jobs that would give way to the job. The index by priority is kept only where jobs give way.
std::int64_t held_below(const View& view, const JobSpec& job) { return view.by_priority().held_below(job.priority); }

// What the jobs that must give way cost, the lowest priorities first: their priorities, one for each processor taken.
std::int64_t priorities_taken(const View& view, std::int32_t priority, std::int64_t needed) {
  std::int64_t cost = 0;
  for (const auto& [of, held] : view.by_priority().held()) {
    if (of >= priority || needed <= 0) break;
    const std::int64_t taken = std::min(needed, held);
    cost += taken * of;
    needed -= taken;
  }
  return cost;
}

// Processors of nodes that are not on and could be.
std::int64_t obtainable(const View& view) {
  const NodePower& power = view.power();
  return power.processors(PowerState::booting) + power.processors(PowerState::shutting_down) +
         power.processors(PowerState::off);
}

Bid published(const BidRules& rules, const View& view, const JobSpec& job, const Haul& haul) {
  const std::int64_t free = view.free();
  const auto n = static_cast<double>(job.processors);
  const double resources = std::min(1.0, static_cast<double>(free) / n) / 2 +
                           static_cast<double>(free) / static_cast<double>(view.options().processors) / 2;
  double interruptions = 1;
  if (const std::int64_t missing = job.processors - free - obtainable(view); missing > 0) {
    const auto cost = static_cast<double>(priorities_taken(view, job.priority, missing));
    interruptions = 0.75 - cost / (n * rules.priorities);
  }
  const double value =
      rules.weights[0] * resources + rules.weights[1] * interruptions + rules.weights[2] * nearness(haul);
  return {{},
          price_of(value),
          haul.here,
          haul.here,
          {price_of(resources), price_of(interruptions), price_of(nearness(haul))}};
}

// Visits the waiting jobs that go first, in order, until visit(entry) returns false. The job may be in the queue
// itself.
template <class Visit>
void for_each_ahead(const View& view, const JobSpec& job, const Visit& visit) {
  const auto look = [&](const WaitingEntry& e) {
    const JobSpec& other = view.job(e.job).spec;
    return other.priority >= job.priority && other.number != job.number && visit(e);
  };
  if (view.options().waiting.by_queue) return view.waiting().for_each_in_queue_order(look);
  for (const WaitingEntry* e = view.waiting().head(); e && look(*e); e = view.waiting().next(e->place)) {
  }
}

// Until so many processors of nodes that are away are on; kLongest: there are not so many.
Duration boot_wait(const View& view, std::int64_t missing, Instant now) {
  Duration wait = kLongest;
  view.power().for_each_return(now, true, [&](Instant at, std::int64_t processors) {
    if (missing <= 0) return;
    missing -= processors;
    if (missing <= 0) wait = at - now;
  });
  return wait;
}

// Jobs end at a rate: on average all processors that are held come free once in a mean run time. Unless nodes boot
// sooner.
Duration wait_by_rate(const BidRules& rules, const View& view, const JobSpec& job, std::int64_t missing, Instant now) {
  const std::int64_t held = view.running().processors();
  std::int64_t needed = missing;
  for_each_ahead(view, job, [&](const WaitingEntry& e) {
    needed += e.processors;
    return true;
  });
  const Duration ends{rules.mean_run_time.count() * needed / std::max<std::int64_t>(held, 1)};
  return view.power().all_on() ? ends : std::min(ends, boot_wait(view, needed, now));
}

constexpr int kPlanned = 32;  // so many of those ahead are given places; the work of the others is spread evenly

// Each job that goes first takes the earliest place that there is, then the job; all run as long as expected.
class WaitByPlan {
 public:
  WaitByPlan(const View& view, const JobSpec& job, Instant now, Duration here)
      : view_(view), job_(job), now_(now), there_(now + here) {}

  Duration run(std::span<const Coming> coming) {
    list_releases();
    profile_.open(now_, view_.free() + held_below(view_, job_));
    for (const auto& [at, processors] : releases_) profile_.release(at, processors);
    for_each_ahead(view_, job_, [&](const WaitingEntry& e) {
      place(now_, e.processors, e.expected);
      return true;
    });
    for (const Coming& c : coming) place(std::max(c.at, now_), c.processors, c.limit);
    const Instant start = profile_.earliest(there_, job_.processors, job_.limit);
    if (start == kNever) return kLongest;
    return start - there_ + Duration{work_ / view_.options().processors};
  }

 private:
  void list_releases() {
    const Instant soon = now_ + kMoment;  // a job that is overdue may end any moment
    view_.running().for_each([&](const RunningEntry& e) {
      const bool gives_way = view_.options().by_priority && view_.job(e.job).spec.priority < job_.priority;
      if (!gives_way) releases_.emplace_back(std::max(e.place.end, soon), e.processors);
      return true;
    });
    const auto ends = static_cast<std::ptrdiff_t>(releases_.size());
    view_.power().for_each_return(there_, true, [&](Instant at, std::int64_t processors) {
      releases_.emplace_back(std::max(at, soon), processors);
    });
    std::inplace_merge(releases_.begin(), releases_.begin() + ends, releases_.end());
  }

  void place(Instant from, std::uint32_t processors, Duration expected) {
    if (planned_++ >= kPlanned) {
      work_ += expected.count() * processors;
      return;
    }
    const Instant start = profile_.earliest(from, processors, expected);
    if (start != kNever) profile_.change(start, start + expected, -std::int64_t{processors});
  }

  const View& view_;
  const JobSpec& job_;
  Instant now_;
  Instant there_;  // when the job could be in the queue: only then are nodes woken for it
  Profile profile_;
  std::vector<std::pair<Instant, std::int64_t>> releases_;
  int planned_ = 0;
  std::int64_t work_ = 0;  // processor-milliseconds
};

Duration wait_for_places(BidRoom& room, const JobSpec& job, Instant there) {
  const Instant at = room.opening(job, there);
  return at == kNever ? kLongest : at - there;
}

}  // namespace

Duration expected_wait(const BidRules& rules, const View& view, const JobSpec& job, const Haul& haul,
                       const Outlook& outlook) {
  std::int64_t missing = job.processors - view.free() - held_below(view, job);
  const Instant now = std::max(view.now(), outlook.now);
  std::vector<Coming> before;
  for (const Coming& c : outlook.coming) {
    if (c.at <= now + haul.here) before.push_back(c);
  }
  if (rules.valuation == Valuation::by_plan) {
    const bool at_once = missing <= 0 && view.waiting().empty() && before.empty();
    const Duration by_count = at_once ? Duration{0} : WaitByPlan(view, job, now, haul.here).run(before);
    if (!needs_places(view, job)) return by_count;
    BidRoom own(view, now);
    return std::max(by_count, wait_for_places(outlook.room ? *outlook.room : own, job, now + haul.here));
  }
  for (const Coming& c : before) missing += c.processors;
  return missing <= 0 ? Duration{0} : wait_by_rate(rules, view, job, missing, now);
}

std::optional<Bid> bid_for(const BidRules& rules, const View& view, const JobSpec& job, const Haul& haul,
                           const Outlook& outlook) {
  if (job.processors > view.options().processors) return std::nullopt;
  if (rules.valuation != Valuation::published) {
    const Duration start = haul.here + expected_wait(rules, view, job, haul, outlook);
    const double room = static_cast<double>(view.free()) / static_cast<double>(view.options().processors);
    const Price cost = (start + haul.margin).count();
    return Bid{{}, std::llround(scaled(rules.mean_run_time, rules.spare * room)) - cost, start, haul.here};
  }
  const std::int64_t offered = view.free() + obtainable(view) + held_below(view, job);
  if (offered < job.processors) return std::nullopt;
  BidRoom own(view, view.now());
  if (needs_places(view, job) && !(outlook.room ? *outlook.room : own).could_offer(job)) return std::nullopt;
  return published(rules, view, job, haul);
}

Bid bid_of_the_unable(const BidRules& rules, const Haul& haul) {
  return {{}, price_of(-1 + nearness(haul) / 10), haul.here + rules.mean_run_time, haul.here};
}

}  // namespace rota

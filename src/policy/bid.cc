#include "policy/bid.h"

#include <algorithm>
#include <cmath>

#include "plan/profile.h"

namespace rota {
namespace {

constexpr double kBillion = 1e9;

Price price_of(double value) { return static_cast<Price>(std::llround(value * kBillion)); }

double nearness(const Haul& haul) {
  if (haul.longest <= Duration{0}) return 1;
  return 1 - static_cast<double>(haul.here.count()) / static_cast<double>(haul.longest.count());
}

double scaled(Duration d, double factor) { return static_cast<double>(d.count()) * factor; }

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

Bid published(const BidRules& rules, const View& view, const JobSpec& job, const Haul& haul) {
  const std::int64_t free = view.free();
  const auto n = static_cast<double>(job.processors);
  const double resources = std::min(1.0, static_cast<double>(free) / n) / 2 +
                           static_cast<double>(free) / static_cast<double>(view.options().processors) / 2;
  double interruptions = 1;
  if (free < job.processors) {
    const auto cost = static_cast<double>(priorities_taken(view, job.priority, job.processors - free));
    interruptions = 0.75 - cost / (n * rules.priorities);
  }
  const double value =
      rules.weights[0] * resources + rules.weights[1] * interruptions + rules.weights[2] * nearness(haul);
  return {{}, price_of(value), std::max(haul.here, haul.boot)};
}

// Those who wait and go first, in order: visit(entry). The job may be in the queue itself.
template <class Visit>
void for_each_ahead(const View& view, const JobSpec& job, const Visit& visit) {
  for (const WaitingEntry* e = view.waiting().head(); e; e = view.waiting().next(e->place)) {
    const JobSpec& other = view.job(e->job).spec;
    if (other.priority < job.priority || other.number == job.number) return;
    visit(*e);
  }
}

// Jobs end at a rate: on average all processors that are held come free once in a mean run time.
Duration wait_by_rate(const BidRules& rules, const View& view, const JobSpec& job, std::int64_t missing) {
  const std::int64_t held = view.options().processors - view.free();
  std::int64_t needed = missing;
  for_each_ahead(view, job, [&](const WaitingEntry& e) { needed += e.processors; });
  return Duration{rules.mean_run_time.count() * needed / std::max<std::int64_t>(held, 1)};
}

// Everybody who goes first takes the earliest place that there is, then the job; all run as long as expected.
Duration wait_by_plan(const View& view, const JobSpec& job) {
  const Instant soon = view.now() + Duration{1};  // whoever is overdue may end any moment
  Profile profile;
  profile.open(view.now(), view.free() + view.by_priority().held_below(job.priority));
  view.running().for_each([&](const RunningEntry& e) {
    if (view.job(e.job).spec.priority >= job.priority) profile.release(std::max(e.place.end, soon), e.processors);
    return true;
  });
  for_each_ahead(view, job, [&](const WaitingEntry& e) {
    const Instant start = profile.earliest(view.now(), e.processors, e.expected);
    if (start != kNever) profile.change(start, start + e.expected, -std::int64_t{e.processors});
  });
  return profile.earliest(view.now(), job.processors, job.limit) - view.now();
}

Bid by_expected_start(const BidRules& rules, const View& view, const JobSpec& job, const Haul& haul) {
  const Duration start = std::max(haul.here, haul.boot) + expected_wait(rules, view, job);
  const double room = static_cast<double>(view.free()) / static_cast<double>(view.options().processors);
  return {{}, std::llround(scaled(rules.mean_run_time, rules.spare * room)) - start.count(), start};
}

}  // namespace

Duration expected_wait(const BidRules& rules, const View& view, const JobSpec& job) {
  const std::int64_t missing = job.processors - view.free() - view.by_priority().held_below(job.priority);
  if (missing <= 0) return Duration{0};
  return rules.valuation == Valuation::by_plan ? wait_by_plan(view, job) : wait_by_rate(rules, view, job, missing);
}

std::optional<Bid> bid_for(const BidRules& rules, const View& view, const JobSpec& job, const Haul& haul) {
  if (job.processors > view.options().processors) return std::nullopt;
  if (rules.valuation != Valuation::published) return by_expected_start(rules, view, job, haul);
  if (view.free() + view.by_priority().held_below(job.priority) < job.processors) return std::nullopt;
  return published(rules, view, job, haul);
}

Bid bid_of_the_unable(const BidRules& rules, const Haul& haul) {
  return {{}, price_of(-1 + nearness(haul) / 10), std::max(haul.here, haul.boot) + rules.mean_run_time};
}

}  // namespace rota

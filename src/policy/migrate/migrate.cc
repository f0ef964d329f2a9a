#include "policy/migrate/migrate.h"

#include <algorithm>
#include <optional>

#include "policy/predict/estimate.h"

namespace rota {
namespace {

constexpr Duration kLeastGain = seconds(120);  // a move that gains less is not worth the trouble

Duration elapsed(const View& view, const Job& job) { return job.done + job.ran_by(view.now()); }

// Which jobs may move, depending on whether others wait.
class Movers {
 public:
  Movers(const View& view, const Plan& plan)
      : now_(view.now()),
        jobs_wait_(view.waiting().size() > plan.places().size()),
        counts_decide_(view.counts_decide()) {}

  bool may_move(const Job& job) const {
    if (!job.spec.may_move() || !job.steady()) return false;
    if (job.preemptions > 0 && job.start == now_) return false;  // it gave way, and is back at this very instant
    return !jobs_wait_ || (counts_decide_ && job.spec.restart == Restart::checkpoint);
  }
  bool none_may_move() const { return jobs_wait_ && !counts_decide_; }

 private:
  Instant now_;
  bool jobs_wait_;
  bool counts_decide_;
};

struct Move {
  JobId job;
  std::uint32_t dispatch = 0;
  Duration gain{0};
  Placement where;
};

// What moving the job to nodes of that factor would gain.
Duration gain_of(const View& view, const Job& job, std::int32_t slow, std::int32_t fast) {
  return job.expected_end() - view.now() - time_after_move(job, view.now(), slow, fast);
}

// Nodes of at least that factor; licences it holds already.
bool finds(const Plan& plan, JobSpec spec, std::int32_t least_factor, Placement& where) {
  forget_licences(spec);
  return plan.nodes().find(spec, where, least_factor);
}

}  // namespace

void Migrate::decide(const View& view, Plan& plan) const {
  if (plan.closed() || view.nodes().counted() || !view.nodes().factors_differ()) return;
  if (plan.nodes().free() <= 0 || view.running().empty()) return;
  if (knobs_.how == Migration::gain) {
    by_gain(view, plan);
  } else {
    by_cpu_factor(view, plan);
  }
}

Instant Migrate::next_wakeup(const View& view) const {
  if (knobs_.how != Migration::cpu_factor || view.running().empty() || !view.nodes().factors_differ()) return kNever;
  const Duration since = view.now() - kEpoch;
  return kEpoch + (since / knobs_.poll + 1) * knobs_.poll;
}

void Migrate::by_cpu_factor(const View& view, Plan& plan) const {
  if ((view.now() - kEpoch) % knobs_.poll != Duration{0} || view.last_migration() == view.now()) return;
  const Movers movers(view, plan);
  const NodeId target = plan.nodes().fastest_with_room();
  if (!target.valid() || movers.none_may_move()) return;
  NodeId source;
  const auto slower = [&](NodeId a, NodeId b) {
    const NodeSpace& nodes = view.nodes();
    return nodes.cpu_factor(a) != nodes.cpu_factor(b) ? nodes.cpu_factor(a) < nodes.cpu_factor(b) : a < b;
  };
  view.running().for_each([&](const RunningEntry& e) {
    for (const Share& s : view.placement(e.job).shares) {
      if (!source.valid() || slower(s.node, source)) source = s.node;
    }
    return true;
  });
  if (!source.valid() || view.nodes().cpu_factor(source) >= view.nodes().cpu_factor(target)) return;
  const auto place = [&](const JobSpec& spec) { return Placement{{{target, spec.processors}}, spec.per_node()}; };
  std::optional<JobId> victim;
  view.running().for_each([&](const RunningEntry& e) {
    const Placement& where = view.placement(e.job);
    const Job& job = view.job(e.job);
    if (where.shares.size() != 1 || where.shares[0].node != source || elapsed(view, job) <= knobs_.threshold)
      return true;
    if (victim && view.job(*victim).dispatch < job.dispatch) return true;
    const bool fits = plan.nodes().admits(target, job.spec) && plan.nodes().fits(place(job.spec));
    if (fits && movers.may_move(job)) victim = e.job;
    return true;
  });
  if (!victim) return;
  const Job& job = view.job(*victim);
  const JobSpec& spec = job.spec;
  const Placement there = place(spec);
  const bool a_start_is_promised = !view.promised().empty() || !plan.promises().empty();
  const std::int32_t slow = view.nodes().cpu_factor(source), fast = view.nodes().cpu_factor(target);
  if (a_start_is_promised && view.now() + moved_run_time(job, view.now(), slow, fast) > job.expected_end()) return;
  plan.migrate(*victim, there, {Rule::faster_node, {}, kNever, plan.free(), spec.processors});
}

void Migrate::by_gain(const View& view, Plan& plan) const {
  const Movers movers(view, plan);
  if (movers.none_may_move()) return;
  for (;;) {
    const NodeId fastest = plan.nodes().fastest_with_room();
    if (!fastest.valid()) return;
    const std::int32_t most = plan.nodes().cpu_factor(fastest);
    std::optional<Move> best;
    Placement where;
    view.running().for_each([&](const RunningEntry& e) {
      const Job& job = view.job(e.job);
      const std::int32_t here = view.nodes().cpu_factor(view.placement(e.job));
      const bool still_moving = job.moved_after(view.now() - job.spec.restart_cost);
      if (here >= most || still_moving || !movers.may_move(job) || plan.migrates(e.job)) return true;
      const Duration needed = std::max(kLeastGain, job.spec.restart_cost * knobs_.margin / 100);
      const auto better = [&](Duration gain) {
        if (gain <= needed) return false;
        return !best || gain > best->gain || (gain == best->gain && job.dispatch < best->dispatch);
      };
      if (!better(gain_of(view, job, here, most)) || !finds(plan, job.spec, here + 1, where)) return true;
      const Duration gain = gain_of(view, job, here, plan.nodes().cpu_factor(where));
      if (better(gain)) best = Move{e.job, job.dispatch, gain, where};
      return true;
    });
    if (!best) return;
    plan.migrate(best->job, best->where,
                 {Rule::faster_node, {}, kNever, plan.free(), view.job(best->job).spec.processors});
  }
}

}  // namespace rota

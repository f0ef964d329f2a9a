#include "policy/power/power_load.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "policy/power/capacity_on.h"

namespace rota {
namespace {

class Review {
 public:
  Review(const View& view, Plan& plan, const PowerKnobs& knobs)
      : view_(view),
        plan_(plan),
        knobs_(knobs),
        machine_(*view.options().machine),
        capacity_(machine_),
        all_(static_cast<std::int64_t>(machine_.nodes.size())),
        busy_(static_cast<std::int64_t>(plan.nodes().busy_count())),
        on_(view.power().count(PowerState::on) + view.power().count(PowerState::booting)) {}

  void run() {
    smallest_ = machine_.partitions.empty() ? 1 : machine_.partitions[machine_.default_partition.value].min_nodes;
    count_jobs();
    const auto on = [&](NodeId node) { return capacity_.change_on(node, 1), true; };
    view_.power().for_each_in(PowerState::on, on);
    view_.power().for_each_in(PowerState::booting, on);
    const bool opened = open(target_of_opening());
    if (!opened && view_.power().count(PowerState::off) + view_.power().count(PowerState::on) > 0) close();
  }

 private:
  void count_jobs() {
    std::array<std::int64_t, WorkHistory::kClasses> in_queue{};
    const auto count = [&](const JobSpec& spec) { ++in_queue[WorkHistory::class_of(view_.work().nodes_of(spec))]; };
    view_.running().for_each([&](const RunningEntry& e) { return count(view_.job(e.job).spec), true; });
    view_.waiting().for_each_in_queue_order([&](const WaitingEntry& e) {
      const JobSpec& spec = view_.job(e.job).spec;
      count(spec);
      if (plan_.starts(e.job)) return true;
      largest_ = std::max<std::int64_t>(largest_, view_.work().nodes_of(spec));
      capacity_.need(spec);
      return true;
    });
    const auto uses = view_.work().uses(knobs_.samples);
    for (std::size_t k = 0; k < in_queue.size(); ++k) {
      const auto jobs = static_cast<double>(in_queue[k]);
      if (in_queue[k] == 0 || uses[k].jobs == 0) continue;
      const double n = knobs_.root_of_queue ? jobs : static_cast<double>(uses[k].jobs);
      work_ += jobs * (uses[k].mean + knobs_.confidence * uses[k].deviation / std::sqrt(n));
    }
  }

  double longest() const {
    Duration longest = knobs_.longest;
    if (longest == Duration{0} && !machine_.partitions.empty()) {
      longest = machine_.partitions[machine_.default_partition.value].max_time;
    }
    if (longest == Duration{0} || longest == kLongest) longest = view_.work().longest_limit();
    return static_cast<double>(std::max(longest, Duration{1}).count());
  }
  double load(std::int64_t nodes) const {
    if (nodes > 0) return work_ / (static_cast<double>(nodes) * longest());
    return work_ > 0 ? std::numeric_limits<double>::infinity() : 0;
  }
  // So many that the load of that many is the nearest to this one.
  std::int64_t nodes_for(double wanted) const {
    const auto few = static_cast<std::int64_t>(std::min(work_ / (wanted * longest()), 1e9));
    return load(few) - wanted <= wanted - load(few + 1) ? few : few + 1;
  }
  double trigger() const { return load(knobs_.load_of_on ? on_ : all_); }
  std::int64_t least() const { return std::max(busy_ + smallest_, largest_); }
  // Whether what is on could not take some job without it; whoever wants the published rule alone does not ask.
  bool lacks(NodeId node) const { return !knobs_.published && capacity_.lacks(node); }
  bool needs(NodeId node) const { return !knobs_.published && capacity_.needs(node); }
  bool few_idle() const { return on_ - busy_ < smallest_; }

  // How many nodes are to be on; fewer than now: open none.
  std::int64_t target_of_opening() const {
    if (!(trigger() > knobs_.open || largest_ > on_ || (few_idle() && knobs_.few_idle_open))) return 0;
    if (load(all_) > knobs_.open && all_ - busy_ >= smallest_) return all_;
    if (least() <= all_ && load(least()) < knobs_.open_to) return least();
    if (all_ - busy_ < smallest_ || largest_ > all_) return 0;
    return std::min(all_, std::max(nodes_for(knobs_.open_to), least()));
  }

  bool open(std::int64_t target) {
    std::int64_t opened = 0;
    const auto wake = [&](NodeId node) {
      plan_.power_on(node, {Rule::load_is_high, {}, kNever, plan_.free(), target});
      capacity_.change_on(node, 1);
      ++opened;
    };
    std::vector<NodeId> others;
    view_.power().for_each_asleep([&](NodeId node) {
      if (view_.power().shunned_until(node) > view_.now()) return true;
      lacks(node) ? wake(node) : others.push_back(node);
      return true;
    });
    for (const NodeId node : others) {
      if (on_ + opened >= target) break;
      wake(node);
    }
    return opened > 0;
  }

  void close() {
    if (on_ == busy_ || !(trigger() < knobs_.close || few_idle())) return;
    std::int64_t target = on_;
    if (load(busy_) < knobs_.close && busy_ >= largest_) {
      target = busy_;
    } else if (least() <= on_ && load(least()) < knobs_.close_to) {
      target = least();
    } else if (const std::int64_t wanted = std::max(nodes_for(knobs_.close_to), least());
               wanted <= on_ && !few_idle()) {
      target = wanted;
    } else if (knobs_.published) {
      target = std::max(busy_, largest_);
    } else if (largest_ <= busy_ || few_idle()) {
      target = busy_;
    }
    std::int64_t surplus = on_ - target;
    plan_.nodes().for_each_longest_idle([&](NodeId node) {
      if (surplus <= 0) return false;
      if (needs(node) || promised(node) || view_.power().serves(node)) return true;
      capacity_.change_on(node, -1);
      plan_.power_off(node, {Rule::load_is_low, {}, kNever, plan_.free(), target});
      --surplus;
      return true;
    });
  }

  // Whether a promise of the draft or one that stands needs the node, as far as one can tell.
  bool promised(NodeId node) const {
    const std::int64_t processors = machine_.nodes[node.value].processors;
    const auto needs = [&](JobId id, Instant start, const Placement& where) {
      if (start == kNever || plan_.starts(id)) return false;
      const auto here = [&](const Share& s) { return s.node == node; };
      if (!where.shares.empty()) return std::any_of(where.shares.begin(), where.shares.end(), here);
      if (!plan_.held().empty()) return plan_.profile().free_at(start) - plan_.sent_to_sleep() < processors;
      return plan_.free_at(start) - processors < view_.job(id).spec.processors;
    };
    for (const Promise& p : plan_.promises()) {
      if (needs(p.job, p.start, plan_.place_of(p))) return true;
    }
    for (const JobId id : view_.promised()) {
      const auto fresh = [&](const Promise& p) { return p.job == id; };
      if (std::any_of(plan_.promises().begin(), plan_.promises().end(), fresh)) continue;
      if (needs(id, view_.job(id).promise, view_.promised_place(id))) return true;
    }
    return false;
  }

  const View& view_;
  Plan& plan_;
  const PowerKnobs& knobs_;
  const Machine& machine_;
  CapacityOn capacity_;
  std::int64_t all_;  // nodes, as are
  std::int64_t busy_;
  std::int64_t on_;  // or booting
  std::int64_t smallest_ = 1;
  std::int64_t largest_ = 0;
  double work_ = 0;  // node-milliseconds
};

Instant slot_of(Instant at, Duration interval) { return kEpoch + at.time_since_epoch() / interval * interval; }

}  // namespace

void LoadFactorPower::decide(const View& view, Plan& plan) const {
  const Instant slot = slot_of(view.now(), knobs_.interval);
  if (view.power().reviewed_at() >= slot || plan.closed()) return;
  plan.power_reviewed(slot + knobs_.interval);
  Review(view, plan, knobs_).run();
}

Instant LoadFactorPower::next_wakeup(const View& view) const {
  return slot_of(view.now(), knobs_.interval) + knobs_.interval;
}

}  // namespace rota

#include "policy/power/power_load.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "policy/power/capacity_on.h"
#include "policy/power/load_measure.h"
#include "policy/power/rest.h"

namespace rota {
namespace {

Instant slot_of(Instant at, Duration interval) { return kEpoch + at.time_since_epoch() / interval * interval; }

// What one look decides, domain by domain.
class Review {
 public:
  Review(const View& view, Plan& plan, const PowerKnobs& knobs)
      : view_(view),
        plan_(plan),
        knobs_(knobs),
        machine_(*view.options().machine),
        measure_(view, plan, knobs),
        readings_(measure_.readings()),
        capacity_(machine_) {}

  // When it wants to go on with what it may not do at once; kNever: it has done all.
  Instant run() {
    view_.waiting().for_each_in_queue_order([&](const WaitingEntry& e) {
      if (!plan_.starts(e.job)) capacity_.need(view_.job(e.job).spec);
      return true;
    });
    const auto on = [&](NodeId node) {
      capacity_.change_on(node, 1);
      return true;
    };
    view_.power().for_each_in(PowerState::on, on);
    view_.power().for_each_in(PowerState::booting, on);
    waking_left_ = left_of_ramp(knobs_, view_.power().woken_in_minute(view_.now()));
    sleeping_left_ = left_of_ramp(knobs_, view_.power().slept_in_minute(view_.now()));
    for (domain_ = 0; domain_ < measure_.domains().size(); ++domain_) {
      d_ = &measure_.domains()[domain_];
      const bool opened = open(target_of_opening());
      if (!opened && view_.power().count(PowerState::off) + view_.power().count(PowerState::on) > 0) close();
    }
    return again_;
  }

  // The loads by which it decided.
  std::vector<LoadReading> take_readings() { return std::move(readings_); }

 private:
  // Whether a node is one of those that are looked at now.
  bool is_here(NodeId node) const { return measure_.belongs(node, domain_); }

  double threshold(std::optional<double> LoadRule::* own, double otherwise) const {
    return d_->rule() == nullptr ? otherwise : (d_->rule()->*own).value_or(otherwise);
  }
  double opens_above() const { return threshold(&LoadRule::open, knobs_.open); }
  double opens_to() const { return threshold(&LoadRule::open_to, knobs_.open_to); }
  double closes_below() const { return threshold(&LoadRule::close, knobs_.close); }
  double closes_to() const { return threshold(&LoadRule::close_to, knobs_.close_to); }
  double load(std::int64_t nodes) const { return d_->load(nodes); }
  double trigger() const { return d_->trigger(knobs_); }
  std::int64_t least() const { return std::max(d_->busy + d_->smallest, d_->largest); }
  // Whether what is on could not take some job without it; where the published rule alone is wanted, that is not asked.
  bool lacks(NodeId node) const { return !knobs_.published && capacity_.lacks(node); }
  bool needs(NodeId node) const { return !knobs_.published && capacity_.needs(node); }
  bool few_idle() const { return d_->on - d_->busy < d_->smallest; }

  // How many nodes are to be on; fewer than now: open none.
  std::int64_t target_of_opening() const {
    const std::int64_t all = d_->most_on();
    const bool wanted = trigger() > opens_above() || d_->largest > d_->on || (few_idle() && knobs_.few_idle_open);
    if (!wanted) return std::min(all, d_->least_on());
    if (load(all) > opens_above() && all - d_->busy >= d_->smallest) return all;
    if (least() <= all && load(least()) < opens_to()) return std::max(least(), d_->least_on());
    if (all - d_->busy < d_->smallest || d_->largest > all) return d_->least_on();
    return std::min(all, std::max({d_->nodes_for(opens_to()), least(), d_->least_on()}));
  }

  bool open(std::int64_t target) {
    std::int64_t opened = 0;
    const auto wake = [&](NodeId node) {
      if (waking_left_ <= 0) return look_again(next_minute(view_.now()));
      --waking_left_;
      plan_.power_on(node, {Rule::load_is_high, {}, kNever, plan_.free(), target});
      capacity_.change_on(node, 1);
      ++opened;
    };
    std::vector<NodeId> others;
    view_.power().for_each_asleep([&](NodeId node) {
      if (view_.power().shunned_until(node) > view_.now() || !is_here(node)) return true;
      if (lacks(node)) {
        wake(node);
      } else {
        others.push_back(node);
      }
      return true;
    });
    for (const NodeId node : others) {
      if (d_->on + opened >= target) break;
      wake(node);
    }
    return opened > 0;
  }

  void close() {
    if (d_->on == d_->busy || !(trigger() < closes_below() || few_idle())) return;
    const std::int64_t target = std::max(target_of_closing(), d_->least_on());
    std::int64_t surplus = d_->on - target;
    plan_.nodes().for_each_longest_idle([&](NodeId node) {
      if (surplus <= 0) return false;
      if (!is_here(node) || needs(node) || promised(node) || view_.power().serves(node)) return true;
      if (const Instant at = may_sleep_at(view_.power(), knobs_, node, view_.now()); at > view_.now()) return true;
      if (sleeping_left_ <= 0) {
        look_again(next_minute(view_.now()));
        return false;
      }
      --sleeping_left_;
      capacity_.change_on(node, -1);
      plan_.power_off(node, {Rule::load_is_low, {}, kNever, plan_.free(), target});
      --surplus;
      return true;
    });
  }

  std::int64_t target_of_closing() const {
    if (load(d_->busy) < closes_below() && d_->busy >= d_->largest) return d_->busy;
    if (least() <= d_->on && load(least()) < closes_to()) return least();
    const std::int64_t wanted = std::max(d_->nodes_for(closes_to()), least());
    if (wanted <= d_->on && !few_idle()) return wanted;
    if (knobs_.published) return std::max(d_->busy, d_->largest);
    return d_->largest <= d_->busy || few_idle() ? d_->busy : d_->on;
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

  void look_again(Instant at) { again_ = std::min(again_, at); }

  const View& view_;
  Plan& plan_;
  const PowerKnobs& knobs_;
  const Machine& machine_;
  LoadMeasure measure_;
  std::vector<LoadReading> readings_;
  CapacityOn capacity_;
  std::size_t domain_ = 0;         // place in measure_.domains() of the one that is looked at,
  const LoadDomain* d_ = nullptr;  // and it
  std::int64_t waking_left_ = 0;   // in this minute
  std::int64_t sleeping_left_ = 0;
  Instant again_ = kNever;
};

}  // namespace

void LoadFactorPower::decide(const View& view, Plan& plan) const {
  const Instant slot = slot_of(view.now(), knobs_.interval);
  const bool goes_on = knobs_.ramp > 0 && view.power().next_review() <= view.now();
  if ((view.power().reviewed_at() >= slot && !goes_on) || plan.closed()) return;
  Review review(view, plan, knobs_);
  const Instant again = review.run();
  plan.power_reviewed(std::min(again, slot + knobs_.interval), review.take_readings());
}

Instant LoadFactorPower::next_wakeup(const View& view) const {
  const Instant next = slot_of(view.now(), knobs_.interval) + knobs_.interval;
  const Instant again = view.power().next_review();
  return knobs_.ramp > 0 && again > view.now() ? std::min(again, next) : next;
}

}  // namespace rota

#include "policy/power/power_load.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "policy/power/capacity_on.h"
#include "policy/power/rest.h"

namespace rota {
namespace {

Instant slot_of(Instant at, Duration interval) { return kEpoch + at.time_since_epoch() / interval * interval; }

// Nodes that are switched by one load: those of a partition, or all.
struct Domain {
  const Partition* partition = nullptr;  // nullptr: it is the whole machine
  std::int64_t nodes = 0;
  std::int64_t busy = 0;
  std::int64_t on = 0;        // or booting
  std::int64_t smallest = 1;  // nodes of the smallest job that it allows, and
  std::int64_t largest = 0;   // of the largest that waits
  double work = 0;            // node-milliseconds
  double longest = 1;         // milliseconds
};

// What one look decides, domain by domain.
class Review {
 public:
  Review(const View& view, Plan& plan, const PowerKnobs& knobs)
      : view_(view), plan_(plan), knobs_(knobs), machine_(*view.options().machine), capacity_(machine_) {}

  // When it wants to go on with what it may not do at once; kNever: it has done all.
  Instant run() {
    divide();
    count_jobs();
    const auto on = [&](NodeId node) { return capacity_.change_on(node, 1), true; };
    view_.power().for_each_in(PowerState::on, on);
    view_.power().for_each_in(PowerState::booting, on);
    waking_left_ = left_of_ramp(knobs_, view_.power().woken_in_minute(view_.now()));
    sleeping_left_ = left_of_ramp(knobs_, view_.power().slept_in_minute(view_.now()));
    for (Domain& domain : domains_) {
      d_ = &domain;
      const bool opened = open(target_of_opening());
      if (!opened && view_.power().count(PowerState::off) + view_.power().count(PowerState::on) > 0) close();
    }
    return again_;
  }

 private:
  // A node belongs to the smallest of its partitions, so that one within another has nodes of its own.
  void divide() {
    const auto all = static_cast<std::int64_t>(machine_.nodes.size());
    if (knobs_.by_cluster || machine_.partitions.size() < 2) {
      const Partition* const only =
          machine_.partitions.empty() ? nullptr : &machine_.partitions[machine_.default_partition.value];
      domains_ = {{.partition = only,
                   .nodes = all,
                   .busy = static_cast<std::int64_t>(plan_.nodes().busy_count()),
                   .on = view_.power().count(PowerState::on) + view_.power().count(PowerState::booting)}};
    } else {
      for (const Partition& p : machine_.partitions) domains_.push_back({.partition = &p});
      domain_of_.resize(machine_.nodes.size(), kNone);
      for (std::uint32_t n = 0; n < machine_.nodes.size(); ++n) {
        for (const PartitionId p : machine_.nodes[n].partitions) {
          const auto size = [&](std::uint32_t of) { return machine_.partitions[of].nodes.size(); };
          if (domain_of_[n] == kNone || size(p.value) < size(domain_of_[n])) domain_of_[n] = p.value;
        }
        if (domain_of_[n] != kNone) ++domains_[domain_of_[n]].nodes;
      }
      const auto count = [&](NodeId node, bool is_on) {
        if (Domain* const domain = domain_of(node))
          ++domain->on, domain->busy += is_on && !plan_.nodes().idle(node) ? 1 : 0;
        return true;
      };
      view_.power().for_each_in(PowerState::on, [&](NodeId node) { return count(node, true); });
      view_.power().for_each_in(PowerState::booting, [&](NodeId node) { return count(node, false); });
    }
    for (Domain& domain : domains_) {
      if (domain.partition != nullptr) domain.smallest = domain.partition->min_nodes;
      domain.longest = longest_of(domain);
    }
  }

  Domain* domain_of(NodeId node) {
    if (domain_of_.empty()) return &domains_.front();
    return domain_of_[node.value] == kNone ? nullptr : &domains_[domain_of_[node.value]];
  }
  // Whether a node is one of those that are looked at now.
  bool is_here(NodeId node) { return domain_of(node) == d_; }
  std::size_t domain_of(const JobSpec& spec) const {
    if (domain_of_.empty()) return 0;
    return spec.partition.valid() ? spec.partition.value : machine_.default_partition.value;
  }

  double longest_of(const Domain& domain) const {
    Duration longest = knobs_.longest;
    if (longest == Duration{0} && domain.partition != nullptr) longest = domain.partition->max_time;
    if (longest == Duration{0} || longest == kLongest) longest = view_.work().longest_limit();
    return static_cast<double>(std::max(longest, Duration{1}).count());
  }

  void count_jobs() {
    std::vector<std::array<std::int64_t, WorkHistory::kClasses>> in_queue(domains_.size());
    const auto count = [&](const JobSpec& spec) {
      ++in_queue[domain_of(spec)][WorkHistory::class_of(view_.work().nodes_of(spec))];
    };
    view_.running().for_each([&](const RunningEntry& e) { return count(view_.job(e.job).spec), true; });
    view_.waiting().for_each_in_queue_order([&](const WaitingEntry& e) {
      const JobSpec& spec = view_.job(e.job).spec;
      count(spec);
      if (plan_.starts(e.job)) return true;
      std::int64_t& largest = domains_[domain_of(spec)].largest;
      largest = std::max<std::int64_t>(largest, view_.work().nodes_of(spec));
      capacity_.need(spec);
      return true;
    });
    const auto uses = view_.work().uses(knobs_.samples);
    for (std::size_t d = 0; d < domains_.size(); ++d) {
      for (std::size_t k = 0; k < uses.size(); ++k) {
        const auto jobs = static_cast<double>(in_queue[d][k]);
        if (in_queue[d][k] == 0 || uses[k].jobs == 0) continue;
        const double n = knobs_.root_of_queue ? jobs : static_cast<double>(uses[k].jobs);
        domains_[d].work += jobs * (uses[k].mean + knobs_.confidence * uses[k].deviation / std::sqrt(n));
      }
    }
  }

  const LoadRule* rule() const { return d_->partition != nullptr ? d_->partition->load_rule.get() : nullptr; }
  double threshold(std::optional<double> LoadRule::* own, double otherwise) const {
    return rule() == nullptr ? otherwise : (rule()->*own).value_or(otherwise);
  }
  double opens_above() const { return threshold(&LoadRule::open, knobs_.open); }
  double opens_to() const { return threshold(&LoadRule::open_to, knobs_.open_to); }
  double closes_below() const { return threshold(&LoadRule::close, knobs_.close); }
  double closes_to() const { return threshold(&LoadRule::close_to, knobs_.close_to); }
  std::int64_t most_on() const {
    return rule() == nullptr ? d_->nodes : std::min<std::int64_t>(d_->nodes, rule()->most_on);
  }
  std::int64_t least_on() const { return rule() == nullptr ? 0 : rule()->least_on; }

  double load(std::int64_t nodes) const {
    if (nodes <= 0) return d_->work > 0 ? std::numeric_limits<double>::infinity() : 0;
    if (rule() == nullptr || !rule()->load) return d_->work / (static_cast<double>(nodes) * d_->longest);
    return rule()->load->value(std::array{d_->work / 1000, static_cast<double>(nodes), d_->longest / 1000});
  }
  // So many that the load of that many is the nearest to this one.
  std::int64_t nodes_for(double wanted) const {
    std::int64_t few = 0, many = most_on() + 1;  // load(few) > wanted >= load(many), or they are next to one another
    if (load(many) > wanted) return many;
    while (many - few > 1) {
      const std::int64_t middle = few + (many - few) / 2;
      (load(middle) > wanted ? few : many) = middle;
    }
    return load(few) - wanted <= wanted - load(many) ? few : many;
  }
  double trigger() const { return load(knobs_.load_of_on ? d_->on : d_->nodes); }
  std::int64_t least() const { return std::max(d_->busy + d_->smallest, d_->largest); }
  // Whether what is on could not take some job without it; where the published rule alone is wanted, that is not asked.
  bool lacks(NodeId node) const { return !knobs_.published && capacity_.lacks(node); }
  bool needs(NodeId node) const { return !knobs_.published && capacity_.needs(node); }
  bool few_idle() const { return d_->on - d_->busy < d_->smallest; }

  // How many nodes are to be on; fewer than now: open none.
  std::int64_t target_of_opening() const {
    const std::int64_t all = most_on();
    const bool wanted = trigger() > opens_above() || d_->largest > d_->on || (few_idle() && knobs_.few_idle_open);
    if (!wanted) return std::min(all, least_on());
    if (load(all) > opens_above() && all - d_->busy >= d_->smallest) return all;
    if (least() <= all && load(least()) < opens_to()) return std::max(least(), least_on());
    if (all - d_->busy < d_->smallest || d_->largest > all) return least_on();
    return std::min(all, std::max({nodes_for(opens_to()), least(), least_on()}));
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
      lacks(node) ? wake(node) : others.push_back(node);
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
    const std::int64_t target = std::max(target_of_closing(), least_on());
    std::int64_t surplus = d_->on - target;
    plan_.nodes().for_each_longest_idle([&](NodeId node) {
      if (surplus <= 0) return false;
      if (!is_here(node) || needs(node) || promised(node) || view_.power().serves(node)) return true;
      if (const Instant at = may_sleep_at(view_.power(), knobs_, node, view_.now()); at > view_.now()) return true;
      if (sleeping_left_ <= 0) return look_again(next_minute(view_.now())), false;
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
    const std::int64_t wanted = std::max(nodes_for(closes_to()), least());
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

  static constexpr std::uint32_t kNone = UINT32_MAX;

  const View& view_;
  Plan& plan_;
  const PowerKnobs& knobs_;
  const Machine& machine_;
  CapacityOn capacity_;
  std::vector<Domain> domains_;
  std::vector<std::uint32_t> domain_of_;  // by node; empty: there is one
  Domain* d_ = nullptr;                   // that is looked at
  std::int64_t waking_left_ = 0;          // in this minute
  std::int64_t sleeping_left_ = 0;
  Instant again_ = kNever;
};

}  // namespace

void LoadFactorPower::decide(const View& view, Plan& plan) const {
  const Instant slot = slot_of(view.now(), knobs_.interval);
  const bool goes_on = knobs_.ramp > 0 && view.power().next_review() <= view.now();
  if ((view.power().reviewed_at() >= slot && !goes_on) || plan.closed()) return;
  const Instant again = Review(view, plan, knobs_).run();
  plan.power_reviewed(std::min(again, slot + knobs_.interval));
}

Instant LoadFactorPower::next_wakeup(const View& view) const {
  const Instant next = slot_of(view.now(), knobs_.interval) + knobs_.interval;
  const Instant again = view.power().next_review();
  return knobs_.ramp > 0 && again > view.now() ? std::min(again, next) : next;
}

}  // namespace rota

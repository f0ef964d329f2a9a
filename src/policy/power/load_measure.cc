#include "policy/power/load_measure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace rota {

std::int64_t LoadDomain::most_on() const {
  return rule() == nullptr ? nodes : std::min<std::int64_t>(nodes, rule()->most_on);
}

double LoadDomain::load(std::int64_t of_nodes) const {
  if (of_nodes <= 0) return work > 0 ? std::numeric_limits<double>::infinity() : 0;
  if (rule() == nullptr || !rule()->load) return work / (static_cast<double>(of_nodes) * longest);
  return rule()->load->value(std::array{work / 1000, static_cast<double>(of_nodes), longest / 1000});
}

std::int64_t LoadDomain::nodes_for(double wanted) const {
  std::int64_t few = 0, many = most_on() + 1;  // load(few) > wanted >= load(many), or they are next to one another
  if (load(many) > wanted) return many;
  while (many - few > 1) {
    const std::int64_t middle = few + (many - few) / 2;
    (load(middle) > wanted ? few : many) = middle;
  }
  return load(few) - wanted <= wanted - load(many) ? few : many;
}

LoadMeasure::LoadMeasure(const View& view, const Plan& plan, const PowerKnobs& knobs)
    : view_(view), plan_(plan), knobs_(knobs), machine_(*view.options().machine) {
  divide();
  count_nodes();
  count_jobs();
}

void LoadMeasure::divide() {
  if (knobs_.by_cluster || machine_.partitions.size() < 2) {
    domains_.resize(1);
    if (!machine_.partitions.empty()) domains_[0].partition = &machine_.partitions[machine_.default_partition.value];
  } else {
    for (std::uint32_t p = 0; p < machine_.partitions.size(); ++p)
      domains_.push_back({.partition = &machine_.partitions[p], .id = PartitionId{p}});
    domain_of_.resize(machine_.nodes.size(), kNone);
    for (std::uint32_t n = 0; n < machine_.nodes.size(); ++n) {
      for (const PartitionId p : machine_.nodes[n].partitions) {
        const auto size = [&](std::uint32_t of) { return machine_.partitions[of].nodes.size(); };
        if (domain_of_[n] == kNone || size(p.value) < size(domain_of_[n])) domain_of_[n] = p.value;
      }
    }
  }
  for (LoadDomain& domain : domains_) {
    if (domain.partition != nullptr) domain.smallest = domain.partition->min_nodes;
    domain.longest = longest_of(domain);
  }
}

void LoadMeasure::count_nodes() {
  const NodePower& power = view_.power();
  if (domain_of_.empty()) {
    domains_[0].nodes = static_cast<std::int64_t>(machine_.nodes.size());
    domains_[0].busy = static_cast<std::int64_t>(plan_.nodes().busy_count());
    domains_[0].on = power.count(PowerState::on) + power.count(PowerState::booting);
    return;
  }
  for (const std::uint32_t domain : domain_of_) {
    if (domain != kNone) ++domains_[domain].nodes;
  }
  const auto count = [&](NodeId node, bool is_on) {
    if (const std::uint32_t domain = domain_of_[node.value]; domain != kNone) {
      ++domains_[domain].on;
      domains_[domain].busy += is_on && !plan_.nodes().idle(node) ? 1 : 0;
    }
    return true;
  };
  power.for_each_in(PowerState::on, [&](NodeId node) { return count(node, true); });
  power.for_each_in(PowerState::booting, [&](NodeId node) { return count(node, false); });
}

std::size_t LoadMeasure::domain_of(const JobSpec& spec) const {
  if (domain_of_.empty()) return 0;
  return spec.partition.valid() ? spec.partition.value : machine_.default_partition.value;
}

double LoadMeasure::longest_of(const LoadDomain& domain) const {
  Duration longest = knobs_.longest;
  if (longest == Duration{0} && domain.partition != nullptr) longest = domain.partition->max_time;
  if (longest == Duration{0} || longest == kLongest) longest = view_.work().longest_limit();
  return static_cast<double>(std::max(longest, Duration{1}).count());
}

void LoadMeasure::count_jobs() {
  std::vector<std::array<std::int64_t, WorkHistory::kClasses>> in_queue(domains_.size());
  const auto count = [&](const JobSpec& spec) {
    ++in_queue[domain_of(spec)][WorkHistory::class_of(view_.work().nodes_of(spec))];
  };
  view_.running().for_each([&](const RunningEntry& e) {
    count(view_.job(e.job).spec);
    return true;
  });
  view_.waiting().for_each_in_queue_order([&](const WaitingEntry& e) {
    const JobSpec& spec = view_.job(e.job).spec;
    count(spec);
    if (plan_.starts(e.job)) return true;
    LoadDomain& domain = domains_[domain_of(spec)];
    const auto nodes = static_cast<std::int64_t>(view_.work().nodes_of(spec));
    domain.largest = std::max(domain.largest, nodes);
    domain.least_waiting = std::min(domain.least_waiting, nodes);
    return true;
  });
  const auto uses = view_.work().uses(knobs_.samples, knobs_.sample, knobs_.window);
  for (std::size_t d = 0; d < domains_.size(); ++d) {
    for (std::size_t k = 0; k < uses.size(); ++k) {
      if (in_queue[d][k] == 0 || uses[k].jobs == 0) continue;
      const auto jobs = static_cast<double>(in_queue[d][k]);
      const double n = knobs_.root_of_queue ? jobs : static_cast<double>(uses[k].jobs);
      const double half_width = knobs_.confidence * uses[k].deviation / std::sqrt(n);
      domains_[d].work += jobs * (uses[k].mean + half_width);
      domains_[d].least_work += jobs * std::max(0.0, uses[k].mean - half_width);
    }
  }
}

std::vector<LoadReading> LoadMeasure::readings() const {
  std::vector<LoadReading> readings;
  for (const LoadDomain& domain : domains_) {
    const std::int64_t idle = domain.on - domain.busy;
    const double load = domain.trigger(knobs_);
    readings.push_back({.partition = domain.id,
                        .nodes = domain.nodes,
                        .on = domain.on,
                        .busy = domain.busy,
                        .least_work = std::llround(domain.least_work),
                        .most_work = std::llround(domain.work),
                        .load = load,
                        .fragments = domain.least_waiting != INT64_MAX && idle < domain.least_waiting ? idle : 0});
  }
  return readings;
}

}  // namespace rota

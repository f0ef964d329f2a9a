// For tests: workloads written down a job a line, random ones that shrink well, and rehearsals of them that keep every
// job. Seconds throughout.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "rehearse/rehearse.h"

namespace rota::scenario {

struct Row {
  std::int64_t number = 0;
  std::int64_t submit = 0;
  std::uint32_t processors = 1;
  std::int64_t limit = 1;
  std::int64_t run = 1;
  std::int32_t priority = 0;
  std::uint32_t user = UINT32_MAX;
  std::uint32_t nodes = 0;        // to spread over; 0: any spread will do
  std::int64_t memory = 0;        // on each node
  std::uint8_t accelerators = 0;  // on each node
  AcceleratorTypeId accelerator_type = {};
  Restart restart = Restart::never;
  std::int64_t restart_cost = 0;
  std::uint32_t licences = 0;  // of the first kind
  std::optional<std::uint32_t> partition = {};
  std::uint32_t second_licences = 0;  // of the second kind
  std::uint32_t third_licences = 0;
  SharedNodeWish wish = {};
};

inline std::ostream& operator<<(std::ostream& out, const NodeWish& wish) {
  for (const std::uint64_t all : wish.features) out << " features " << all;
  for (const NodeId node : wish.among) out << " on " << node.value;
  for (const NodeId node : wish.without) out << " not on " << node.value;
  return out;
}

inline std::ostream& operator<<(std::ostream& out, const Row& r) {
  out << "\n{" << r.number << ", " << r.submit << ", " << r.processors << ", " << r.limit << ", " << r.run << ", "
      << r.priority << ", " << static_cast<std::int64_t>(r.user) << ", " << r.nodes << ", " << r.memory << ", "
      << static_cast<int>(r.restart) << ", " << r.restart_cost << ", " << r.licences << ", "
      << static_cast<std::int64_t>(r.partition.value_or(0)) << ", " << static_cast<int>(r.accelerators) << ", "
      << static_cast<int>(r.accelerator_type.value) << ", " << r.second_licences << ", " << r.third_licences
      << (r.wish ? "," : "}");
  return r.wish ? out << *r.wish << "}" : out;
}

// Rows must be in order of submission.
inline log::Workload workload_of(const std::vector<Row>& rows) {
  log::Workload workload;
  workload.name = "scenario";
  for (const Row& r : rows) {
    JobSpec spec;
    spec.number = r.number;
    spec.submit = at_seconds(r.submit);
    spec.processors = r.processors;
    spec.limit = seconds(r.limit);
    spec.priority = r.priority;
    spec.user = r.user;
    spec.nodes = r.nodes;
    spec.memory = r.memory;
    spec.accelerators = r.accelerators;
    spec.accelerator_type = r.accelerator_type;
    spec.node_wish = r.wish;
    spec.restart = r.restart;
    spec.restart_cost = seconds(r.restart_cost);
    std::vector<LicenceUse> licences;
    if (r.licences > 0) licences.push_back({LicenceId{0}, r.licences});
    if (r.second_licences > 0) licences.push_back({LicenceId{1}, r.second_licences});
    if (r.third_licences > 0) licences.push_back({LicenceId{2}, r.third_licences});
    set_licences(spec, std::move(licences));
    if (r.partition) {
      spec.partition = PartitionId{*r.partition};
      workload.partitions[*r.partition] = std::to_string(*r.partition);
    }
    workload.jobs.push_back(spec);
    workload.run_times.push_back(seconds(r.run));
  }
  return workload;
}

inline Chain chain_of(const std::string& policy) {
  auto chain = Chain::parse(policy);
  if (!chain) throw std::invalid_argument(chain.error().message);
  return std::move(*chain);
}

inline RehearseOptions on(std::int64_t processors, sim::Ties ties = sim::Ties::batch) {
  RehearseOptions options;
  options.processors = processors;
  options.ties = ties;
  options.keep_jobs = true;
  return options;
}

// What becomes of the rows; throws the referee's sentence if it refuses a plan.
inline report::Outcome outcome_of(const std::vector<Row>& rows, const std::string& policy,
                                  const RehearseOptions& options) {
  auto rehearsed = rehearse(workload_of(rows), chain_of(policy), options);
  if (!rehearsed) throw std::runtime_error(rehearsed.error().message);
  return std::move(rehearsed->outcome);
}

inline const std::vector<std::string>& every_order() {
  static const std::vector<std::string> kOrders = [] {
    std::vector<std::string> names;
    for (const auto& [order, name] : kOrderNames) names.emplace_back(name);
    return names;
  }();
  return kOrders;
}

// How random workloads are drawn. Small numbers, so that many things happen at one instant.
struct Mix {
  std::int64_t processors = 8;
  bool overruns = false;  // some jobs run longer than their limit
  bool priorities = false;
  std::int64_t unit = 1;  // seconds; all times are multiples of it
};

// Which of so many nodes, that have some of two features, a job may use: mostly any. It is on as many as it names.
inline SharedNodeWish any_wish(std::uint32_t nodes, std::uint32_t processors, std::uint32_t& asked_nodes) {
  NodeWish wish;
  switch (*rc::gen::element(0, 0, 0, 0, 1, 2, 3, 4)) {
    case 0:
      return nullptr;
    case 1:
      wish.features = *rc::gen::element(std::vector<std::uint64_t>{1}, std::vector<std::uint64_t>{2},
                                        std::vector<std::uint64_t>{3}, std::vector<std::uint64_t>{1, 2});
      break;
    case 2:
      for (std::uint32_t n = *rc::gen::inRange(0U, nodes); n < nodes && wish.among.size() < processors;
           n += *rc::gen::inRange(1U, 3U)) {
        wish.among.push_back(NodeId{n});
      }
      asked_nodes = static_cast<std::uint32_t>(wish.among.size());
      break;
    case 3:
      wish.features = {*rc::gen::element<std::uint64_t>(1, 2)};
      [[fallthrough]];
    default:
      wish.without = {NodeId{*rc::gen::inRange(0U, nodes)}};
  }
  return std::make_shared<const NodeWish>(std::move(wish));
}

inline rc::Gen<std::vector<Row>> random_rows(const Mix& mix) {
  const auto row =
      rc::gen::map(rc::gen::tuple(rc::gen::inRange(0, 8), rc::gen::inRange<std::int64_t>(1, mix.processors + 1),
                                  rc::gen::inRange(1, 30), rc::gen::inRange(mix.overruns ? -8 : 0, 15),
                                  rc::gen::inRange(-1, 2), rc::gen::inRange(0U, 3U)),
                   [mix](const std::tuple<int, std::int64_t, int, int, int, unsigned>& draw) {
                     const auto [gap, processors, run, slack, priority, user] = draw;
                     Row r;
                     r.submit = std::max(gap - 3, 0) * mix.unit;  // a gap as yet; often none
                     r.processors = static_cast<std::uint32_t>(processors);
                     r.run = run * mix.unit;
                     r.limit = std::max(run + slack, 1) * mix.unit;
                     r.priority = mix.priorities ? priority : 0;
                     r.user = user;
                     return r;
                   });
  return rc::gen::map(rc::gen::container<std::vector<Row>>(row), [](std::vector<Row> rows) {
    std::int64_t submit = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].number = static_cast<std::int64_t>(i) + 1;
      rows[i].submit = submit += rows[i].submit;
    }
    return rows;
  });
}

}  // namespace rota::scenario

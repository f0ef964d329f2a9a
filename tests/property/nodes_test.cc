// Clusters that are described node by node: where counting processors decides, they schedule as a counted cluster does;
// elsewhere every policy runs every workload to its end, with the referee watching every place.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenario/scenario.h"

namespace rota {
namespace {

using scenario::Mix;
using scenario::Row;

// `nodes` nodes of `processors` each.
std::shared_ptr<const Machine> nodes_of(std::uint32_t nodes, std::uint32_t processors) {
  Machine machine;
  for (std::uint32_t i = 0; i < nodes; ++i) machine.nodes.push_back({"n" + std::to_string(i), processors, 0, {}});
  machine.processors = std::int64_t{nodes} * processors;
  return std::make_shared<const Machine>(std::move(machine));
}

std::vector<Job> rehearsed(const trace::Workload& workload, const std::string& policy,
                           const cli::RehearseOptions& options) {
  auto done = cli::rehearse(workload, scenario::chain_of(policy), options);
  if (!done) throw std::runtime_error(done.error().message);
  return std::move(done->outcome.jobs);
}

const std::vector<std::string> kPolicies{"fcfs",
                                         "fcfs-skip",
                                         "easy",
                                         "easy++",
                                         "easy+candidates=largest",
                                         "easy+depth=2",
                                         "easy+depth=5",
                                         "conservative",
                                         "strict",
                                         "rb-har",
                                         "grace",
                                         "rb-har+overrun=rb-har-literal",
                                         "easy+overrun=4s",
                                         "easy+overrun=run-on"};

void expect_as_if_counted(const trace::Workload& workload, const std::string& policy,
                          const std::shared_ptr<const Machine>& machine) {
  cli::RehearseOptions options = scenario::on(machine->processors);
  const std::vector<Job> counted = rehearsed(workload, policy, options);
  options.machine = machine;
  const std::vector<Job> placed = rehearsed(workload, policy, options);
  RC_ASSERT(counted.size() == placed.size());
  for (std::size_t i = 0; i < counted.size(); ++i) {
    RC_LOG() << policy << ", job " << counted[i].spec.number << "\n";
    RC_ASSERT(placed[i].start == counted[i].start);
    RC_ASSERT(placed[i].end == counted[i].end);
    RC_ASSERT(placed[i].first_promise == counted[i].first_promise);
    RC_ASSERT(placed[i].backfilled == counted[i].backfilled);
  }
}

RC_GTEST_PROP(Nodes, ScheduleAsIfCountedWhereAnyProcessorsWillDo, ()) {
  const auto rows = *scenario::random_rows({.processors = 12, .overruns = true, .priorities = true});
  expect_as_if_counted(scenario::workload_of(rows), *rc::gen::elementOf(kPolicies),
                       *rc::gen::element(nodes_of(12, 1), nodes_of(4, 3), nodes_of(1, 12)));
}

RC_GTEST_PROP(Nodes, ScheduleAsIfCountedWhereEveryJobTakesWholeNodes, ()) {
  const auto rows = *scenario::random_rows({.processors = 6, .overruns = true, .priorities = true});
  trace::Workload workload = scenario::workload_of(rows);
  for (JobSpec& spec : workload.jobs) {
    if (*rc::gen::arbitrary<bool>()) spec.nodes = spec.processors;
    spec.processors *= 4;
  }
  expect_as_if_counted(workload, *rc::gen::elementOf(kPolicies), nodes_of(6, 4));
}

TEST(Nodes, ScheduleAThousandJobsAsIfCounted) {
  for (const std::string& policy : kPolicies) {
    const auto rows = scenario::random_rows({.processors = 64, .overruns = true})(rc::Random(7), 1000).value();
    expect_as_if_counted(scenario::workload_of(rows), policy, nodes_of(8, 8));
  }
}

// Jobs of all kinds on nodes of two kinds in two partitions.
RC_GTEST_PROP(Nodes, RunJobsThatAskForPlacesToTheirEnd, ()) {
  const auto rows = *scenario::random_rows({.processors = 16, .overruns = true, .priorities = true});
  Machine machine;
  machine.partitions.resize(2);
  for (std::uint32_t i = 0; i < 6; ++i) {
    Node& node = machine.nodes.emplace_back();
    node = {"n" + std::to_string(i), i < 4 ? 2U : 4U, i < 4 ? 8 : 0, {PartitionId{0}}};
    machine.partitions[0].nodes.push_back(NodeId{i});
    if (i >= 2) node.partitions.push_back(PartitionId{1});
    if (i >= 2) machine.partitions[1].nodes.push_back(NodeId{i});
    machine.processors += node.processors;
  }
  machine.partitions[0].processors = 16;
  machine.partitions[1].processors = 12;
  machine.partitions[0].name = "all";
  machine.partitions[1].name = "some";
  machine.default_partition = PartitionId{0};
  trace::Workload workload = scenario::workload_of(rows);
  workload.partitions = {{0, "all"}, {1, "some"}};
  const bool mixed = *rc::gen::arbitrary<bool>();  // with spells in which counts decide
  for (JobSpec& spec : workload.jobs) {
    if (mixed && *rc::gen::inRange(0, 3) > 0) continue;
    spec.nodes = *rc::gen::inRange(0U, 4U);
    spec.memory = *rc::gen::element(0, 3, 8);
    spec.partition = PartitionId{*rc::gen::inRange(0U, 2U)};
  }
  cli::RehearseOptions options = scenario::on(machine.processors);
  options.machine = std::make_shared<const Machine>(machine);
  const std::string policy = *rc::gen::element<std::string>(
      "fcfs", "fcfs-skip", "easy", "easy++", "easy+depth=2", "easy+depth=5", "conservative", "easy+overrun=4s",
      "easy+overrun=run-on", "easy+stretch=1.5", "easy+beside=no");
  RC_LOG() << policy << "\n";
  for (const Job& job : rehearsed(workload, policy, options)) {
    RC_LOG() << "job " << job.spec.number << "\n";
    RC_ASSERT(job.ended() || job.state == JobState::rejected);
  }
}

}  // namespace
}  // namespace rota

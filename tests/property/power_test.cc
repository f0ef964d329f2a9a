// Power control on random workloads: the referee, which looks at every plan, finds no breach; every job runs; and a
// start that was promised when nodes slept is kept.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenario/scenario.h"

namespace rota {
namespace {

const std::vector<std::string> kRules{
    "power=demand+power-wait=0+power-idle=3s",
    "power=demand+power-wait=6s+power-idle=2s+power-reserve=0.8",
    "power=demand+power-wait=4s+power-idle=2s+power-least-on=9s+power-cycles=3+power-ramp=2",
    "power=idle-timeout+power-idle=2s",
    "power=load-factor+power-interval=7s+power-samples=2",
    "power=load-factor+power-interval=5s+power-trigger=on+power-root=queue+power-few=no+power-history=log",
};

std::shared_ptr<const Machine> machine_of(int shutdown) {
  Machine machine;
  for (int i = 0; i < 4; ++i) {
    Node node;
    node.name = "n" + std::to_string(i);
    node.processors = 2;
    node.power.boot = seconds(5);
    node.power.shutdown = seconds(shutdown);
    node.power.idle = 1000 + 100 * i;
    machine.nodes.push_back(node);
  }
  machine.processors = 8;
  return std::make_shared<const Machine>(machine);
}

report::Outcome rehearse(const std::vector<scenario::Row>& rows, const std::string& policy, int shutdown) {
  auto options = scenario::on(8);
  options.machine = machine_of(shutdown);
  return scenario::outcome_of(rows, policy, options);
}

// Some jobs ask for nodes: then places matter, not counts.
std::vector<scenario::Row> some_on_nodes(std::vector<scenario::Row> rows, bool some) {
  for (scenario::Row& row : rows) {
    if (some && row.number % 3 == 0) row.nodes = std::min(row.processors, 4U);
  }
  return rows;
}

void all_run(const std::string& scheduler) {
  const auto rows = some_on_nodes(*scenario::random_rows({.processors = 8}), *rc::gen::arbitrary<bool>());
  const int shutdown = *rc::gen::inRange(0, 4);
  const std::string policy = fmt::format("{}+{}", scheduler, *rc::gen::elementOf(kRules));
  RC_LOG() << policy << ", shutdown " << shutdown << " s";
  for (const Job& job : rehearse(rows, policy, shutdown).jobs) RC_ASSERT(job.ended());
}

RC_GTEST_PROP(PowerUnderFcfs, EveryJobRunsAndTheRefereeFindsNothing, ()) { all_run("fcfs"); }
RC_GTEST_PROP(PowerUnderFcfsThatSkips, EveryJobRunsAndTheRefereeFindsNothing, ()) { all_run("fcfs-skip"); }
RC_GTEST_PROP(PowerUnderEasy, EveryJobRunsAndTheRefereeFindsNothing, ()) { all_run("easy"); }

RC_GTEST_PROP(PowerUnderEasy, AStartThatWasPromisedIsKeptThoughNodesSlept, ()) {
  const auto rows = *scenario::random_rows({.processors = 8});
  for (const Job& job : rehearse(rows, "easy+power=demand+power-wait=5s+power-idle=2s", 0).jobs) {
    if (job.first_promise != kNever) RC_ASSERT(job.start <= job.first_promise);
  }
}

RC_GTEST_PROP(PowerUnderConservative, EveryJobRunsAndTheRefereeFindsNothing, ()) {
  const auto rows = *scenario::random_rows({.processors = 8});
  const std::string policy = "conservative+" + *rc::gen::elementOf(kRules);
  RC_LOG() << policy;
  for (const Job& job : rehearse(rows, policy, *rc::gen::inRange(0, 4)).jobs) RC_ASSERT(job.ended());
}

RC_GTEST_PROP(PowerMetered, SharesOfTimeAddUpAndSleepNeverCostsWhenBootsAreFree, ()) {
  const auto rows = *scenario::random_rows({.processors = 8});
  RC_PRE(!rows.empty());
  const auto power = *rehearse(rows, "fcfs+power=idle-timeout+power-idle=2s", 0).power;
  RC_ASSERT(power.work + power.idle + power.off == 8 * power.length.count());
  RC_ASSERT(power.energy <= power.always_on);
}

// Nodes of 1, 1.1, 1.2 and 1.3 W with two accelerators each; jobs that hold some on one node.
RC_GTEST_PROP(PowerMetered, IsWhatNodesAndTheProcessorsAndAcceleratorsOfJobsAddUpTo, ()) {
  Machine machine = *machine_of(0);
  machine.accelerator_types = {"gpu"};
  for (Node& node : machine.nodes) {
    node.power.busy = 300;
    node.power.accelerator = 7'000;
    node.accelerators = 2;
    node.accelerator_type = AcceleratorTypeId{0};
  }
  auto rows = *scenario::random_rows({.processors = 2});
  RC_PRE(!rows.empty());
  for (scenario::Row& row : rows) {
    row.nodes = 1;
    row.accelerators = *rc::gen::element<std::uint8_t>(0, 1, 2);
  }
  auto options = scenario::on(8);
  options.machine = std::make_shared<const Machine>(machine);
  const auto outcome = scenario::outcome_of(rows, *rc::gen::element<std::string>("easy", "conservative"), options);
  std::int64_t microjoules = (1'000 + 1'100 + 1'200 + 1'300) * outcome.power->length.count();
  std::int64_t of_jobs = 0;
  std::int64_t shares = 0;  // of what nodes draw anyhow
  for (const Job& job : outcome.jobs) {
    RC_ASSERT(job.ended());
    const std::int64_t ran = (job.end - job.start).count();
    microjoules += ran * (300 * job.spec.processors + 7'000 * job.spec.accelerators);
    of_jobs += outcome.energy_of_jobs[static_cast<std::size_t>(job.spec.number - 1)];
    of_jobs -= ran * (300 * job.spec.processors + 7'000 * job.spec.accelerators);
    shares += ran * job.spec.processors;
  }
  RC_ASSERT(outcome.power->energy == microjoules / 1000);
  RC_ASSERT(outcome.power->always_on == outcome.power->energy);
  RC_ASSERT(of_jobs >= shares * 1'000 / 2);
  RC_ASSERT(of_jobs <= shares * 1'300 / 2);
}

}  // namespace
}  // namespace rota

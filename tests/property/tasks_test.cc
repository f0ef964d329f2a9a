// Jobs with tasks on random clusters and workloads: whatever the rule of binding and whatever else the policy does, no
// task is lost or done twice, no accelerator does more than it can, and the same run gives the same figures.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenario/scenario.h"

namespace rota {
namespace {

const std::vector<std::string> kBinds{"node",      "node-literal", "node-weighted", "slot", "slot+bind-time=2s",
                                      "container", "weighted",     "late"};
const std::vector<std::string> kOthers{"",
                                       "+power=idle-timeout+power-idle=2s",
                                       "+power=demand+power-wait=4s+power-idle=2s",
                                       "+power=load-factor+power-interval=7s+power-samples=2",
                                       "+migrate=gain",
                                       "+preempt=suspend",
                                       "+preempt=requeue+power=idle-timeout+power-idle=3s",
                                       "+preempt=checkpoint+checkpoint=2s",
                                       "+migrate=cpu-factor+power=demand+power-idle=3s"};

std::shared_ptr<const Machine> some_machine() {
  Machine machine;
  for (int i = 0; i < 6; ++i) {
    Node& node = machine.nodes.emplace_back();
    node.name = "n" + std::to_string(i);
    node.processors = 2;
    node.rack = RackId{static_cast<std::uint32_t>(*rc::gen::inRange(0, 2))};
    node.accelerators = static_cast<std::uint32_t>(*rc::gen::inRange(-2, 3) < 1 ? 0 : *rc::gen::inRange(1, 3));
    node.accelerator_speed = *rc::gen::inRange(0, 3) == 0 ? 500 : 1000;
    node.accelerator_link = *rc::gen::inRange(0, 2) * 1000;
    node.cpu_factor = i % 2 == 0 ? 1000 : 1700;
    node.power.boot = seconds(3);
    node.power.idle = 1000;
  }
  machine.processors = 12;
  return std::make_shared<const Machine>(machine);
}

struct Case {
  std::vector<scenario::Row> rows;
  RehearseOptions options;
  std::int64_t tasks = 0;  // of all jobs
};

Case some_case() {
  Case sample{*scenario::random_rows({.processors = 12, .overruns = true, .priorities = true}), scenario::on(12)};
  TaskTable table;
  for (scenario::Row& row : sample.rows) {
    if (row.number % 3 == 0) row.nodes = std::max((row.processors + 1) / 2, std::min(row.processors, 3U));
    if (row.number % 4 == 0) row.restart = Restart::checkpoint;
    if (row.number % 4 == 1) row.restart = Restart::from_start;
    if (row.number % 2 == 1) continue;
    TaskSpec spec;
    spec.count = static_cast<std::uint32_t>(*rc::gen::inRange(1, 30));
    spec.accelerator = Duration{*rc::gen::inRange(1, 3000)};
    spec.cpu = Duration{*rc::gen::inRange(0, 2) * *rc::gen::inRange(1, 9000)};
    spec.start_up = seconds(*rc::gen::inRange(0, 3));
    spec.transfer = *rc::gen::inRange(0, 2000);
    if (*rc::gen::inRange(0, 3) == 0) spec.limit = Duration{*rc::gen::inRange(1, 9000)};
    table.of_named[row.number] = spec;
    sample.tasks += spec.count;
  }
  sample.options.machine = some_machine();
  sample.options.tasks = std::make_shared<const TaskTable>(std::move(table));
  return sample;
}

RC_GTEST_PROP(JobsWithTasks, AllEndAndTheSameRunGivesTheSameFigures, ()) {
  const Case sample = some_case();
  const std::string scheduler = *rc::gen::element<std::string>("easy", "fcfs", "conservative", "strict", "grace");
  std::string policy = fmt::format("{}+bind={}", scheduler, *rc::gen::elementOf(kBinds));
  if (scheduler == "easy" || scheduler == "fcfs") policy += *rc::gen::elementOf(kOthers);
  RC_LOG() << policy;
  const auto one = scenario::outcome_of(sample.rows, policy, sample.options);
  for (const Job& job : one.jobs) RC_ASSERT(job.ended());
  const auto two = scenario::outcome_of(sample.rows, policy, sample.options);
  RC_ASSERT(one.plan_hash == two.plan_hash);
  RC_ASSERT(one.tasks.has_value() == two.tasks.has_value());
  if (!one.tasks) return;
  RC_ASSERT(one.tasks->computing == two.tasks->computing && one.tasks->remote == two.tasks->remote);
  RC_ASSERT(one.tasks->computing.count() <= one.tasks->accelerators * one.tasks->length.count());
  RC_ASSERT(one.tasks->checks >= one.tasks->done());
}

RC_GTEST_PROP(JobsWithTasks, ThatAreNotStoppedHaveEachTaskDoneOnce, ()) {
  const Case sample = some_case();
  const std::string policy = fmt::format("easy+overrun=run-on+bind={}{}", *rc::gen::elementOf(kBinds),
                                         *rc::gen::element<std::string>("", "+power=idle-timeout+power-idle=2s"));
  RC_LOG() << policy;
  const auto outcome = scenario::outcome_of(sample.rows, policy, sample.options);
  RC_ASSERT((outcome.tasks ? outcome.tasks->done() : 0) == sample.tasks);
  for (const Job& job : outcome.jobs) RC_ASSERT(job.state == JobState::completed);
}

RC_GTEST_PROP(JobsWithTasks, ChangeNothingWithoutBindingIfTheirTimesOnCpusAreNotSaid, ()) {
  Case sample = some_case();
  TaskTable table = *sample.options.tasks;
  for (auto& [number, spec] : table.of_named) spec->cpu = Duration{0};
  sample.options.tasks = std::make_shared<const TaskTable>(table);
  const auto with = scenario::outcome_of(sample.rows, "easy", sample.options);
  sample.options.tasks = nullptr;
  const auto without = scenario::outcome_of(sample.rows, "easy", sample.options);
  RC_ASSERT(with.plan_hash == without.plan_hash);
}

}  // namespace
}  // namespace rota

#include "study/binding_case.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "rehearse/rehearse.h"
#include "report/formatted.h"
#include "study/inputs.h"

namespace rota::study {
namespace {

using report::formatted;

constexpr std::int64_t kLink = 117'000'000;  // bytes a second: gigabit Ethernet

std::uint32_t devices_of(const BindingCase& setting, std::size_t node) {
  return setting.devices.empty() ? 1 : setting.devices[node];
}

std::int64_t processors_of(const BindingCase& setting) { return setting.nodes * setting.processors; }

std::shared_ptr<const Machine> machine_of(const BindingCase& setting) {
  Machine machine = Machine::counted(processors_of(setting));
  machine.racks = {""};
  machine.nodes.resize(static_cast<std::size_t>(setting.nodes));
  for (std::size_t i = 0; i < machine.nodes.size(); ++i) {
    Node& node = machine.nodes[i];
    node.name = formatted("node %zu", i + 1);
    node.processors = setting.processors;
    if (i >= setting.speeds.size()) continue;
    node.accelerators = devices_of(setting, i);
    node.accelerator_speed = setting.speeds[i];
    node.accelerator_link = kLink;
  }
  return std::make_shared<const Machine>(std::move(machine));
}

// The first job has them, or each of several; one that reduces has none.
TaskTable tasks_of(const BindingCase& setting) {
  const auto* const found = std::ranges::find(kDecompositions, setting.application, &Application::name);
  const Application& app = found == kDecompositions.end() ? kImages : *found;
  TaskSpec tasks;
  tasks.count = static_cast<std::uint32_t>(setting.tasks);
  tasks.cpu = app.cpu * setting.intensity;
  tasks.accelerator = app.accelerator * setting.intensity;
  tasks.start_up = setting.start_up;
  tasks.transfer = setting.megabytes * 1'000'000;
  tasks.limit = setting.limit;
  TaskTable table;
  if (setting.of_jobs.empty()) table.of_named[1] = tasks;
  for (std::size_t i = 0; i < setting.of_jobs.size(); ++i) {
    tasks.count = static_cast<std::uint32_t>(setting.of_jobs[i]);
    table.of_named[static_cast<std::int64_t>(i) + 1] = tasks;
  }
  return table;
}

std::string policy_of(Bind bind, Duration bind_time) {
  std::string policy = "fcfs+bind=" + std::string(name_of(bind));
  if (bind == Bind::slot && bind_time > Duration{0}) {
    policy += formatted("+bind-time=%llds", static_cast<long long>(bind_time / seconds(1)));
  }
  return policy;
}

// Jobs that have all nodes, or one each; those with tasks have nothing else to do.
log::Workload workload_of(const BindingCase& setting) {
  log::Workload workload;
  workload.name = setting.application;
  workload.processors = processors_of(setting);
  const auto add = [&](Duration run_time, std::int64_t nodes) {
    JobSpec& job = workload.jobs.emplace_back();
    job.number = static_cast<std::int64_t>(workload.jobs.size());
    job.processors = static_cast<std::uint32_t>(nodes * setting.processors);
    job.limit = kLongest;
    workload.run_times.push_back(run_time);
  };
  if (setting.of_jobs.empty()) add(kLongest, setting.nodes);  // its tasks say when it ends
  for (std::size_t i = 0; i < setting.of_jobs.size(); ++i) add(kLongest, 1);
  if (setting.reduce > Duration{0}) add(setting.reduce, setting.nodes);
  return workload;
}

std::string cluster_file_of(const BindingCase& setting) {
  std::string name = formatted("nodes-%lld", static_cast<long long>(setting.nodes));
  if (setting.processors > 1) name += formatted("-of-%u", setting.processors);
  name += formatted("-gpus-%zu", setting.speeds.size());
  const auto slower = std::ranges::find_if(setting.speeds, [](std::int32_t speed) { return speed != kUnitSpeed; });
  for (auto speed = slower == setting.speeds.end() ? slower : setting.speeds.begin(); speed != setting.speeds.end();
       ++speed) {
    name += formatted("-%.2f", *speed / 1000.0);
  }
  for (const std::uint32_t devices : setting.devices) name += formatted("-of-%u", devices);
  return name + ".toml";
}

std::string cluster_text_of(const BindingCase& setting) {
  std::string text;
  const std::string processors = setting.processors > 1 ? formatted("processors = %u\n", setting.processors) : "";
  for (std::size_t i = 0; i < setting.speeds.size(); ++i) {
    text += formatted("[[nodes]]\nnames = \"gpu%zu\"\naccelerators = %u\naccelerator_speed = %.3f\n", i + 1,
                      devices_of(setting, i), setting.speeds[i] / 1000.0) +
            processors + formatted("accelerator_link = %lld\n\n", static_cast<long long>(kLink));
  }
  const auto others = setting.nodes - static_cast<std::int64_t>(setting.speeds.size());
  if (others > 0)
    text += formatted("[[nodes]]\nnames = \"node[1-%lld]\"\n", static_cast<long long>(others)) + processors;
  return text;
}

std::string log_file_of(const BindingCase& setting) {
  std::string name = setting.application + formatted("-nodes-%lld", static_cast<long long>(setting.nodes));
  if (setting.processors > 1) name += formatted("-of-%u", setting.processors);
  for (const std::int64_t tasks : setting.of_jobs) name += formatted("-job-%lld", static_cast<long long>(tasks));
  if (setting.tasks != 25 * setting.nodes) name += formatted("-tasks-%lld", static_cast<long long>(setting.tasks));
  name += formatted("-work-%lld-MB-%lld", static_cast<long long>(setting.intensity),
                    static_cast<long long>(setting.megabytes)) +
          formatted("-start-%lld", static_cast<long long>(setting.start_up / seconds(1)));
  if (setting.limit > Duration{0}) name += formatted("-limit-%lld", static_cast<long long>(setting.limit / seconds(1)));
  if (setting.reduce > Duration{0}) name += "-and-reduce";
  return name + ".jsonl";
}

}  // namespace

std::vector<std::int32_t> equal_speeds(std::size_t accelerators) {
  return std::vector<std::int32_t>(accelerators, kUnitSpeed);
}

Result<Duration> makespan(const BindingCase& setting, Bind bind) {
  const auto chain = TRY(Chain::parse(policy_of(bind, setting.bind_time)));
  const log::Workload workload = workload_of(setting);
  RehearseOptions options;
  options.processors = processors_of(setting);
  options.machine = machine_of(setting);
  options.tasks = std::make_shared<const TaskTable>(tasks_of(setting));
  options.containers = {{.overlap = setting.overlap}, true};
  options.keep_jobs = true;
  const auto rehearsed = TRY(rehearse(workload, chain, options));
  const auto& jobs = rehearsed.outcome.jobs;
  return std::ranges::max_element(jobs, {}, &Job::end)->end - jobs.front().start;
}

Result<double> speed_up(const BindingCase& setting, Bind bind) {
  const auto on_cpus = TRY(makespan(setting, Bind::none));
  const auto bound = TRY(makespan(setting, bind));
  return to_seconds(on_cpus) / to_seconds(bound);
}

std::string command_of(const BindingCase& setting, std::span<const Bind> binds) {
  const std::array workload{log_file_of(setting)};
  std::vector<std::string> policies;
  for (const Bind bind : binds) policies.push_back(policy_of(bind, setting.bind_time));
  return simulate_command(workload,
                          fmt::format("--cluster {} --container-copies all{}", cluster_file_of(setting),
                                      setting.overlap ? "" : " --container-stages in-turn"),
                          policies);
}

std::vector<StudyFile> files_of(const std::vector<BindingCase>& cases) {
  std::vector<StudyFile> files;
  const auto add = [&](StudyFile file) {
    if (std::ranges::find(files, file.name, &StudyFile::name) == files.end()) files.push_back(std::move(file));
  };
  for (const BindingCase& one : cases) {
    const TaskTable tasks = tasks_of(one);
    add({log_file_of(one), json_text(workload_of(one), &tasks)});
    add({cluster_file_of(one), cluster_text_of(one)});
  }
  return files;
}

}  // namespace rota::study

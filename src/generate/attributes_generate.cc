#include "generate/attributes_generate.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "base/check.h"
#include "base/text.h"
#include "log/attribute_table.h"

namespace rota::generate {
namespace {

constexpr std::uint64_t kFirstDraw = 16;  // beyond those of the models
constexpr std::int64_t kMegabyte = std::int64_t{1} << 20U;

Random stream_of(std::int64_t seed, std::uint64_t which) { return stream(seed, Draw{kFirstDraw + which}); }

double log_uniform(double unit, double low, double high) { return low * std::pow(high / low, unit); }

Knob share(std::string_view name, double& value, std::string_view meaning) {
  return {.name = name, .value = &value, .meaning = meaning, .low = 0, .high = 1};
}

}  // namespace

Knobs AttributesGenerator::knobs() {
  return {
      {.name = "attributes-seed",
       .value = &seed,
       .meaning = "of the attributes' random numbers",
       .low = 0,
       .high = 9e15},
      share("checkpoint-share", checkpoint, "share of jobs that can go on elsewhere where they were"),
      share("from-start-share", from_start, "share of jobs that can start over elsewhere"),
      {.name = "restart-cost",
       .value = &restart_cost,
       .meaning = "what going elsewhere takes",
       .low = 0,
       .high = 86'400},
      share("licence-share", licensed, "share of jobs that hold licences"),
      {.name = "licences-max", .value = &most_licences, .meaning = "most licences of a job", .low = 1, .high = 1000},
      share("accelerator-share", accelerated, "share of jobs that need accelerators on each of their nodes"),
      {.name = "accelerators-max",
       .value = &most_accelerators,
       .meaning = "most accelerators that such a job needs on each of its nodes",
       .low = 1,
       .high = 64},
      {.name = "priority-levels",
       .value = &priorities,
       .meaning = "levels of priority, each half as frequent as the one below",
       .low = 1,
       .high = 20},
      share("task-share", tasked, "share of jobs that have tasks for accelerators"),
      {.name = "tasks-min", .value = &least_tasks, .meaning = "fewest tasks of such a job", .low = 1, .high = 1e6},
      {.name = "tasks-max", .value = &most_tasks, .meaning = "most tasks of such a job", .low = 1, .high = 1e6},
      {.name = "speed-up-min",
       .value = &least_speed_up,
       .meaning = "least time of a task on a CPU over that on an accelerator",
       .low = 0.01,
       .high = 10'000},
      {.name = "speed-up-max", .value = &most_speed_up, .meaning = "the greatest", .low = 0.01, .high = 10'000},
      {.name = "transfer-max",
       .value = &most_transfer,
       .meaning = "most megabytes of a task to an accelerator elsewhere",
       .low = 1,
       .high = 1e6},
      share("input-share", with_input, "share of jobs that bring input, which lies at their site"),
      {.name = "input-max", .value = &most_input, .meaning = "most megabytes of it", .low = 1, .high = 1e9},
      {.name = "start-up", .value = &start_up, .meaning = "before the first task", .low = 0, .high = 86'400},
      {.name = "node-processors",
       .value = &node_processors,
       .meaning = "of a node: tells how many nodes a job takes that does not say so",
       .low = 1,
       .high = 1e6},
  };
}

Result<void> AttributesGenerator::check() const {
  auto copy = *this;
  if (auto ok = generate::check(copy.knobs()); !ok) return ok;
  if (checkpoint + from_start > 1) {
    return fail("--checkpoint-share and --from-start-share are shares of all jobs: together at most 1.");
  }
  if (licensed > 0 && licences.empty()) {
    return fail("jobs are to hold licences: say which there are with --licence-names, as in --licence-names matlab.");
  }
  for (const auto* names : {&licences, &accelerator_types}) {
    for (const std::string& name : *names) {
      if (!name.empty() && trimmed(name).size() == name.size() && name.find_first_of(":,\n\r") == std::string::npos) {
        continue;
      }
      return fail("{} are names with commas between them, and {} is no such name.",
                  names == &licences ? "--licence-names" : "--accelerator-types", quoted(name));
    }
  }
  if (least_tasks > most_tasks) return fail("--tasks-min is at most --tasks-max.");
  if (least_speed_up > most_speed_up) return fail("--speed-up-min is at most --speed-up-max.");
  return {};
}

AttributeDraws::AttributeDraws(const AttributesGenerator& generator)
    : generator_(generator),
      restart_(stream_of(generator.seed, 0)),
      licence_(stream_of(generator.seed, 1)),
      priority_(stream_of(generator.seed, 2)),
      tasks_(stream_of(generator.seed, 3)),
      input_(stream_of(generator.seed, 4)),
      accelerators_(stream_of(generator.seed, 5)) {}

log::JobAttributes AttributeDraws::next(const JobSpec& job, Duration run) {
  ++written_.jobs;
  log::JobAttributes attributes;
  restart(attributes);
  licence(attributes);
  priority(attributes);
  tasks(job, run, attributes);
  input(attributes);
  accelerators(attributes);
  return attributes;
}

void AttributeDraws::restart(log::JobAttributes& into) {
  const double unit = restart_.unit();
  const bool checkpoints = unit < generator_.checkpoint;
  if (!checkpoints && unit >= generator_.checkpoint + generator_.from_start) return;
  into.restart = checkpoints ? Restart::checkpoint : Restart::from_start;
  into.restart_cost = generator_.restart_cost;
  ++written_.restartable;
}

void AttributeDraws::licence(log::JobAttributes& into) {
  const bool holds = licence_.chance(generator_.licensed);
  const auto names = static_cast<std::int64_t>(generator_.licences.size());
  const std::int64_t name = licence_.between(0, std::max<std::int64_t>(names, 1) - 1);
  const std::int64_t count = licence_.between(1, generator_.most_licences);
  if (!holds) return;
  into.licences = {{generator_.licences[static_cast<std::size_t>(name)], static_cast<std::uint32_t>(count)}};
  ++written_.licensed;
}

// Level k with a share in proportion to 2^-k.
void AttributeDraws::priority(log::JobAttributes& into) {
  const double unit = priority_.unit();
  const auto levels = static_cast<double>(generator_.priorities);
  const auto level = static_cast<std::int64_t>(-std::log2(1 - unit * (1 - std::exp2(-levels))));
  into.priority = static_cast<std::int32_t>(std::clamp<std::int64_t>(level, 0, generator_.priorities - 1));
}

void AttributeDraws::tasks(const JobSpec& job, Duration run, log::JobAttributes& into) {
  const bool has = tasks_.chance(generator_.tasked);
  const double count_unit = tasks_.unit();
  const double speed_unit = tasks_.unit();
  const double transfer_unit = tasks_.unit();
  if (!has || run <= generator_.start_up) return;  // what is shorter than its start-up has none
  const auto count = std::llround(
      log_uniform(count_unit, static_cast<double>(generator_.least_tasks), static_cast<double>(generator_.most_tasks)));
  const std::int64_t nodes =
      job.nodes > 0 ? job.nodes : (job.processors + generator_.node_processors - 1) / generator_.node_processors;
  const std::int64_t rounds = (count + nodes - 1) / nodes;
  const double cpu = static_cast<double>((run - generator_.start_up).count()) / static_cast<double>(rounds);
  const double speed_up = log_uniform(speed_unit, generator_.least_speed_up, generator_.most_speed_up);
  const auto transfer = std::llround(log_uniform(transfer_unit, 1, static_cast<double>(generator_.most_transfer)));
  into.tasks.count = static_cast<std::uint32_t>(count);
  into.tasks.accelerator = Duration{std::max(std::llround(cpu / speed_up), 1LL)};
  into.tasks.transfer = transfer * kMegabyte;
  into.tasks.start_up = generator_.start_up;
  ++written_.tasked;
  written_.tasks += count;
}

void AttributeDraws::input(log::JobAttributes& into) {
  const bool brings = input_.chance(generator_.with_input);
  const auto size = std::llround(log_uniform(input_.unit(), 1, static_cast<double>(generator_.most_input)));
  if (brings) into.input = size * kMegabyte;
}

void AttributeDraws::accelerators(log::JobAttributes& into) {
  const bool needs = accelerators_.chance(generator_.accelerated);
  const auto types = static_cast<std::int64_t>(generator_.accelerator_types.size());
  const std::int64_t type = accelerators_.between(0, std::max<std::int64_t>(types, 1) - 1);
  const std::int64_t count = accelerators_.between(1, generator_.most_accelerators);
  if (!needs) return;
  into.accelerators = static_cast<std::uint8_t>(count);
  if (types > 0) into.accelerator_type = generator_.accelerator_types[static_cast<std::size_t>(type)];
  ++written_.accelerated;
}

Result<AttributesGenerator> attributes_of(std::string_view command) {
  const std::vector<std::string_view> words = split(command, ' ');
  std::size_t at = 0;
  while (at < words.size() && words[at] != "--with-attributes" && words[at] != "--write-attributes") ++at;
  if (at == words.size()) return fail("no attributes are written by {}.", quoted(command));
  at += words[at] == "--with-attributes" ? 1U : 2U;
  AttributesGenerator generator;
  const Knobs knobs = generator.knobs();
  for (; at + 1 < words.size(); at += 2) {
    const std::string_view option = words[at], value = words[at + 1];
    const auto knob = std::ranges::find_if(
        knobs, [&](const Knob& each) { return option.starts_with("--") && each.name == option.substr(2); });
    if (option == "--licence-names" || option == "--accelerator-types") {
      auto& names = option == "--licence-names" ? generator.licences : generator.accelerator_types;
      for (const std::string_view name : split(value, ',')) names.emplace_back(name);
    } else if (knob == knobs.end()) {
      return fail(quoted(option) + " is no option of attributes.");
    } else
      TRY(set(*knob, value));
  }
  if (at != words.size()) return fail("no value stands with {}.", quoted(words[at]));
  TRY(generator.check());
  return generator;
}

std::string AttributesGenerator::options() const {
  auto copy = *this;
  std::string text = as_options(copy.knobs());
  for (std::size_t i = 0; i < licences.size(); ++i) text += (i == 0 ? " --licence-names " : ",") + licences[i];
  for (std::size_t i = 0; i < accelerator_types.size(); ++i) {
    text += (i == 0 ? " --accelerator-types " : ",") + accelerator_types[i];
  }
  return text;
}

AttributesGenerator::Written AttributesGenerator::write(std::ostream& out, const Recipe& recipe) const {
  std::vector<const log::AttributeColumn*> columns;
  for (const char* const name : {"restart", "restart_cost", "licences", "priority", "tasks", "task_accelerator",
                                 "task_transfer", "start_up", "input", "accelerators", "accelerator_type"}) {
    columns.push_back(log::attribute_column(name));
  }
  out << "# made by: " << recipe.command << " --write-attributes FILE" << options() << '\n';
  log::SidecarWriter rows(out, std::move(columns));
  AttributeDraws draws(*this);
  recipe.each([&](const JobSpec& job, Duration run) {
    CHECK(rows.row(job.number, draws.next(job, run)), "names were checked");
    return out.good();
  });
  out.flush();
  return draws.written();
}

}  // namespace rota::generate

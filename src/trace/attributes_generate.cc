#include "trace/attributes_generate.h"

#include <algorithm>
#include <cmath>
#include <ostream>

namespace rota::trace {
namespace {

constexpr std::uint64_t kFirstDraw = 16;  // beyond those of the models

// Each attribute has a stream of its own and takes as many numbers for every job, so that another share of one of them
// leaves the others as they are.
struct Draws {
  explicit Draws(std::int64_t seed)
      : restart(of(seed, 0)),
        licence(of(seed, 1)),
        priority(of(seed, 2)),
        tasks(of(seed, 3)),
        input(of(seed, 4)),
        accelerators(of(seed, 5)) {}
  static Random of(std::int64_t seed, std::uint64_t which) { return stream(seed, Draw{kFirstDraw + which}); }
  Random restart, licence, priority, tasks, input, accelerators;
};

double log_uniform(double unit, double low, double high) { return low * std::pow(high / low, unit); }

std::string in_seconds(Duration time) {
  std::string text = std::to_string(time.count()) + "ms";
  if (time.count() % 1000 == 0) text = std::to_string(time.count() / 1000) + "s";
  return text;
}

class Writer {
 public:
  Writer(const AttributesGenerator& its, std::ostream& out) : its_(its), out_(out), draws_(its.seed) {}

  void job(const JobSpec& job, Duration run) {
    ++written_.jobs;
    row_ = std::to_string(job.number);
    any_ = false;
    restart();
    licence();
    priority();
    tasks(job, run);
    input();
    accelerators();
    if (any_) out_ << row_ << '\n';
  }
  const AttributesGenerator::Written& written() const { return written_; }

 private:
  void cell(const std::string& text) {
    row_ += "," + text;
    any_ = any_ || !text.empty();
  }

  void restart() {
    const double unit = draws_.restart.unit();
    const bool checkpoints = unit < its_.checkpoint;
    const bool starts_over = !checkpoints && unit < its_.checkpoint + its_.from_start;
    cell(checkpoints ? "checkpoint" : starts_over ? "from-start" : "");
    cell(checkpoints || starts_over ? in_seconds(its_.restart_cost) : "");
    written_.restartable += checkpoints || starts_over ? 1 : 0;
  }

  void licence() {
    const bool holds = draws_.licence.chance(its_.licensed);
    const auto names = static_cast<std::int64_t>(its_.licences.size());
    const std::int64_t name = draws_.licence.between(0, std::max<std::int64_t>(names, 1) - 1);
    const std::int64_t count = draws_.licence.between(1, its_.most_licences);
    cell(holds ? its_.licences[static_cast<std::size_t>(name)] + ":" + std::to_string(count) : "");
    written_.licensed += holds ? 1 : 0;
  }

  // Level k with a share in proportion to 2^-k.
  void priority() {
    const double unit = draws_.priority.unit();
    const auto levels = static_cast<double>(its_.priorities);
    const auto level = static_cast<std::int64_t>(-std::log2(1 - unit * (1 - std::exp2(-levels))));
    cell(level > 0 ? std::to_string(std::min(level, its_.priorities - 1)) : "");
  }

  void tasks(const JobSpec& job, Duration run) {
    const bool has = draws_.tasks.chance(its_.tasked);
    const double count_unit = draws_.tasks.unit();
    const double speed_unit = draws_.tasks.unit();
    const double transfer_unit = draws_.tasks.unit();
    if (!has || run <= its_.start_up) {  // what is shorter than its start-up has none
      row_ += ",,,,";
      return;
    }
    const auto count = std::llround(
        log_uniform(count_unit, static_cast<double>(its_.least_tasks), static_cast<double>(its_.most_tasks)));
    const std::int64_t nodes =
        job.nodes > 0 ? job.nodes : (job.processors + its_.node_processors - 1) / its_.node_processors;
    const std::int64_t rounds = (count + nodes - 1) / nodes;
    const double cpu = static_cast<double>((run - its_.start_up).count()) / static_cast<double>(rounds);
    const double speed_up = log_uniform(speed_unit, its_.least_speed_up, its_.most_speed_up);
    const Duration accelerator{std::max(std::llround(cpu / speed_up), 1LL)};
    const auto transfer = std::llround(log_uniform(transfer_unit, 1, static_cast<double>(its_.most_transfer)));
    cell(std::to_string(count));
    cell(std::to_string(accelerator.count()) + "ms");
    cell(std::to_string(transfer) + "MB");
    cell(in_seconds(its_.start_up));
    ++written_.tasked;
    written_.tasks += count;
  }

  void input() {
    const bool brings = draws_.input.chance(its_.with_input);
    const auto size = std::llround(log_uniform(draws_.input.unit(), 1, static_cast<double>(its_.most_input)));
    cell(brings ? std::to_string(size) + "MB" : "");
  }

  void accelerators() {
    const bool needs = draws_.accelerators.chance(its_.accelerated);
    const auto types = static_cast<std::int64_t>(its_.accelerator_types.size());
    const std::int64_t type = draws_.accelerators.between(0, std::max<std::int64_t>(types, 1) - 1);
    const std::int64_t count = draws_.accelerators.between(1, its_.most_accelerators);
    cell(needs ? std::to_string(count) : "");
    cell(needs && types > 0 ? its_.accelerator_types[static_cast<std::size_t>(type)] : "");
    written_.accelerated += needs ? 1 : 0;
  }

  const AttributesGenerator& its_;
  std::ostream& out_;
  Draws draws_;
  AttributesGenerator::Written written_;
  std::string row_;
  bool any_ = false;
};

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
  if (auto ok = trace::check(copy.knobs()); !ok) return ok;
  if (checkpoint + from_start > 1) {
    return fail("--checkpoint-share and --from-start-share are shares of all jobs: together at most 1.");
  }
  if (licensed > 0 && licences.empty()) {
    return fail("jobs are to hold licences: say which there are with --licence-names, as in --licence-names matlab.");
  }
  if (least_tasks > most_tasks) return fail("--tasks-min is at most --tasks-max.");
  if (least_speed_up > most_speed_up) return fail("--speed-up-min is at most --speed-up-max.");
  return {};
}

AttributesGenerator::Written AttributesGenerator::write(std::ostream& out, const Recipe& recipe) const {
  auto copy = *this;
  out << "# made by: " << recipe.command << " --attributes FILE" << as_options(copy.knobs());
  for (std::size_t i = 0; i < licences.size(); ++i) out << (i == 0 ? " --licence-names " : ",") << licences[i];
  for (std::size_t i = 0; i < accelerator_types.size(); ++i) {
    out << (i == 0 ? " --accelerator-types " : ",") << accelerator_types[i];
  }
  out << "\njob,restart,restart_cost,licences,priority,tasks,task_accelerator,task_transfer,start_up,input,"
         "accelerators,"
         "accelerator_type\n";
  Writer writer(*this, out);
  recipe.each([&](const JobSpec& job, Duration run) {
    writer.job(job, run);
    return out.good();
  });
  out.flush();
  return writer.written();
}

}  // namespace rota::trace

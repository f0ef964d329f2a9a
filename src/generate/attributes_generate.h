// A sidecar (log/attributes.h) for generated jobs: seeded shares of jobs that can restart, hold licences, need
// accelerators, have priorities, have tasks for accelerators, and bring input. docs/generators.md has the formulas.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "generate/generate.h"
#include "log/job_attributes.h"

namespace rota::generate {

class AttributesGenerator {
 public:
  std::int64_t seed = 1;
  double checkpoint = 0.3;  // share of jobs that checkpoint
  double from_start = 0.2;  // that can start over elsewhere
  Duration restart_cost = seconds(60);
  double licensed = 0;                         // that hold licences
  std::vector<std::string> licences;           // names to choose from
  std::int64_t most_licences = 2;              // of a job
  double accelerated = 0;                      // that need accelerators
  std::vector<std::string> accelerator_types;  // names to choose from; none: any type will do
  std::int64_t most_accelerators = 2;          // on each node of a job
  std::int64_t priorities = 1;                 // levels: 0, 1, ...; each half as frequent as the one below
  double tasked = 0.2;                         // share of jobs that have tasks
  std::int64_t least_tasks = 16;
  std::int64_t most_tasks = 512;
  double least_speed_up = 2;  // what a task takes on a CPU over what it takes on an accelerator
  double most_speed_up = 20;
  std::int64_t most_transfer = 50;  // megabytes
  Duration start_up = seconds(5);
  double with_input = 0;              // share of jobs that bring input
  std::int64_t most_input = 4000;     // megabytes
  std::int64_t node_processors = 32;  // of a node, for jobs that do not say how many nodes they take

  Knobs knobs();

  struct Written {
    std::int64_t jobs = 0;  // all
    std::int64_t restartable = 0;
    std::int64_t licensed = 0;
    std::int64_t accelerated = 0;
    std::int64_t tasked = 0;
    std::int64_t tasks = 0;
  };
  // Fails with a sentence where a knob is out of its range or two of them contradict each other.
  Result<void> check() const;
  // Streams the sidecar; checked before. The same at every call. Stops when `out` fails: look at its state.
  Written write(std::ostream& out, const Recipe& recipe) const;
  // " --attributes-seed 1 ...": every option of the attributes.
  std::string options() const;
};

// Where a command of `rota generate` writes attributes, the ones that its options tell: those behind --with-attributes,
// or behind --write-attributes and its file. Fails with a sentence where there are none, or one is no option of theirs.
Result<AttributesGenerator> attributes_of(std::string_view command);

// Draws the attributes of one job after the other, in the order of the recipe. `generator` must outlive it, and was
// checked.
class AttributeDraws {
 public:
  explicit AttributeDraws(const AttributesGenerator& generator);
  log::JobAttributes next(const JobSpec& job, Duration run);
  const AttributesGenerator::Written& written() const { return written_; }

 private:
  void restart(log::JobAttributes& into);
  void licence(log::JobAttributes& into);
  void priority(log::JobAttributes& into);
  void tasks(const JobSpec& job, Duration run, log::JobAttributes& into);
  void input(log::JobAttributes& into);
  void accelerators(log::JobAttributes& into);

  const AttributesGenerator& generator_;
  // Each attribute has a stream of its own and takes as many numbers for every job, so that another share of one of
  // them leaves the others as they are.
  Random restart_, licence_, priority_, tasks_, input_, accelerators_;
  AttributesGenerator::Written written_;
};

}  // namespace rota::generate

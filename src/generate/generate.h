// Workload generators: from a seed and a table of knobs, the same jobs on every machine, into memory or straight into a
// Standard Workload Format file of any length. One model a file; all_generators() lists them.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "generate/knob.h"
#include "log/workload.h"

namespace rota::generate {

// Is given one job after the other in order of submission, numbers from 1; false: no more are wanted.
using Take = std::function<bool(const JobSpec& job, Duration run)>;

// A workload that is ready to be made: what is known about it beforehand, and its jobs, the same at every call.
struct Recipe {
  std::string model;
  std::string command;             // the command line that makes it, every knob written out
  std::string source;              // where the model comes from
  std::vector<std::string> notes;  // one line each, for people
  std::int64_t jobs = 0;
  std::int64_t processors = 0;     // of the machine that it is meant for
  std::int64_t nodes = 0;          // 0: processors are counted, not grouped
  std::int64_t queue_floor = -1;   // as in Workload
  std::int64_t unix_start = 0;     // as in Workload
  std::string time_zone;           // of unix_start; empty: unknown
  Duration longest = Duration{0};  // no job asks for more; 0: not known
  bool estimated = true;  // false: users ask for no time; the jobs' limits are their run times, the file has -1
  std::function<void(const Take&)> each;
};

// One model with its settings. The knobs point into the object, which must outlive them; a Recipe stands alone.
class Generator {
 public:
  Generator() = default;
  Generator(const Generator&) = default;
  Generator& operator=(const Generator&) = default;
  virtual ~Generator() = default;

  virtual std::string_view model() const = 0;    // the name of the subcommand
  virtual std::string_view summary() const = 0;  // what it makes: a phrase
  virtual std::string_view source() const = 0;
  virtual Knobs knobs() = 0;

  // Fails with a sentence where a knob is out of its range or two of them contradict each other.
  Result<Recipe> recipe();

 protected:
  virtual Result<Recipe> prepare() const = 0;  // every knob is in its range
};

std::vector<std::unique_ptr<Generator>> all_generators();

// By the name of its option, without dashes. Fails with a sentence.
Result<void> set_knob(Generator& generator, std::string_view name, std::string_view value);

// The one of a Recipe's command, set as there. Fails with a sentence where it is none, or has options that are neither
// its own nor --to, which says how it was written. What stands behind --with-attributes is of these
// (generate/attributes_generate.h).
Result<std::unique_ptr<Generator>> generator_of(std::string_view command);

log::Workload generate(const Recipe& recipe);

// What was written, for people.
struct Written {
  std::int64_t jobs = 0;
  Instant last_submit = kEpoch;
  double work = 0;  // processor-seconds
};

// Streams the workload as SWF 2.2 whose header says how to make it again. Stops when `out` fails: look at its state.
Written write_generated(std::ostream& out, const Recipe& recipe);

class AttributeDraws;

// Streams the workload as JSON lines, in which all attributes are that `draws` gives; nullptr: none. `options` are
// theirs, for the header.
Written write_generated_json(std::ostream& out, const Recipe& recipe, AttributeDraws* draws,
                             const std::string& options);

// Each kind of draw has a stream of random numbers of its own, so that another load or another estimate leaves the jobs
// as they are.
enum class Draw : std::uint64_t { arrivals = 1, jobs = 2, estimates = 3, more_arrivals = 4, more_jobs = 5 };
Random stream(std::int64_t seed, Draw draw);

// Seconds, not negative, to the nearest whole step.
Duration rounded(double seconds, Duration step);

// Knobs that several models have.
Knob jobs_knob(std::int64_t& jobs);
Knob seed_knob(std::int64_t& seed);
Knob processors_knob(std::int64_t& processors);
Knob resolution_knob(Duration& resolution);

}  // namespace rota::generate

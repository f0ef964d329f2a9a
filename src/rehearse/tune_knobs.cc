// Which knobs are worth a search where none is named, and which of their values.
#include <algorithm>
#include <cmath>

#include "policy/chain_text.h"
#include "rehearse/tune.h"

namespace rota {
namespace {

// For policies other than Slurm's. The order of the queue is not among them: whose turn it is, is not for a search to
// change.
constexpr std::string_view kOwn[]{"depth", "candidates", "predict"};
constexpr std::string_view kOfSlurm[]{
    "bf-interval", "bf-resolution", "bf-window", "bf-max-job-test", "bf-job-part-count-reserve", "default-queue-depth"};
constexpr double kFactors[]{0.25, 0.5, 1, 2, 4};
constexpr std::int64_t kWeights[]{0, 1000, 10'000, 100'000};
constexpr std::int64_t kCounts[]{0, 1, 4, 16, 64};

void add_numbers(const Knob& knob, const KnobValue& now, std::vector<KnobValue>& values) {
  const Range& range = knob.range;
  const auto add = [&](std::int64_t whole) {
    if (whole >= range.least && whole <= range.most) values.push_back({.whole = whole});
  };
  const bool weight = knob.name.starts_with("weight-");
  if (range.of == Range::Of::whole_numbers && (now.named || now.whole == 0)) {
    for (const std::int64_t count :
         weight ? std::span<const std::int64_t>(kWeights) : std::span<const std::int64_t>(kCounts))
      add(count);
    return;
  }
  for (const double factor : kFactors) {
    if (range.of == Range::Of::numbers) {
      const double number = std::clamp(std::round(now.number * factor * 100) / 100, range.low, range.high);
      values.push_back({.number = number});
    } else {
      const std::int64_t unit = range.of == Range::Of::times && now.whole >= 4000 ? 1000 : 1;
      add(std::llround(static_cast<double>(now.whole / unit) * factor) * unit);
    }
  }
}

}  // namespace

std::vector<std::string> knobs_to_tune(const Chain& chain) {
  const SlurmKnobs& slurm = chain.knobs().slurm;
  if (!slurm.planner) return {std::begin(kOwn), std::end(kOwn)};
  std::vector<std::string> knobs(std::begin(kOfSlurm), std::end(kOfSlurm));
  if (!slurm.multifactor) return knobs;
  const SlurmWeights& weights = slurm.weights;
  if (weights.job_size > 0) knobs.emplace_back("favor-small");
  // One alone sorts the jobs alike, however great it is.
  const std::int64_t all[]{weights.age,        weights.job_size, weights.fair_share, weights.partition,   weights.qos,
                           weights.processors, weights.memory,   weights.nodes,      weights.accelerators};
  if (std::ranges::count_if(all, [](std::int64_t weight) { return weight > 0; }) < 2) return knobs;
  if (weights.age > 0) knobs.emplace_back("weight-age");
  if (weights.job_size > 0) knobs.emplace_back("weight-job-size");
  if (weights.fair_share > 0) knobs.emplace_back("weight-fairshare");
  return knobs;
}

Result<std::vector<std::string>> values_to_try(const Knob& knob, const Chain& chain) {
  std::vector<std::string> texts;
  for (const NamedValue& value : knob.names) texts.emplace_back(value.name);
  if (knob.range.of == Range::Of::nothing) return texts;
  const auto text = TRY(read_chain_text(chain.text()));
  const auto now = read_value(knob, value_of(text, knob));
  if (!now)
    return fail("policy knob {} has no value about which to search. Name some, as in --knobs '{}=1|2|4'.", knob.name,
                knob.name);
  std::vector<KnobValue> values;
  add_numbers(knob, *now, values);
  for (const KnobValue& value : values) {
    std::string written = written_value(knob, value);
    if (std::ranges::find(texts, written) == texts.end()) texts.push_back(std::move(written));
  }
  return texts;
}

}  // namespace rota

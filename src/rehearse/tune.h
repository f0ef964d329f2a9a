// Searches what the knobs of a policy are best set to on the earlier blocks of a log, and judges what was found on the
// later ones, which took no part in the search: as a site that tunes today and lives with it tomorrow.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "policy/sweep.h"
#include "rehearse/blocks.h"
#include "rehearse/rehearse.h"

namespace rota {

inline constexpr std::size_t kBlocksOfTuning = 16;  // at least: half of them to search on, half to judge on

struct TunedKnob {
  const Knob* knob = nullptr;
  std::vector<std::string> values = {};
};

struct TuneOptions {
  std::string policy = {};  // as it is now
  std::vector<TunedKnob> knobs = {};
  std::vector<const report::Rule*> rules = {};  // the first decides; the others are weighed beside it
  std::size_t most_tries = 200;                 // settings that are rehearsed
  std::size_t threads = 1;
  const std::atomic<bool>* stop = nullptr;           // true: search no longer, and judge what has been found
  std::function<void(std::size_t more)> plans = {};  // so many rehearsals are to come; may be empty
  std::function<void()> rehearsed = {};              // one of them is over; from any thread; may be empty
};

// One setting of the knobs.
struct TunedSetting {
  std::string policy = {};
  std::string changes = {};          // "depth=4+candidates=sjf"; empty: as it is now
  std::size_t changed = 0;           // knobs
  std::vector<double> figures = {};  // of each rule, over the blocks that were searched on
};

struct JudgedSetting {
  TunedSetting setting = {};
  report::Blocks blocks = {};               // those judged on
  std::vector<report::Drawn> figures = {};  // of each rule, over them
  std::vector<report::Drawn> gains = {};    // on the setting as it is now
};

struct Tuning {
  LogBlocks cut = {};
  std::size_t searched_on = 0;             // blocks; those behind them are judged on
  std::size_t tried = 0;                   // settings
  std::size_t impossible = 0;              // settings that do not go together, and were left out
  bool stopped = false;                    // before the search was over
  std::vector<JudgedSetting> judged = {};  // as it is now; then the one that was chosen; then others that no setting
                                           // beats in all rules

  // Whether what was chosen is better by at least a hundredth, and not by chance.
  bool worth_changing() const;
};

// Fails with a sentence where a rehearsal fails, or the log is too short.
Result<Tuning> tune(const log::Workload& workload, const TuneOptions& how, const RehearseOptions& options);

// The knobs that are searched where none is named, and the values of one where none are: about what it is now.
std::vector<std::string> knobs_to_tune(const Chain& chain);
Result<std::vector<std::string>> values_to_try(const Knob& knob, const Chain& chain);

}  // namespace rota

// What a search of knobs came to, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "rehearse/tune.h"

namespace rota::cli {

struct TunedLog {
  const log::Workload& workload;
  const TuneOptions& how;
};

std::string tuning_text(const Tuning& tuning, const TunedLog& of);
std::string tuning_json(const Tuning& tuning, const TunedLog& of);

// "Worth changing: ...", or "Nothing is worth changing: ...".
std::string tuning_sentence(const Tuning& tuning, const TunedLog& of);

}  // namespace rota::cli

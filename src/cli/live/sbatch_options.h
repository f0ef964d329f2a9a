// The options of sbatch from Slurm 22.05 to 25.11, as its manuals list them, and what becomes of each here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rota::cli {

enum class Fate : std::uint8_t {
  honoured,     // `text` is its name here; empty: the same one
  passed_over,  // no job runs elsewhere, on less or at another time without it; `text`: why, may be empty
  refused,      // it says what a job needs, when it may start or where it may run; `text`: what to write instead
};

enum class Takes : std::uint8_t { nothing, value, perhaps };  // perhaps: only "--name=value" has one

struct SbatchOption {
  std::string_view name;  // without its dashes
  char letter;            // '\0': it has none
  Takes takes;
  Fate fate;
  std::string_view text = {};
  std::string_view idle = {};  // a value with which it asks for nothing, so that it is passed over
};

std::span<const SbatchOption> sbatch_options();

// The option that "--name", the beginning of one, or "-x" stands for; nullptr: sbatch has none. A beginning of several
// is an error, unless one of them is the beginning of all others ("--ntask"), or those for accelerators alone make it
// doubtful ("--cpus-per"): then it is the other one, as in older scripts. `guessed` is set where that was so.
Result<const SbatchOption*> sbatch_option(std::string_view name, bool* guessed = nullptr);

// With the value that it was given, where it was given one.
Fate fate(const SbatchOption& option, std::optional<std::string_view> value);

// Behind the name of an option that sbatch has not: "; did you mean --cpus-per-task?", or "".
std::string nearest_sbatch_option(std::string_view name);

// Rota's own name of an honoured one, with its dashes.
std::string own_name(const SbatchOption& option);

}  // namespace rota::cli

// A command line taken apart before CLI11 reads it, which changes some words that are not its own: "[1,2]" becomes two,
// "--comment=" takes the next word for its value.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command_line.h"

namespace rota::cli {

struct Words {
  Command at;  // the innermost one that is named
  // Commands and their options. A value stands behind its option as a word of its own, and a name of sbatch's in `rota
  // submit` and `rota run` has become Rota's.
  std::vector<std::string> options;
  // A script or a command of the user's with all words behind it; where two dashes stood before it, they are the first.
  std::vector<std::string> rest;
  std::vector<std::string> remarks;  // on options of sbatch that were passed over or guessed
};

// Fails with a sentence where an option of sbatch cannot be honoured, or may be several.
Result<Words> words_apart(Command root, const std::vector<std::string>& words);

}  // namespace rota::cli

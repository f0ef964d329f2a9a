// What may stand next on a command line. The completion scripts of the shells ask the binary itself, so that what they
// offer is what it takes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"

namespace rota::cli {

// `rota __complete WORD...` prints completions of the last word; the shells' scripts call it.
inline constexpr std::string_view kCompleteWord = "__complete";

enum class Completes { words, unfinished, files, folders };  // unfinished: words after which no blank is wanted

struct Candidate {
  std::string word;     // the whole word, with what was typed of it
  std::string meaning;  // may be empty
};

struct Completions {
  Completes kind = Completes::words;
  std::string before;  // files, folders: what stands before the path in the word, as "--report="
  std::vector<Candidate> candidates;
};

// `words` are those after "rota", up to the one in which the cursor is (which may be empty).
Completions complete(Command root, const std::vector<std::string>& words);

// First line: "words", "unfinished", "files BEFORE" or "folders BEFORE"; then a line each: the word, a tab, its
// meaning.
int print_completions(Command root, const std::vector<std::string>& words);

}  // namespace rota::cli

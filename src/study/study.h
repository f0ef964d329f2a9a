// A published study that Rota makes again: what a program that runs it needs to know of it. Each study is a file pair
// NAME_study.{h,cc} and a line in all_studies.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "report/cells.h"
#include "report/plot.h"

namespace rota::study {

// A file that `rota simulate` takes.
struct StudyFile {
  std::string name;
  std::string text;
};

struct Findings {
  std::string tables;   // figures for people, printed before the cells; ends with a line end, or is empty
  std::string members;  // the same for JSON: the study's own members, `"seeds": 30,\n  "rows": [...]`, or empty
  std::string heading;  // over the claims of the cells: what holds for all of them
  std::vector<report::Cell> cells;
  std::vector<report::Plot> plots = {};                // the figures of the paper, for --report
  std::function<std::vector<StudyFile>()> files = {};  // that the commands of the cells name, for --inputs
};

// "30": seeds 0 to 29; "100-129": those. Both are numbers of the study.
struct SeedsChosen {
  std::int64_t* count;
  std::int64_t* first;
};

// What a user may choose. The program that offers it holds a value to its range.
struct StudyOption {
  std::string name;  // as in --seeds
  std::string about;
  std::variant<std::int64_t*, std::vector<std::int64_t>*, std::string*, SeedsChosen>
      value;                                                      // set before `run`; lives with the study
  std::int64_t least = std::numeric_limits<std::int64_t>::min();  // of each number, or of how many seeds there are
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  std::string shows = "N";     // what stands for the value in the help
  std::string needs = {};      // the name of the option without which this one means nothing
  std::string otherwise = {};  // what holds where it is not given, if that is no value; told in the help
};

struct Study {
  std::string name;                       // as on the command line
  std::string about;                      // one line for the help: the mechanism, and in brackets the paper
  std::vector<StudyOption> options;       // the study's own; may be empty
  std::function<Result<Findings>()> run;  // with the options as they stand; as many times as asked
};

std::vector<Study> all_studies();  // by name; each call makes them anew, with the options as they are published

}  // namespace rota::study

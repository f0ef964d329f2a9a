// A published study that Rota makes again: what `rota reproduce` needs to know of it. Each study is a file pair
// NAME_study.{h,cc} and a line in reproduce.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/cells.h"

namespace rota::cli {

struct Findings {
  std::string tables;   // figures for people, printed before the cells; ends with a line end, or is empty
  std::string members;  // the same for JSON: the study's own members, `"seeds": 30,\n  "rows": [...]`, or empty
  std::string heading;  // over the claims of the cells: what holds for all of them
  std::vector<report::Cell> cells;
};

struct Study {
  std::string name;   // as on the command line
  std::string about;  // one line for the help: the mechanism, and in brackets the paper
  // Declares the study's own options; may be empty. What it declares must outlive the app: keep it in a shared_ptr that
  // `run` holds too.
  std::function<void(CLI::App&)> options;
  std::function<Result<Findings>()> run;  // with the options as they stand; as many times as asked
};

}  // namespace rota::cli

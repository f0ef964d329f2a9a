// The report: one HTML file that needs nothing beside itself and no network. Its first sentence says which policy did
// best; then come the figures, the charts, a picture of every job that one can zoom, and where grace was granted.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "report/metrics.h"

namespace rota::report {

// What made a page.
struct MadeBy {
  struct Option {
    std::string name;
    std::string value;   // "" where none was given and there is no default
    bool given = false;  // else the value is the default
  };
  struct Input {
    std::string path;
    std::int64_t bytes = -1;  // -1: it cannot be read again
    std::string sha256 = {};  // of its bytes
  };
  std::vector<Option> options;
  std::vector<Input> inputs;
};

struct PageInfo {
  std::string title = "Rehearsal";  // any text: it is escaped, like every name from outside
  std::string version;              // of Rota, for the foot of the page
  std::string command;              // that made the page; "" leaves it out
  MadeBy made_by = {};              // and with what
};

// Outcomes that follow each other and tell of the same jobs on the same cluster are compared in one section. Single
// jobs are drawn for workloads of up to kMostDrawnJobs and for as many policies as kMostDrawnRuns allows; beyond that
// the page says so and keeps its table and charts. `summaries`, one each, tell of the sites; without them they are made
// from the jobs. Write errors are left in the stream's state.
inline constexpr std::size_t kMostDrawnJobs = 1'000'000;
inline constexpr std::size_t kMostDrawnRuns = 3'000'000;  // jobs x policies
void write_html(std::ostream& out, std::span<const Outcome> outcomes, const PageInfo& info,
                std::span<const Summary> summaries = {});

}  // namespace rota::report

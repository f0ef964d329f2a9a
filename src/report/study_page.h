// The report of published studies made again: one HTML file with their figures, the cells that had to come out, and
// tables. It needs nothing beside itself, no network and no scripts.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "report/cells.h"
#include "report/html.h"
#include "report/plot.h"

namespace rota::report {

struct StudySection {
  std::string name;     // "binding"
  std::string about;    // one line
  std::string tables;   // set in fixed width
  std::string heading;  // over the claims of the cells
  std::vector<Cell> cells;
  std::vector<Plot> plots;
};

// Write errors are left in the stream's state.
void write_study_page(std::ostream& out, std::span<const StudySection> sections, const PageInfo& info);

}  // namespace rota::report

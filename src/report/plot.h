// A figure of a study: lines over a linear axis, drawn as SVG that stands in a page of Rota's or alone.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rota::report {

struct Plot {
  struct Line {
    std::string name;
    std::vector<std::pair<double, double>> points;  // by ascending x; finite
    bool marked = true;                             // each point by a mark of its own
  };
  std::string title;
  std::string x_label;  // with its unit
  std::string y_label;
  std::vector<Line> lines;
};

// Both axes begin at 0 unless something is below. Text is escaped; up to eight lines can be told apart by colour, more
// by their marks' titles.
std::string svg_of(const Plot& plot);

}  // namespace rota::report

// The cells of the study of binding: cases that are rehearsed, and what is wanted of each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/cells.h"
#include "study/binding_case.h"

namespace rota::study {

// Runs cases and turns them into cells; the first error stays.
class BindingCells {
 public:
  double run(const BindingCase& setting, Bind bind);         // the speed-up
  double seconds_of(const BindingCase& setting, Bind bind);  // the time

  // A cell within one per cent of the speed-up that is expected; to be used before the next one is made.
  report::Cell& expect(std::string claim, const BindingCase& setting, Bind bind, double expected);
  // A cell that has its figure, a speed-up, and its bounds.
  report::Cell& expect_speed_up(report::Cell cell, const BindingCase& setting, Bind bind);
  // A time within one per cent, in seconds.
  report::Cell& expect_time(std::string claim, const BindingCase& setting, Bind bind, double expected);
  // A figure of two cases, read from a command for each.
  void expect_of_two(report::Cell cell, const BindingCase& first, const BindingCase& second, Bind bind);
  // A figure that no command makes again.
  void expect_without_command(report::Cell cell, std::string why);

  std::vector<report::Cell> cells;
  std::vector<BindingCase> used;  // in the cells' commands
  const std::optional<Error>& error() const { return error_; }

 private:
  void note(const Error& error);
  std::optional<Error> error_;
};

// What the paper measured, tells in words or gives as its reason.
void add_cells_of_the_paper(BindingCells& cells);
// Larger clusters, accelerators of unequal speeds, racks.
void add_cells_beyond_the_paper(BindingCells& cells);

}  // namespace rota::study

// The cells of a study: single figures that must come out, each beside what the paper says and, where there is one,
// beside what a better policy does.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>

namespace rota::report {

inline constexpr double kAny = std::numeric_limits<double>::max();  // as a bound: none

struct Cell {
  std::string claim;  // what the figure is, with its unit
  double found = 0;   // not a number: there is none, which is a miss
  double low = -kAny;
  double high = kAny;
  std::string paper = {};               // what the paper says; may be empty
  std::optional<double> expected = {};  // the one number that would be exact, from which deviations are told
  std::optional<double> better = {};    // what the better policy does, for comparison only
  std::string command = {};             // `rota simulate` ..., which makes it again; several: a line each. Empty: none
                                        // does,
  std::string reads = {};               // and how the figure is read from its JSON; without a command: why none does

  bool ok() const { return found >= low && found <= high; }
};

// A cell that may differ from what is expected by so many per cent of it.
Cell near(std::string claim, double found, double expected, double percent, std::string paper = "");
// A cell that may differ from what is expected by so much, in the figure's own unit.
Cell within(std::string claim, double found, double expected, double tolerance, std::string paper = "");

// How far what was found is from what is expected, in per cent of that; nothing where either is not there.
std::optional<double> deviation(const Cell& cell);

// A cell's figures as people read them; "" for what is not there.
struct CellTexts {
  std::string found;
  std::string wanted;
  std::string deviation;
  std::string better;
};
CellTexts texts_of(const Cell& cell);

bool all_ok(std::span<const Cell> cells);

// A line a cell: ok or MISSED, claim, found, wanted, deviation, paper, better. The last three only where a cell has
// one.
std::string cells_table(std::span<const Cell> cells, const std::string& heading);

// The same cell, with how it is made again.
Cell by_command(Cell cell, std::string command, std::string reads);
Cell without_command(Cell cell, std::string why);

// The commands and under each the claims that it makes again; behind them the claims that no command does, and why.
std::string commands_table(std::span<const Cell> cells, const std::string& study);

// A JSON array; what is not there, and a bound that is none, is null.
std::string cells_json(std::span<const Cell> cells);

}  // namespace rota::report

#include "report/cells.h"

#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/formatted.h"

namespace rota::report {
namespace {

bool bounded(double bound) { return std::abs(bound) < kAny; }

std::string wanted(const Cell& cell) {
  if (!bounded(cell.low)) return formatted("at most %g", cell.high);
  if (!bounded(cell.high)) return cell.low > 0 && cell.low < 1e-6 ? "above 0" : formatted("at least %g", cell.low);
  return cell.low == cell.high ? formatted("%g", cell.low) : formatted("%.4g to %.4g", cell.low, cell.high);
}

std::string deviation_text(const Cell& cell) {
  const auto off = deviation(cell);
  if (!off) return "";
  return formatted("%+.2f %%", std::abs(*off) < 0.005 ? 0.0 : *off);  // no minus before 0.00
}

// How wide the claims are, and which of the columns that not every study has are there.
struct Columns {
  int claim = 0;
  bool deviation = false;
  bool paper = false;
  bool better = false;
};

Columns columns_of(std::span<const Cell> cells, const std::string& heading) {
  Columns has{static_cast<int>(heading.size())};
  for (const Cell& cell : cells) {
    has.claim = std::max(has.claim, static_cast<int>(cell.claim.size()));
    has.deviation |= deviation(cell).has_value();
    has.paper |= !cell.paper.empty();
    has.better |= cell.better.has_value();
  }
  return has;
}

// A line of the table, without the columns that no row fills.
std::string line(const Columns& has, std::initializer_list<std::string> texts) {
  const auto* text = texts.begin();
  std::string out = formatted("%-7s %-*s ", text[0].c_str(), has.claim, text[1].c_str());
  out += formatted("%10s  %-18s", text[2].c_str(), text[3].c_str());
  if (has.deviation) out += formatted(" %10s", text[4].c_str());
  if (has.better) out += formatted(" %10s", text[5].c_str());
  if (has.paper) out += "  " + text[6];
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

using Json = nlohmann::ordered_json;

Json json_bound(double bound) { return bounded(bound) ? Json(bound) : Json(nullptr); }

Json json_number(std::optional<double> number) {
  return number && std::isfinite(*number) ? Json(*number) : Json(nullptr);
}

}  // namespace

Cell near(std::string claim, double found, double expected, double percent, std::string paper) {
  return within(std::move(claim), found, expected, std::abs(expected) * percent / 100, std::move(paper));
}

Cell within(std::string claim, double found, double expected, double tolerance, std::string paper) {
  return {std::move(claim), found, expected - tolerance, expected + tolerance, std::move(paper), expected};
}

std::optional<double> deviation(const Cell& cell) {
  if (!cell.expected || *cell.expected == 0 || !std::isfinite(cell.found)) return {};
  return 100 * (cell.found - *cell.expected) / std::abs(*cell.expected);
}

CellTexts texts_of(const Cell& cell) {
  const char* digits = cell.ok() ? "%.2f" : "%.3f";  // a near miss shows as one
  return {std::isfinite(cell.found) ? formatted(digits, cell.found) : "-", wanted(cell), deviation_text(cell),
          cell.better ? formatted("%.2f", *cell.better) : ""};
}

bool all_ok(std::span<const Cell> cells) { return std::ranges::all_of(cells, &Cell::ok); }

std::string cells_table(std::span<const Cell> cells, const std::string& heading) {
  const Columns has = columns_of(cells, heading);
  std::string out = line(has, {"", heading, "found", "wanted", "deviation", "better", "in the paper"});
  for (const Cell& cell : cells) {
    const CellTexts texts = texts_of(cell);
    out += line(has, {cell.ok() ? "ok" : "MISSED", cell.claim, texts.found, texts.wanted, texts.deviation, texts.better,
                      cell.paper});
  }
  return out;
}

Cell by_command(Cell cell, std::string command, std::string reads) {
  cell.command = std::move(command);
  cell.reads = std::move(reads);
  return cell;
}

Cell without_command(Cell cell, std::string why) { return by_command(std::move(cell), "", std::move(why)); }

std::string commands_table(std::span<const Cell> cells, const std::string& study) {
  std::string made = fmt::format(
      "Made again by these commands, where `rota reproduce {} --inputs FOLDER` has put its files:\n", study);
  std::string others = fmt::format("Made by `rota reproduce {}` alone:\n", study);
  const std::size_t none_made = made.size();
  const std::size_t no_others = others.size();
  const std::string* before = nullptr;
  for (const Cell& cell : cells) {
    if (cell.command.empty()) {
      others += fmt::format("    {}{}\n", cell.claim, cell.reads.empty() ? "" : ": " + cell.reads);
      continue;
    }
    if (before == nullptr || *before != cell.command) {
      for (const std::string_view line : split(cell.command, '\n')) made += fmt::format("  {}\n", line);
    }
    before = &cell.command;
    made += fmt::format("    {}: {}\n", cell.claim, cell.reads);
  }
  return (made.size() > none_made ? made : "") + (others.size() > no_others ? others : "");
}

std::string cells_json(std::span<const Cell> cells) {
  Json all = Json::array();
  for (const Cell& cell : cells) {
    all.push_back({{"claim", cell.claim},
                   {"found", json_number(cell.found)},
                   {"low", json_bound(cell.low)},
                   {"high", json_bound(cell.high)},
                   {"deviation_percent", json_number(deviation(cell))},
                   {"paper", cell.paper},
                   {"expected", json_number(cell.expected)},
                   {"better", json_number(cell.better)},
                   {"ok", cell.ok()}});
    const bool commanded = !cell.command.empty();
    all.back()["command"] = commanded ? Json(cell.command) : Json(nullptr);
    all.back()[commanded ? "reads" : "why_no_command"] = cell.reads.empty() ? Json(nullptr) : Json(cell.reads);
  }
  return all.dump();
}

}  // namespace rota::report

#include "report/advice.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "report/block_costs.h"
#include "report/readable.h"
#include "report/weeks.h"

namespace rota::report {
namespace {

constexpr std::size_t kMostChanges = 3;  // that are told
constexpr double kWorth = 0.99;          // times as long at most, to be told

using Places = std::vector<std::size_t>;
using Summaries = std::span<const Summary>;

double mean_wait(const Summary& s) {
  return typical(s, [](const Summary& one) { return one.wait_mean.value_or(0); });
}
std::string wait_of(const Summary& s) { return readable_seconds(mean_wait(s)); }

// By how long jobs wait, the shortest first.
Places settable(const Places& ran, Summaries all) {
  Places places;
  std::ranges::copy_if(ran, std::back_inserter(places), [&](std::size_t i) { return all[i].slurm_can; });
  std::ranges::sort(places, {},
                    [&](std::size_t i) { return std::pair(mean_wait(all[i]), std::string_view(all[i].policy)); });
  return places;
}

std::string change(const Summary& then, const Summary& now) {
  std::string lines;
  for (const std::string& line : then.slurm_lines) lines += (lines.empty() ? "" : " and ") + fmt::format("`{}`", line);
  std::string text =
      fmt::format("In slurm.conf alone: with {} jobs wait {}, {} % less than as it is now ({}).", lines, wait_of(then),
                  readable_percent(1 - mean_wait(then) / mean_wait(now), 1), wait_of(now));
  const std::string weeks = weeks_sentence(then, now);
  if (!weeks.empty()) return fmt::format("{} {} {}", text, weeks, cost_told(costs_of(*now.weeks, *then.weeks)));
  if (differ_by_noise(then, now, mean_wait)) return text + " Over the copies that may be chance.";
  return text;
}

}  // namespace

std::vector<std::string> changes_in_slurm(const Places& ran, Summaries all) {
  const auto now = std::ranges::find_if(ran, [&](std::size_t i) { return all[i].own && all[i].slurm_can; });
  std::vector<std::string> sentences;
  if (now == ran.end() || !all[*now].of_slurm || mean_wait(all[*now]) <= 0) return sentences;
  for (const std::size_t i : settable(ran, all)) {
    if (sentences.size() == kMostChanges || mean_wait(all[i]) > kWorth * mean_wait(all[*now])) break;
    if (!all[i].slurm_lines.empty()) sentences.push_back(change(all[i], all[*now]));
  }
  return sentences;
}

std::string beyond_slurm(const Places& chosen, const Places& ran, Summaries all) {
  const auto other = [&](std::size_t i) { return all[i].of_slurm && !all[i].slurm_can; };
  if (std::ranges::none_of(chosen, other)) return "";
  std::vector<std::string> names;
  for (const std::size_t i : chosen)
    if (other(i)) names.push_back(all[i].name());
  const std::string text = fmt::format("Slurm cannot be set to {}: it takes Rota to run it", alternatives(names));
  const Places within = settable(ran, all);
  if (within.empty()) return text + ".";
  const Summary& best = all[within.front()];
  return fmt::format("{}. Of what it can be set to, jobs wait least under {} here ({}).", text, best.name(),
                     wait_of(best));
}

}  // namespace rota::report

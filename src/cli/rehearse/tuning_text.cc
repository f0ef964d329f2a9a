#include "cli/rehearse/tuning_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/live/service.h"
#include "cli/rehearse/simulate_run.h"
#include "report/block_costs.h"
#include "report/readable.h"

namespace rota::cli {
namespace {

using report::Drawn;
using report::Rule;

constexpr double kLoss = 0.05;         // share by which another rule is worse, to be told
constexpr std::size_t kMostCosts = 3;  // parties that are named

std::string policy_now(const Tuning& tuning) { return tuning.judged.front().setting.policy; }

std::string called(const JudgedSetting& judged) {
  return judged.setting.changes.empty() ? "as it is now" : judged.setting.changes;
}

std::string shown(const Rule& rule, double value) { return std::isnan(value) ? "-" : rule.text(value); }

std::string range(const Rule& rule, const Drawn& gain) {
  if (std::isnan(gain.value)) return "-";
  return fmt::format("{} to {}", rule.text(gain.low), rule.text(gain.high));
}

std::string figures_of(const Tuning& tuning, const TunedLog& of, std::size_t r) {
  const Rule& rule = *of.how.rules[r];
  const auto is_unknown = [&](const JudgedSetting& judged) { return std::isnan(judged.figures[r].value); };
  if (std::ranges::all_of(tuning.judged, is_unknown)) return fmt::format("Not known of these jobs: {}.\n", rule.what);
  std::vector<std::vector<std::string>> rows;
  for (const JudgedSetting& judged : tuning.judged) {
    std::vector<std::string> row{called(judged), shown(rule, judged.setting.figures[r]),
                                 shown(rule, judged.figures[r].value), "", ""};
    if (&judged != &tuning.judged.front()) {
      row[3] = shown(rule, judged.gains[r].value);
      row[4] = range(rule, judged.gains[r]);
    }
    rows.push_back(std::move(row));
  }
  std::string heading(rule.heading);
  std::ranges::transform(heading, heading.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return table({{heading}, {"SEARCHED", true}, {"JUDGED", true}, {"BETTER BY", true}, {"95 % INTERVAL", true}}, rows);
}

report::Costs costs_of(const Tuning& tuning) {
  return tuning.judged.size() < 2 ? report::Costs{}
                                  : report::costs_of(tuning.judged[0].blocks, tuning.judged[1].blocks);
}

std::string party_name(const report::Costs& costs, std::uint32_t party, const log::Workload& workload) {
  const log::NumberedNames& names = costs.of_groups ? workload.groups : workload.users;
  const auto named = names.find(party);
  return fmt::format("{} {}", costs.of_groups ? "group" : "user",
                     named == names.end() ? std::to_string(party) : one_line(named->second));
}

std::string cost_sentence(const Tuning& tuning, const TunedLog& of) {
  const report::Costs costs = costs_of(tuning);
  std::string text = report::cost_told(costs);
  for (std::size_t i = 0; i < std::min(costs.parties.size(), kMostCosts); ++i) {
    const report::PartyCost& cost = costs.parties[i];
    text += fmt::format("{}{} waits {} in place of {} ({})", i == 0 ? " Most: " : "; ",
                        party_name(costs, cost.party, of.workload), report::readable_seconds(cost.then),
                        report::readable_seconds(cost.now), amount(cost.jobs, "job"));
  }
  return costs.parties.empty() ? text : text + ".";
}

std::string percent_of(double part, double whole) {
  return whole == 0 ? "-" : report::readable_percent(part / std::abs(whole), 1) + " %";
}

std::string behind(const Tuning& tuning) {
  return fmt::format("On the {} that took no part in the search",
                     told(tuning.cut, tuning.cut.count - tuning.searched_on));
}

// nullopt: the policy is none of Slurm's.
std::optional<std::vector<std::string>> conf_lines(const Tuning& tuning) {
  if (!is_setting_of_slurm(policy_now(tuning))) return std::nullopt;
  if (tuning.judged.size() < 2) return std::vector<std::string>{};
  return slurm_lines_between(policy_now(tuning), tuning.judged[1].setting.policy);
}

std::string what_to_do(const Tuning& tuning) {
  const auto lines = conf_lines(tuning);
  if (!lines) return fmt::format("The policy to take: {}\n", tuning.judged[1].setting.policy);
  std::string text = "In slurm.conf (what else stands in SchedulerParameters and PriorityFlags there is to stay):\n";
  for (const std::string& line : *lines) text += fmt::format("  {}\n", line);
  return text;
}

std::string knobs_told(const TuneOptions& how) {
  std::string text;
  for (const TunedKnob& knob : how.knobs) text += fmt::format("{}{}", text.empty() ? "" : ", ", knob.knob->name);
  return text;
}

// The first rule under what was chosen, beside what it is now.
std::string what_was_judged(const Tuning& tuning, const Rule& rule) {
  const JudgedSetting& best = tuning.judged[1];
  const Drawn& gain = best.gains.front();
  const double now = tuning.judged.front().figures.front().value;
  const bool worse = gain.value < 0;
  const double sign = worse && gain.high < 0 ? -1 : 1;
  return fmt::format(
      "{} {} is {} under {} and {} as it is now: {} by {} ({}), and {} in 95 of 100 draws of them", behind(tuning),
      rule.what, shown(rule, best.figures.front().value), best.setting.changes, shown(rule, now),
      worse ? "worse" : "better", shown(rule, std::abs(gain.value)), percent_of(std::abs(gain.value), now),
      fmt::format("{} by {} to {}", sign < 0 ? "worse" : "better", percent_of(sign < 0 ? -gain.high : gain.low, now),
                  percent_of(sign < 0 ? -gain.low : gain.high, now)));
}

// The other rules by which it is clearly worse.
std::string losses(const Tuning& tuning, const TuneOptions& how) {
  std::string text;
  for (std::size_t r = 1; r < how.rules.size(); ++r) {
    const double now = tuning.judged.front().figures[r].value;
    const double loss = -tuning.judged[1].gains[r].value;
    if (!(loss > kLoss * std::abs(now))) continue;
    text += fmt::format("But {} is {} in place of {}. ", how.rules[r]->what,
                        shown(*how.rules[r], tuning.judged[1].figures[r].value), shown(*how.rules[r], now));
  }
  return text;
}

}  // namespace

std::string tuning_sentence(const Tuning& tuning, const TunedLog& of) {
  if (tuning.judged.size() < 2 || tuning.judged[1].setting.changed == 0)
    return fmt::format("Nothing is worth changing: no setting of {} was better by 1 % where they were searched.",
                       knobs_told(of.how));
  const Rule& rule = *of.how.rules.front();
  const Drawn& gain = tuning.judged[1].gains.front();
  if (std::isnan(gain.value))
    return fmt::format("Nothing is worth changing: {} of the part that is judged on is not known.", rule.what);
  const std::string what = what_was_judged(tuning, rule);
  if (tuning.worth_changing())
    return fmt::format("Worth changing: {}. {}. {}{}", tuning.judged[1].setting.changes, what, losses(tuning, of.how),
                       cost_sentence(tuning, of));
  const char* const why = gain.high < 0          ? ""
                          : gain.holds_nothing() ? ", which may be chance"
                                                 : ", which is less than 1 %";
  return fmt::format("Nothing is worth changing. {}{}.", what, why);
}

std::string tuning_text(const Tuning& tuning, const TunedLog& of) {
  std::string text = fmt::format("{}, {}: searched on {}, judged on the {} behind them. {} of {} rehearsed",
                                 one_line(of.workload.name), policy_now(tuning), told(tuning.cut, tuning.searched_on),
                                 told(tuning.cut, tuning.cut.count - tuning.searched_on),
                                 amount(static_cast<std::int64_t>(tuning.tried), "setting"), knobs_told(of.how));
  if (tuning.impossible > 0)
    text += fmt::format(", {} that do not go together left out", grouped(static_cast<std::int64_t>(tuning.impossible)));
  text += ".\n";
  if (!tuning.cut.weeks())
    text +=
        "The log has too few weeks: its parts depend on each other, and the true intervals are wider than those "
        "shown.\n";
  if (tuning.stopped) text += "The search was interrupted: this is the best of what had been rehearsed by then.\n";
  for (std::size_t r = 0; r < of.how.rules.size(); ++r) text += "\n" + figures_of(tuning, of, r);
  text += "\n" + tuning_sentence(tuning, of) + "\n";
  if (tuning.worth_changing()) text += what_to_do(tuning);
  return text;
}

namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json json_of(const Tuning& tuning, const TuneOptions& how, const JudgedSetting& judged) {
  Json figures = Json::object();
  for (std::size_t r = 0; r < how.rules.size(); ++r) {
    Json& into = figures[how.rules[r]->name] = {{"searched", number(judged.setting.figures[r])},
                                                {"judged", number(judged.figures[r].value)},
                                                {"judged_low", number(judged.figures[r].low)},
                                                {"judged_high", number(judged.figures[r].high)}};
    if (&judged == &tuning.judged.front()) continue;
    into["better_by"] = number(judged.gains[r].value);
    into["better_by_low"] = number(judged.gains[r].low);
    into["better_by_high"] = number(judged.gains[r].high);
  }
  return {{"policy", judged.setting.policy}, {"changes", judged.setting.changes}, {"figures", figures}};
}

}  // namespace

std::string tuning_json(const Tuning& tuning, const TunedLog& of) {
  Json settings = Json::array();
  for (const JudgedSetting& judged : tuning.judged) settings.push_back(json_of(tuning, of.how, judged));
  Json costs = Json::array();
  if (tuning.worth_changing()) {
    const report::Costs all = costs_of(tuning);
    for (const report::PartyCost& cost : all.parties)
      costs.push_back({{"party", party_name(all, cost.party, of.workload)},
                       {"jobs", cost.jobs},
                       {"wait_now_s", cost.now},
                       {"wait_then_s", cost.then}});
  }
  Json lines = nullptr;
  if (const auto of_conf = conf_lines(tuning)) lines = tuning.worth_changing() ? *of_conf : std::vector<std::string>{};
  return shown_json({{"format", "rota-tuning-1"},
                     {"workload", of.workload.name},
                     {"policy", policy_now(tuning)},
                     {"weeks", tuning.cut.weeks()},
                     {"block_s", to_seconds(tuning.cut.length)},
                     {"searched_on_blocks", tuning.searched_on},
                     {"judged_on_blocks", tuning.cut.count - tuning.searched_on},
                     {"tried", tuning.tried},
                     {"impossible", tuning.impossible},
                     {"interrupted", tuning.stopped},
                     {"settings", settings},
                     {"worth_changing", tuning.worth_changing()},
                     {"costs", costs},
                     {"slurm_conf", lines},
                     {"text", tuning_sentence(tuning, of)}});
}

}  // namespace rota::cli

#include "cli/live/shadow_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/rehearse/kept_state.h"
#include "cli/rehearse/tuning_text.h"
#include "cli/when.h"
#include "log/window.h"
#include "rehearse/recorded.h"
#include "rehearse/tune.h"

namespace rota::cli {
namespace {

constexpr Duration kDay = seconds(86'400);

std::string time_cell(const std::optional<double>& wait) { return wait ? spoken_time(*wait) : "-"; }

std::vector<std::string> row(const std::string& name, const report::Summary& summary) {
  return {name,
          grouped(summary.jobs),
          time_cell(summary.wait_mean),
          time_cell(summary.wait_median),
          time_cell(summary.wait_p95),
          time_cell(summary.wait_max),
          summary.utilization ? fmt::format("{:.1f} %", 100 * *summary.utilization) : "-"};
}

// Which nodes would have slept, of a policy under which some would.
std::string sleep_text(const std::string& policy, const report::Summary& summary) {
  if (!summary.power || summary.power->off <= 0) return {};
  const report::PowerUse& power = *summary.power;
  const double hours =
      power.share(power.off) * static_cast<double>(power.nodes) * static_cast<double>(power.length.count()) / 3.6e6;
  std::string text = fmt::format("Under {}, nodes would have slept for {:.0f} of {:.0f} node-hours", policy, hours,
                                 static_cast<double>(power.nodes) * static_cast<double>(power.length.count()) / 3.6e6);
  if (const auto saved = power.saved()) text += fmt::format(", and {:.1f} kWh less would have been drawn", *saved);
  return text + fmt::format("; each was sent to sleep {:.1f} times a day.\n", power.cycles_per_node_day());
}

class Fork {
 public:
  explicit Fork(const ForkAsked& asked, KeptState state) : asked_(asked), state_(std::move(state)) {
    auto machine = std::make_shared<Machine>(*state_.machine);
    for (Node& node : machine->nodes)
      if (asked.idle_watts > 0 && node.power.idle == 0) node.power.idle = std::llround(asked.idle_watts * 1000);
    options_.processors = state_.workload.processors;
    options_.machine = std::move(machine);
  }

  Result<std::string> text() {
    log::Workload late = state_.workload;
    const Instant from = kEpoch + seconds(asked_.since - late.unix_start);
    if (!late.jobs.empty() && from > late.jobs.front().submit)
      TRY(log::cut(late, {.from = from - kDay, .warm_up = kDay}));
    std::string told = "What other policies would have made of these jobs: rehearsed, and not what happened.\n";
    std::string slept;
    std::vector<std::vector<std::string>> rows;
    if (const auto real = recorded(late, options_)) rows.push_back(row("what really happened", real->summary));
    for (const auto& [name, policy] : policies()) {
      const auto chain = TRY(Chain::parse(policy));
      const auto rehearsed = rehearse(late, chain, options_);
      if (!rehearsed) {
        told += fmt::format("{} cannot be rehearsed: {}\n", policy, rehearsed.error().message);
        continue;
      }
      rows.push_back(row(name, rehearsed->summary));
      slept += sleep_text(policy, rehearsed->summary);
    }
    told += table({{"POLICY"},
                   {"JOBS", true},
                   {"MEAN WAIT", true},
                   {"MEDIAN", true},
                   {"95 %", true},
                   {"LONGEST", true},
                   {"USED", true}},
                  rows, true);
    told +=
        "How far the second line is off the first tells how far the others are to be trusted. Their differences from "
        "the second are what a change would bring.\n";
    if (!slept.empty()) told += "\n" + slept;
    if (asked_.tries > 0) told += "\n" + tuned();
    return told;
  }

 private:
  std::vector<std::pair<std::string, std::string>> policies() const {
    std::vector<std::pair<std::string, std::string>> all{{"its own, rehearsed", state_.policy}};
    for (const std::string& policy : asked_.policies) all.emplace_back(policy, policy);
    return all;
  }

  // On all that is known, not only what is late.
  std::string tuned() {
    const auto chain = Chain::parse(state_.policy);
    if (!chain) return {};
    TuneOptions how{.policy = state_.policy, .most_tries = asked_.tries};
    for (const std::string& name : knobs_to_tune(*chain)) {
      const Knob* knob = knob_named(name);
      auto values = values_to_try(*knob, *chain);
      if (values) how.knobs.push_back({knob, std::move(*values)});
    }
    how.rules.push_back(report::rule_named("mean"));
    how.threads = std::max(1U, std::thread::hardware_concurrency() / 2);
    const auto tuning = tune(state_.workload, how, options_);
    const std::string head = "What is worth changing, searched on one half of all weeks and judged on the other.\n";
    return head + (tuning ? tuning_text(*tuning, {state_.workload, how}) : tuning.error().message + "\n");
  }

  const ForkAsked& asked_;
  KeptState state_;
  RehearseOptions options_;
};

}  // namespace

Result<std::string> forked_text(const ForkAsked& asked) {
  auto state = TRY(read_state(asked.state));
  return Fork(asked, std::move(state)).text();
}

}  // namespace rota::cli

// rota forecast calibrate: how often starts lay where a forecast had them, on a log.
#include <fmt/core.h>

#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/live/forecast.h"
#include "cli/printed.h"
#include "cli/progress.h"
#include "cli/rehearse/rehearse_flags.h"
#include "forecast/calibrate.h"
#include "log/log.h"
#include "report/formatted.h"

namespace rota::cli {
namespace {

using forecast::Way;

struct CalibrateFlags {
  std::string workload;
  RehearseFlags rehearse;
  int moments = 1000;
  int futures = 300;
  std::int64_t seed = 1;
  bool json = false;
};

struct Row {
  Way way;
  const char* name;
  const char* shown;
  bool has_band;
};
constexpr Row kRows[]{
    {Way::forecast, "forecast", "forecast", true},
    {Way::corrected, "corrected", "read as past forecasts taught", true},
    {Way::by_limits, "limits", "limits at their word", false},
    {Way::promise, "promise", "the promise alone, where there was one", false},
    {Way::forecast_of_promised, "forecast_where_promised", "forecast, at the same moments", true},
};

Json json_of(const std::vector<forecast::Trial>& trials) {
  Json out = Json::object();
  for (const Row& row : kRows) {
    const forecast::Score score = forecast::score_of(trials, row.way);
    Json& into = out[row.name] = Json{{"moments", score.trials}};
    if (score.trials == 0) continue;
    if (row.has_band) into["inside_50"] = score.inside50;
    if (row.has_band) into["inside_90"] = score.inside90;
    into["mean_error"] = score.mean_error;
    into["median_error"] = score.median_error;
  }
  return out;
}

std::string text_of(const std::vector<forecast::Trial>& trials) {
  std::vector<std::vector<std::string>> rows;
  const auto percent = [](double share) { return report::formatted("%.1f %%", 100 * share); };
  const auto time = [](double s) { return format_duration(seconds(static_cast<std::int64_t>(s + 0.5))); };
  for (const Row& row : kRows) {
    const forecast::Score score = forecast::score_of(trials, row.way);
    if (score.trials == 0) continue;
    rows.push_back({row.shown, grouped(score.trials), row.has_band ? percent(score.inside50) : "-",
                    row.has_band ? percent(score.inside90) : "-", time(score.mean_error), time(score.median_error)});
  }
  return table({{"HOW STARTS ARE TOLD"},
                {"MOMENTS", true},
                {"IN 50 %", true},
                {"IN 90 %", true},
                {"MEAN ERROR", true},
                {"MEDIAN", true}},
               rows);
}

Result<int> calibrate(const CalibrateFlags& flags) {
  const auto swf = TRY(flags.rehearse.swf());
  const auto workload = TRY(log::read_log(flags.workload, swf));
  auto chains = TRY(flags.rehearse.chains());
  if (chains.size() != 1) return fail("one policy is calibrated at a time; --policy names several.");
  const auto options = TRY(flags.rehearse.options(workload));
  if (options.machine && !options.machine->sites.empty())
    return fail("forecasts are of one cluster, and {} describes several sites; give it a file that describes one.",
                rota::quoted(flags.rehearse.cluster));
  if (options.tasks)
    return fail("forecasts know nothing of tasks for accelerators; leave them out of {}.",
                rota::quoted(flags.rehearse.attributes));
  Progress progress(flags.moments, !flags.json && ::isatty(STDERR_FILENO) == 1, "moments");
  const auto trials =
      forecast::calibrate([&] { return std::make_unique<WorkloadSource>(workload, options); }, chains.front(),
                          {.processors = options.processors,
                           .machine = options.machine.get(),
                           .terms = &workload.terms,
                           .moments = flags.moments,
                           .futures = flags.futures,
                           .seed = static_cast<std::uint64_t>(flags.seed),
                           .progress = [&](int) { progress.add(1); }});
  if (!trials) return std::unexpected(trials.error());
  if (trials->empty()) return fail("no job ever waits in this rehearsal: there is nothing to forecast.");
  if (flags.json) return printed(shown_json(json_of(*trials)));
  return printed(fmt::format("{}, {}: {}, {} each\n\n{}", one_line(workload.name), chains.front().text(),
                             amount(std::ssize(*trials), "moment"), amount(flags.futures, "future"), text_of(*trials)));
}

}  // namespace

void add_calibrate(Command forecast, Action& action) {
  auto flags = std::make_shared<CalibrateFlags>();
  Command command = forecast.add_subcommand("calibrate", "measure on a job log how often forecasts are right");
  command.description(
      "Rehearses the log under the policy. At random moments a job that waits is forecast from what "
      "was known by then; "
      "its real start is looked at afterwards, and beside the forecast what the policy promised and "
      "what the limits say.");
  command
      .add_option("WORKLOAD", flags->workload,
                  "job log in the Standard Workload Format, JSON lines, or as sacct -P prints them, plain or gzipped")
      .required()
      .type_name("FILE");
  command.add_option("--moments", flags->moments, "so many random moments at which a job waits")
      .range(1, 1'000'000)
      .type_name("N")
      .capture_default_str();
  command.add_option("--futures", flags->futures, "rehearsed at each")
      .range(1, 10'000)
      .type_name("N")
      .capture_default_str();
  command.add_option("--seed", flags->seed, "of moments and futures")
      .range(std::int64_t{0}, std::int64_t{1} << 53)
      .type_name("N")
      .capture_default_str();
  command.add_flag("--json", flags->json, "print the figures as JSON; times in seconds");
  flags->rehearse.declare(command, RehearseFlags::Policies::one);
  command.footer("Examples:\n  rota forecast calibrate log.swf --policy easy --moments 1000 --seed 1");
  command.callback([&action, flags] { action = [flags] { return calibrate(*flags); }; });
}

}  // namespace rota::cli

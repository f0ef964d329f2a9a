// rota shadow: how well a service foretold the starts of jobs that another resource manager starts.
#include <fmt/core.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "cli/live/service.h"
#include "cli/live/shadow_report.h"
#include "cli/printed.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

struct ShadowFlags {
  ServiceFlags service;
  std::string since = "7d";
  bool jobs = false;
  bool report = false;
  std::vector<std::string> policies{"easy", "conservative", "easy+order=sjf", "easy+power=idle-timeout"};
  std::string state;
  std::int64_t idle_watts = 0;
};

std::int64_t count(const Json& object, const char* name) { return static_cast<std::int64_t>(number_of(object, name)); }

std::string share(const Json& scores, const char* name) {
  const std::int64_t all = count(scores, "starts");
  if (all == 0 || !has_number(scores, name)) return "-";
  return fmt::format("{:.0f} %", 100.0 * number_of(scores, name) / static_cast<double>(all));
}

// "+2m10s": so much later than was foretold.
std::string time_of(const Json& scores, const char* name, bool with_sign) {
  if (!has_number(scores, name)) return "-";
  const double seconds_off = number_of(scores, name);
  return (!with_sign ? "" : seconds_off < 0 ? "-" : "+") + spoken_time(std::abs(seconds_off));
}

std::vector<std::string> row(const std::string& by, const Json& scores) {
  return {by,
          std::to_string(count(scores, "starts")),
          share(scores, "within_half"),
          share(scores, "within_nine_tenths"),
          share(scores, "within_minute"),
          time_of(scores, "median_error", false),
          time_of(scores, "bias", true)};
}

// Each start that was foretold, all times from when that was done on.
std::string table_of_starts(const Json& jobs) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& job : jobs) {
    const auto by = job.find("by");
    if (by == job.end() || by->size() != 5) continue;
    const double at = number_of(job, "at");
    const auto since = [&](const Json& time) {
      if (!time.is_number()) return std::string("-");
      const double off = time.get<double>() - at;
      return (off < 0 ? "-" : "") + spoken_time(std::abs(off));
    };
    rows.push_back({text_of(job, "id")});
    for (const Json& time : *by) rows.back().push_back(since(time));
    rows.back().push_back(since(job.at("start")));
    rows.back().push_back(job.contains("manager") ? since(job.at("manager")) : "-");
  }
  return table({{"JOB"},
                {"5 %", true},
                {"25 %", true},
                {"50 %", true},
                {"75 %", true},
                {"95 %", true},
                {"BEGAN AFTER", true},
                {"MANAGER'S OWN", true}},
               rows, true);
}

Result<int> show_shadow(const ShadowFlags& flags) {
  const auto back = parse_duration(flags.since);
  if (!back) return fail("--since {}", back.error().message);
  const std::int64_t since = std::max<std::int64_t>(unix_now() - back->count() / 1000, 0);
  std::map<std::string, std::string> query{{"since", std::to_string(since)}};
  if (flags.jobs) query["jobs"] = "1";
  const auto answer = TRY(Service(flags.service).get(target_of("/v1/shadow", query)));
  if (flags.service.json) return printed(shown_json(answer));
  const Json none = Json::object();
  const auto part = [&](const char* name) { return answer.value(name, none); };
  std::vector<std::vector<std::string>> rows{row("Rota, all jobs", part("forecasts"))};
  if (count(part("manager"), "starts") > 0) {
    rows.push_back(row("Rota, those below", part("forecasts_beside")));
    rows.push_back(row("the manager's own", part("manager")));
  }
  std::string text = table({{"FORETOLD BY"},
                            {"STARTS", true},
                            {"IN 50 %", true},
                            {"IN 90 %", true},
                            {"WITHIN 1 MIN", true},
                            {"MEDIAN ERROR", true},
                            {"BIAS", true}},
                           rows, true);
  text +=
      fmt::format("\nPolicy {}; {} forecast and yet to start; {} left without a start.\n", text_of(answer, "policy"),
                  amount(count(answer, "waiting"), "job"), amount(count(answer, "left"), "job"));
  if (const Json advice = part("advice"); has_number(advice, "wait"))
    text += fmt::format(
        "In the order that `rota mode` advises or follows, {} that wait would start {} from {} on in the mean, and {} "
        "in the manager's own: {} sooner, {} later.\n",
        amount(count(advice, "jobs"), "job"), time_of(advice, "wait", false), time_text(number_of(advice, "at")),
        time_of(advice, "own_wait", false), grouped(count(advice, "sooner")), grouped(count(advice, "later")));
  const Json not_forecast = part("not_forecast");
  for (const auto& [why, jobs] : not_forecast.items())
    text += fmt::format("Not forecast: {}: {}.\n", amount(jobs.is_number() ? jobs.get<std::int64_t>() : 0, "job"),
                        one_line(why));
  if (flags.jobs) text += "\n" + table_of_starts(part("jobs"));
  if (flags.report) {
    ForkAsked asked{.state = flags.state,
                    .since = since,
                    .policies = flags.policies,
                    .idle_watts = static_cast<double>(flags.idle_watts)};
    if (asked.state.empty()) asked.state = text_of(TRY(Service(flags.service).get("/v1/status")), "state_folder");
    if (asked.state.empty()) return fail("Where the service keeps its state, it tells operators only; give --state.");
    const auto forked = TRY(forked_text(asked));
    text = fmt::format("Beside Slurm, the last {}, on {}.\n\nHow well starts were foretold.\n{}\n{}", flags.since,
                       time_text(static_cast<double>(unix_now())), text, forked);
  }
  return printed(text);
}

}  // namespace

void add_shadow(Command app, Action& action) {
  auto flags = std::make_shared<ShadowFlags>();
  Command command = app.add_subcommand("shadow", "tell how well starts were foretold that Slurm decides");
  command.description(
      "For a service beside another resource manager (`rota serve --engine slurm`). Each job is forecast when it is "
      "first seen waiting, and scored when it has started: how many starts lay within the middle half of the futures "
      "and within nine tenths, and how far they were from the middle one. What the manager itself expected is scored "
      "beside it, by its first estimate.");
  command.add_option("--since", flags->since, "starts from so long ago on").type_name("TIME").capture_default_str();
  command.add_flag("--jobs", flags->jobs, "list each start, and when it was foretold");
  command.add_flag(
      "--report", flags->report,
      "say more: what other policies would have made of these jobs, which nodes would have slept, and what "
      "is worth changing; as long as rehearsals take");
  command.add_option("--policy", flags->policies, "of the report: policies that are rehearsed beside its own")
      .delimiter(',')
      .default_str("easy,conservative,easy+order=sjf,easy+power=idle-timeout")
      .type_name("POLICY,...");
  command
      .add_option("--idle-watts", flags->idle_watts,
                  "of the report: what a node draws that is on, where no file says it")
      .type_name("WATTS");
  command.add_option("--state", flags->state, "of the report: the service's folder; without: as the service says")
      .type_name("FOLDER");
  flags->service.declare_json(command);
  command.footer("Examples:\n  rota shadow --since 7d\n  rota shadow --report --since 7d > week.txt");
  command.callback([&action, flags] { action = [flags] { return show_shadow(*flags); }; });
}

}  // namespace rota::cli

// rota forecast, and rota nodes --forecast: what may come, as a service rehearses it.
#include "cli/live/forecast.h"

#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/printed.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

struct ForecastFlags {
  ServiceFlags service;
  std::string job;
  int futures = 500;
  std::int64_t seed = 1;
  bool no_header = false;
};

void declare_futures(Command command, int& futures) {
  command.add_option("--futures", futures, "so many rehearsals of what may come, or as many as a second is enough for")
      .range(1, 10'000)
      .type_name("N")
      .capture_default_str();
}

// When it has started in so many hundredths of the futures.
std::string start_text(const Json& job, const char* share) {
  const Json by = job.value("started_by", Json::object());
  return has_number(by, share) ? time_text(number_of(by, share)) : "-";
}

std::string basis(const Json& answer) {
  const auto count = [&](const char* name) { return static_cast<std::int64_t>(number_of(answer, name)); };
  std::string text = fmt::format("{} rehearsed; run times as in {}, arrivals as in ",
                                 amount(count("futures"), "future"), amount(count("past_jobs"), "past job"));
  text += count("weeks") > 0 ? "the past " + amount(count("weeks"), "week") : std::string("the days that are known");
  if (count("past_jobs") == 0) text = amount(count("futures"), "future") + " rehearsed; no past jobs are known";
  if (count("learned_from") > 0)
    text += fmt::format("; read as {} taught that came true", amount(count("learned_from"), "forecast"));
  text += ".\n";
  if (flag_of(answer, "few_past_jobs"))
    text += "Warning: that is too little to draw futures from; what comes may well lie outside these times.\n";
  return text;
}

std::string sentence(const Json& job) {
  const std::string which = "Job " + text_of(job, "id");
  const Json by = job.value("started_by", Json::object());
  const auto at = [&](const char* share) { return time_text(number_of(by, share)); };
  if (!has_number(by, "50")) return which + " has not started within four weeks in more than half of what may come.";
  std::string text = fmt::format("{} starts by {} in half of what may come", which, at("50"));
  text += has_number(by, "90") ? fmt::format(", and by {} in nine tenths", at("90"))
                               : "; in more than a tenth it waits for weeks";
  if (has_number(by, "5")) text += fmt::format(". By {} it starts in one of twenty", at("5"));
  if (has_number(job, "promise")) text += ". It is promised a start at " + time_text(number_of(job, "promise"));
  return text + ".";
}

std::int64_t count(const Json& answer, const char* name) { return static_cast<std::int64_t>(number_of(answer, name)); }

// How many jobs wait and stand in no row.
std::string others(const Json& answer) {
  std::string text;
  if (const std::int64_t more = count(answer, "more"); more > 0)
    text += fmt::format("and {}, behind these\n", amount(more, "more job"));
  if (const std::int64_t left_out = count(answer, "left_out"); left_out > 0)
    text += fmt::format("Left out: {} held, or never to run; `rota queue` says which.\n", amount(left_out, "job"));
  return text;
}

Result<int> show_forecast(const ForecastFlags& flags) {
  const std::string path = "/v1/forecast" + (flags.job.empty() ? "" : "/" + percent_encoded(flags.job));
  const auto answer =
      Service(flags.service)
          .get(target_of(path, {{"futures", std::to_string(flags.futures)}, {"seed", std::to_string(flags.seed)}}));
  if (!answer) return std::unexpected(answer.error());
  if (flags.service.json) return printed(shown_json(*answer));
  const Json& jobs = list_of(*answer, "jobs");
  if (jobs.empty())
    return printed(others(*answer).empty() ? "No job waits.\n" : "No job waits for its turn.\n" + others(*answer));
  if (jobs.size() == 1 && !flags.job.empty())
    return printed(fmt::format("{}\n{}", one_line(sentence(jobs.front())), basis(*answer)));
  std::vector<std::vector<std::string>> rows;
  for (const Json& job : jobs) {
    rows.push_back({text_of(job, "id"), text_of(job, "user"), text_of(job, "name"),
                    std::to_string(static_cast<std::int64_t>(number_of(job, "processors"))), start_text(job, "5"),
                    start_text(job, "50"), start_text(job, "90")});
  }
  const std::string text =
      table({{"JOB"}, {"USER"}, {"NAME"}, {"CPUS", true}, {"5% CHANCE BY"}, {"50% CHANCE BY"}, {"90% CHANCE BY"}}, rows,
            !flags.no_header);
  return printed(flags.no_header ? text : fmt::format("{}{}\n{}", text, others(*answer), basis(*answer)));
}

std::string figure(const Json& look, const char* name, const char* share) {
  const Json figures = look.value(name, Json::object());
  return has_number(figures, share) ? std::to_string(static_cast<std::int64_t>(number_of(figures, share))) : "-";
}

// "3", or "2 to 5" where futures differ.
std::string span(const Json& look, const char* name) {
  const std::string low = figure(look, name, "5");
  const std::string high = figure(look, name, "95");
  return low == high ? low : fmt::format("{} to {}", low, high);
}

}  // namespace

void declare_node_forecast(Command command, NodeForecastFlags& flags) {
  command.add_flag("--forecast", flags.asked,
                   "what may come of the nodes: how many are on, how much is in use, by hour");
  command.add_option("--hours", flags.hours, "with --forecast: so far ahead")
      .range(1, 14 * 24)
      .type_name("N")
      .needs("--forecast")
      .capture_default_str();
  declare_futures(command, flags.futures);
}

Result<int> show_node_forecast(const ServiceFlags& service, const NodeForecastFlags& flags, bool header) {
  const auto answer = TRY(Service(service).get(target_of(
      "/v1/forecast/nodes", {{"futures", std::to_string(flags.futures)}, {"hours", std::to_string(flags.hours)}})));
  if (service.json) return printed(shown_json(answer));
  const Json& looks = list_of(answer, "looks");
  std::vector<Column> columns{{"AT"}, {"CPUS", true}, {"9 OF 10"}, {"WAITING", true}};
  std::vector<std::vector<std::string>> rows;
  for (const Json& look : looks) {
    rows.push_back({time_text(number_of(look, "at")), figure(look, "allocated", "50"), span(look, "allocated"),
                    figure(look, "waiting", "50")});
  }
  const auto add = [&](const char* head, const char* name) {
    if (looks.empty() || !looks.front().contains(name)) return;
    columns.push_back({head, true});
    columns.push_back({"9 OF 10"});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].push_back(figure(looks[i], name, "50"));
      rows[i].push_back(span(looks[i], name));
    }
  };
  add("NODES ON", "nodes_on");
  add("WATTS", "watts");
  const std::string text = table(columns, rows, header);
  return printed(header ? fmt::format("{}\n{}", text, basis(answer)) : text);
}

void add_forecast(Command app, Action& action) {
  auto flags = std::make_shared<ForecastFlags>();
  Command command = app.add_subcommand("forecast", "tell when jobs that wait will start, from many rehearsed futures");
  command.description(
      "Rehearses the present state many times under the policy that decides: run times are drawn "
      "from what users' past "
      "jobs took, arrivals from those of the past weeks.");
  command.add_option(
      "JOB", flags->job,
      "its id, as 12 or 14_3 (14: each task of the array), last, or what means some, as name=fit; without one, all "
      "jobs that wait");
  declare_futures(command, flags->futures);
  command.add_option("--seed", flags->seed, "of the futures: with the same, the same state gives the same answer")
      .range(std::int64_t{0}, std::int64_t{1} << 53)
      .type_name("N")
      .capture_default_str();
  command.add_flag("--noheader", flags->no_header,
                   "of a list, without the line that names the columns and the last one");
  flags->service.declare_json(command);
  command.require_subcommand(0);
  add_calibrate(command, action);
  command.footer(
      "How it is done, and how often it is right: docs/forecast.md.\n\nExamples:\n  rota forecast 12\n  rota forecast");
  command.callback([&action, flags, command] {
    if (!command.chosen()) action = [flags] { return show_forecast(*flags); };
  });
}

}  // namespace rota::cli

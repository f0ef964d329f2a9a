// rota nodes, partitions: what there is to run on.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/columns.h"
#include "cli/command.h"
#include "cli/live/forecast.h"
#include "cli/live/job_filter.h"
#include "cli/live/job_use.h"
#include "cli/live/service.h"
#include "cli/printed.h"
#include "cli/when.h"
#include "report/readable.h"

namespace rota::cli {
namespace {

struct NodesFlags {
  ServiceFlags service;
  std::vector<std::string> nodes;
  std::string partition;
  std::string state;
  std::string reason;
  bool no_header = false;
  bool power = false;
  NodeForecastFlags forecast;
};

constexpr std::array<std::string_view, 5> kActions{"drain", "resume", "down", "power-down", "power-up"};

std::string number(const Json& row, const char* name) {
  return has_number(row, name) ? std::to_string(static_cast<std::int64_t>(number_of(row, name))) : "-";
}

std::string memory(const Json& row, const char* name) {
  return has_number(row, name) ? memory_text(number_of(row, name)) : "-";
}

// "2/4 (12: 0,1)": so many of them are held, and which by which job.
std::string accelerators(const Json& node) {
  if (number_of(node, "accelerators") <= 0) return "-";
  const std::string held = accelerators_held(node);
  return fmt::format("{}/{}{}",
                     has_number(node, "accelerators_allocated") ? number(node, "accelerators_allocated") : "0",
                     number(node, "accelerators"), held.empty() ? "" : fmt::format(" ({})", held));
}

bool has_word(const Json& list, const std::string& word) {
  for (const Json& each : list) {
    if (each.is_string() && each.get<std::string>() == word) return true;
  }
  return false;
}

// For a word that names no node: perhaps a command was meant, or another node.
Result<void> known_node(const Json& nodes, const std::string& name, const NodesFlags& flags) {
  std::vector<std::string> all;
  for (const Json& node : nodes) all.push_back(text_of(node, "name"));
  if (std::ranges::find(all, name) != all.end()) return {};
  const std::string head = "there is no node " + rota::quoted(name);
  if (const std::string_view action = nearest(name, {kActions.begin(), kActions.end()});
      !action.empty() && name == flags.nodes.front())
    return fail("{}; did you mean `rota nodes {}`?", head, action);
  const std::string_view near = nearest(name, {all.begin(), all.end()});
  return fail(head + (near.empty() ? "; `rota nodes` lists all." : fmt::format("; did you mean {}?", near)));
}

// When a node is kept free, in few words; "-": it is not.
std::string reserved_text(const Json& node) {
  const auto reserved = node.find("reserved");
  if (reserved == node.end()) return "-";
  const bool begun = number_of(*reserved, "start") <= static_cast<double>(unix_now());
  return (begun ? "until " + time_text(number_of(*reserved, "end"))
                : "from " + time_text(number_of(*reserved, "start")));
}

// Those of the nodes that the flags ask for.
Result<Json> chosen(const Json& nodes, const NodesFlags& flags) {
  std::vector<std::string> names;
  if (!flags.nodes.empty()) {
    names = TRY(parse_host_list(joined(flags.nodes)));
  }
  for (const std::string& name : names) {
    TRY(known_node(nodes, name, flags));
  }
  Json out = Json::array();
  for (const Json& node : nodes) {
    const bool named = names.empty() || std::ranges::find(names, text_of(node, "name")) != names.end();
    const bool inside = flags.partition.empty() || has_word(list_of(node, "partitions"), flags.partition);
    if (named && inside && (flags.state.empty() || text_of(node, "state") == flags.state)) out.push_back(node);
  }
  return out;
}

// What the power rule saw when it looked last.
Result<int> list_loads(const NodesFlags& flags) {
  const Service service(flags.service);
  const auto answer = TRY(service.get("/v1/nodes"));
  const auto found = answer.find("power_rule");
  const Json rule = found == answer.end() ? Json::object() : *found;
  if (flags.service.json) return printed(shown_json(rule));
  if (rule.empty()) {
    remark(
        "rota: no load is known: only a policy with power=load-factor reckons one, at its first look; "
        "`rota status` prints the policy.");
    return kDone;
  }
  std::vector<std::vector<std::string>> rows;
  for (const Json& load : list_of(rule, "loads")) {
    const auto work = [&](const char* name) { return report::readable_number(number_of(load, name) / 3600, 1); };
    const std::string partition = text_of(load, "partition");
    rows.push_back({partition.empty() ? "all" : partition, number(load, "nodes"), number(load, "on"),
                    number(load, "busy"), number(load, "fragments"), work("least_work"), work("most_work"),
                    has_number(load, "load") ? report::readable_number(number_of(load, "load"), 2) : "-",
                    time_text(number_of(rule, "looked"))});
  }
  return printed(table({{"PARTITION"},
                        {"NODES", true},
                        {"ON", true},
                        {"BUSY", true},
                        {"FRAGMENTS", true},
                        {"LEAST_H", true},
                        {"MOST_H", true},
                        {"LOAD", true},
                        {"LOOKED"}},
                       rows, !flags.no_header));
}

Result<int> list_nodes(const NodesFlags& flags) {
  if (flags.power) return list_loads(flags);
  if (flags.forecast.asked) return show_node_forecast(flags.service, flags.forecast, !flags.no_header);
  const Service service(flags.service);
  const auto answer = TRY(service.get("/v1/nodes"));
  const auto nodes = TRY(chosen(list_of(answer, "nodes"), flags));
  const bool words = !nodes.empty() || tell_unknown(service, {{"user", ""}, {"partition", flags.partition}});
  if (const auto all = static_cast<std::int64_t>(list_of(answer, "nodes").size()); nodes.empty() && words && all > 0)
    remark("rota: no node meets the filter; without it there " +
           std::string(all == 1 ? "is 1." : fmt::format("are {}.", grouped(all))));
  const int code = words ? kDone : kFailed;
  if (flags.service.json) return printed(shown_json(Json{{"nodes", nodes}}), code);
  std::vector<Column> heads{{"NODE"},         {"STATE"},        {"ALLOC", true}, {"CPUS", true}, {"MEM_ALLOC", true},
                            {"MEMORY", true}, {"ACCELERATORS"}, {"PARTITIONS"},  {"POWER"},      {"RESERVED"},
                            {"JOBS"},         {"REASON"}};
  const bool featured = std::ranges::any_of(nodes, [](const Json& node) { return node.contains("features"); });
  if (featured) heads.push_back({"FEATURES"});
  std::vector<std::vector<std::string>> rows;
  for (const Json& node : nodes) {
    const auto text = [&](const char* name) { return text_of(node, name).empty() ? "-" : text_of(node, name); };
    const std::string by = text_of(node, "by");
    rows.push_back({text("name"), text("state"), number(node, "allocated"), number(node, "processors"),
                    memory(node, "memory_allocated"), memory(node, "memory"), accelerators(node),
                    words_of(node, "partitions"), text("power"), reserved_text(node), words_of(node, "jobs"),
                    text("reason") + (by.empty() ? "" : fmt::format(" (by {})", by))});
    if (featured) rows.back().push_back(words_of(node, "features"));
  }
  return printed(table(heads, rows, !flags.no_header), code);
}

Result<int> change_nodes(const NodesFlags& flags, const std::string& action) {
  Json body{{"nodes", joined(flags.nodes)}};
  if (!flags.reason.empty()) body["reason"] = flags.reason;
  const auto answer = TRY(Service(flags.service).post("/v1/nodes/" + action, body));
  if (flags.service.json) return printed(shown_json(answer));
  if (const std::string already = text_of(answer, "already"); !already.empty())
    remark(fmt::format("rota: {}{} already, or on its way.", one_line(already),
                       action == "power-up" ? " is on" : " sleeps"));
  if (const std::string again = words_of(answer, "requeued"); !again.empty())
    remark(fmt::format("rota: What ran there starts over: {}.", again));
  if (const std::string ended = words_of(answer, "ended"); !ended.empty())
    remark(fmt::format("rota: What ran there and may not start over is ended: {}.", ended));
  return kDone;
}

Result<int> list_partitions(const NodesFlags& flags) {
  const auto answer = TRY(Service(flags.service).get("/v1/partitions"));
  if (flags.service.json) return printed(shown_json(answer));
  const auto time = [](const Json& row, const char* name) {
    return has_number(row, name) ? limit_text(number_of(row, name)) : std::string("-");
  };
  std::vector<std::vector<std::string>> rows;
  for (const Json& row : list_of(answer, "partitions")) {
    rows.push_back({text_of(row, "name") + (flag_of(row, "default") ? "*" : ""), number(row, "processors"),
                    time(row, "max_time"), time(row, "default_time"), number(row, "waiting"), number(row, "running"),
                    text_of(row, "nodes")});
  }
  return printed(table({{"PARTITION"},
                        {"CPUS", true},
                        {"TIMELIMIT", true},
                        {"DEFAULTTIME", true},
                        {"WAITING", true},
                        {"RUNNING", true},
                        {"NODELIST"}},
                       rows, !flags.no_header));
}

using SharedFlags = std::shared_ptr<NodesFlags>;

void add_change(Command nodes, Action& action, const SharedFlags& flags, const char* name, const char* summary) {
  Command command = nodes.add_subcommand(name, summary);
  command.add_option("NODES", flags->nodes, "nodes, as n[1-3],n7; all").required();
  const std::string verb = name;
  const bool reasoned = verb == "drain" || verb == "down";
  if (reasoned) {
    const std::string why =
        "the reason, which is shown with the node" + std::string(verb == "drain" ? "; must be given" : "");
    Option reason = command.add_option("--reason", flags->reason, why).type_name("TEXT");
    if (verb == "drain") reason.required();
  }
  flags->service.declare_json(command);
  command.footer(fmt::format("For operators only.\n\nExamples:\n  rota nodes {} n[1-3]{}", verb,
                             reasoned ? " --reason 'new memory'" : ""));
  command.callback([&action, flags, verb] { action = [flags, verb] { return change_nodes(*flags, verb); }; });
}

}  // namespace

void add_nodes(Command app, Action& action) {
  auto flags = std::make_shared<NodesFlags>();
  Command command = app.add_subcommand("nodes", "list the nodes, or take them out of use and back");
  command.add_option("NODES", flags->nodes, "only these nodes, as n[1-3]");
  command.add_option("-p,--partition", flags->partition, "only those of this partition").type_name("NAME");
  command.add_option("-t,--state", flags->state, "only those in this state")
      .one_of({"idle", "mixed", "allocated", "reserved", "draining", "drained", "down", "sleeping", "booting"});
  command.add_flag("--noheader", flags->no_header, "without the line that names the columns");
  command.add_flag("--power", flags->power, "the load of each partition, as the power rule saw it when it looked last");
  declare_node_forecast(command, flags->forecast);
  flags->service.declare_json(command);
  command.require_subcommand(0);
  add_change(command, action, flags, "drain", "let nodes take no more jobs; those that run go on");
  add_change(command, action, flags, "resume", "let nodes take jobs again");
  add_change(command, action, flags, "down", "take nodes for lost, with what runs on them");
  add_change(command, action, flags, "power-down", "put idle nodes to sleep");
  add_change(command, action, flags, "power-up", "wake nodes that sleep");
  command.footer(
      "ACCELERATORS: how many of them are held, of all; in brackets which, by job.\n"
      "With --power: LEAST_H and MOST_H are node-hours that the jobs of a partition, waiting and running, may use; "
      "LOAD\n"
      "is the most of what its nodes can do; FRAGMENTS are idle nodes that are too few for any job that waits.\n\n"
      "Examples:\n  rota nodes\n  rota nodes -p batch -t idle\n  rota nodes --forecast --hours 12\n  rota nodes "
      "--power");
  command.callback([&action, flags, command] {
    if (!command.chosen()) action = [flags] { return list_nodes(*flags); };
  });
}

void add_partitions(Command app, Action& action) {
  auto flags = std::make_shared<NodesFlags>();
  Command command = app.add_subcommand("partitions", "list the partitions");
  command.add_flag("--noheader", flags->no_header, "without the line that names the columns");
  flags->service.declare_json(command);
  command.footer("The default partition has a star.\n\nExamples:\n  rota partitions");
  command.callback([&action, flags] { action = [flags] { return list_partitions(*flags); }; });
}

}  // namespace rota::cli

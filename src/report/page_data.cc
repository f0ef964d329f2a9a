#include "report/page_data.h"

#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>

#include "report/columns.h"
#include "report/html_text.h"
#include "report/parties.h"
#include "report/series.h"
#include "report/verdict.h"

namespace rota::report {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kSlices = 1200;  // of time, in the charts of load

// What all policies of a comparison are drawn over.
struct Frame {
  Span span;
  TimeScale scale;
  std::vector<double> marks;
  std::vector<SizeClass> classes;
};

Frame frame_of(const Comparison& comparison) {
  Frame frame{{kNever, kEpoch}, {}, {}, size_classes(comparison.outcomes.front().processors)};
  double longest = 0;
  frame.scale.unit = 1000;
  for (std::size_t i = 0; i < comparison.outcomes.size(); ++i) {
    const Span span = span_of(comparison.outcomes[i]);
    if (span.to > span.from) frame.span = {std::min(frame.span.from, span.from), std::max(frame.span.to, span.to)};
    longest = std::max(longest, comparison.summaries[i].wait_max.value_or(0));
    frame.scale.unit = std::min(frame.scale.unit, time_unit(comparison.outcomes[i].jobs));
  }
  if (frame.span.to < frame.span.from) frame.span = {};  // no job ran at all
  frame.scale.base = frame.span.from;
  if (frame.scale.base.time_since_epoch().count() % 1000 != 0) frame.scale.unit = 1;
  frame.marks = wait_marks(Duration{std::llround(longest * 1000)});
  return frame;
}

// Four digits are enough for a chart and keep the page small.
double rounded(double number) {
  if (number == 0 || !std::isfinite(number)) return 0;
  const double scale = std::pow(10.0, 4 - std::ceil(std::log10(std::abs(number))));
  return std::round(number * scale) / scale;
}

Json rounded_all(const std::vector<double>& numbers) {
  Json array = Json::array();
  for (const double number : numbers) array.push_back(rounded(number));
  return array;
}

Json sizes(const Outcome& outcome, const Frame& frame) {
  Json array = Json::array();
  for (const ClassFigures& figures : by_size(outcome, frame.classes))
    array.push_back(
        {{"jobs", figures.jobs}, {"slowdown", rounded(figures.bounded_slowdown)}, {"wait", rounded(figures.wait)}});
  return array;
}

// Means over each bin: nodes, and kilowatts.
Json node_data(const NodeStates& states, const Summary& summary, const Frame& frame) {
  Json uses = Json::array();
  for (std::size_t use = 0; use < NodeStates::kUses; ++use) uses.push_back(Json::array());
  Json draw = Json::array();
  Duration left = states.length;
  for (const NodeStates::Bin& bin : states.bins) {
    const auto time = static_cast<double>(std::min(left, states.width).count());
    for (std::size_t use = 0; use < NodeStates::kUses; ++use)
      uses[use].push_back(rounded(static_cast<double>(bin.time[use]) / time));
    draw.push_back(rounded(static_cast<double>(bin.energy) / time * 1e-6));
    left -= states.width;
  }
  const bool watts = summary.power->energy >= 0;
  return {{"from", to_seconds(states.from - frame.span.from)},
          {"length", to_seconds(states.length)},
          {"width", to_seconds(states.width)},
          {"nodes", summary.power->nodes},
          {"uses", std::move(uses)},
          {"draw", watts ? std::move(draw) : Json(nullptr)},
          {"energy", watts ? Json(PowerUse::kilowatt_hours(summary.power->energy)) : Json(nullptr)}};
}

// What a power rule saw: the load of each partition, and node-hours in its queue, at least and at most. Where many
// looks fall on one place of the picture, the one with the highest load is drawn.
Json load_data(const Outcome& outcome, const Frame& frame) {
  if (outcome.loads.empty()) return nullptr;
  const std::size_t each = (outcome.loads.size() + kSlices - 1) / kSlices;
  Json rows = Json::array();
  for (std::size_t p = 0; p < outcome.loads.front().loads.size(); ++p) {
    const PartitionId partition = outcome.loads.front().loads[p].partition;
    Json at = Json::array(), load = Json::array(), least = Json::array(), most = Json::array();
    for (std::size_t first = 0; first < outcome.loads.size(); first += each) {
      const auto looks = std::span(outcome.loads).subspan(first, std::min(each, outcome.loads.size() - first));
      const LoadLook& look = *std::ranges::max_element(looks, {}, [&](const LoadLook& l) { return l.loads[p].load; });
      at.push_back(to_seconds(look.at - frame.span.from));
      load.push_back(rounded(look.loads[p].load));
      least.push_back(rounded(static_cast<double>(look.loads[p].least_work) / 3.6e6));
      most.push_back(rounded(static_cast<double>(look.loads[p].most_work) / 3.6e6));
    }
    rows.push_back(
        {{"partition", partition.valid() && outcome.machine ? outcome.machine->partitions[partition.value].name : ""},
         {"at", std::move(at)},
         {"load", std::move(load)},
         {"least", std::move(least)},
         {"most", std::move(most)}});
  }
  return rows;
}

Json known(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json party_data(const Comparison& comparison) {
  Json all = Json::array();
  for (const Parties& parties : parties_of(comparison.outcomes)) {
    Json names = Json::array();
    Json figures = Json::array();
    for (const Party& party : parties.parties) {
      names.push_back(party.name);
      Json row = Json::array();
      for (const PartyFigures& one : party.figures)
        row.push_back({{"jobs", one.jobs},
                       {"mean", known(one.wait_mean)},
                       {"median", known(one.wait_median)},
                       {"p95", known(one.wait_p95)},
                       {"max", known(one.wait_max)},
                       {"slowdown", known(one.bounded_slowdown)}});
      figures.push_back(std::move(row));
    }
    all.push_back({{"kind", parties.kind}, {"all", parties.all}, {"names", names}, {"figures", figures}});
  }
  return all;
}

// Name and processors of each node, where jobs ran on nodes that have names.
Json node_names(const Comparison& comparison) {
  Json nodes = Json::array();
  const auto& machine = comparison.outcomes.back().machine;
  if (!machine) return nodes;
  for (const Node& node : machine->nodes) nodes.push_back({node.name, node.processors});
  return nodes;
}

// Names of the users whose jobs are drawn, by number.
Json user_names(const Comparison& comparison) {
  Json names = Json::object();
  const Outcome& first = comparison.outcomes.front();
  if (!first.labels || comparison.drawn == 0) return names;
  for (const Job& job : first.jobs) {
    if (const auto named = first.labels->users.find(job.spec.user); named != first.labels->users.end())
      names[std::to_string(named->first)] = named->second;
  }
  return names;
}

Json policy_data(const Outcome& outcome, const Summary& summary, const Frame& frame) {
  const Load load = load_over(outcome, frame.span, kSlices);
  const NodeStates states = sum_of(outcome.node_states);
  return {{"name", outcome.name()},
          {"states", states.bins.empty() || !summary.power ? Json(nullptr) : node_data(states, summary, frame)},
          {"loads", load_data(outcome, frame)},
          {"busy", rounded_all(load.busy)},
          {"waiting", rounded_all(load.waiting)},
          {"shares", rounded_all(wait_shares(outcome, frame.marks))},
          {"sizes", sizes(outcome, frame)},
          {"recorded", outcome.recorded},
          {"waitMax", known(summary.wait_max)},
          {"waitP95", known(summary.wait_p95)},
          {"energy", known(summary.power ? summary.power->used() : std::nullopt)},
          {"cost", known(summary.power ? summary.power->cost : std::nullopt)},
          {"utilization", summary.utilization.value_or(0)},
          {"meanWait", summary.wait_mean.value_or(0)},
          {"meanSlowdown", summary.bounded_slowdown.value_or(0)},
          {"makespan", to_seconds(summary.makespan)}};
}

// What ran at one of several sites, so that it can be drawn like a cluster.
Outcome at_site(const Outcome& outcome, std::uint32_t site) {
  Outcome part;
  part.policy = outcome.name();
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    if (outcome.site_of[i] != SiteId{site}) continue;
    part.jobs.push_back(outcome.jobs[i]);
    part.starts.push_back(i < outcome.starts.size() ? outcome.starts[i] : StartNote{});
  }
  if (site < outcome.node_states.size()) part.node_states.push_back(outcome.node_states[site]);
  return part;
}

bool tells_sites_of_jobs(const Comparison& comparison, std::size_t i) {
  const Outcome& outcome = comparison.outcomes[i];
  return !outcome.sites.empty() && comparison.summaries[i].sites.size() == outcome.sites.size() &&
         outcome.site_of.size() == outcome.jobs.size();
}

// Logs do not tell where jobs really ran: such a row keeps its place, and nothing of it is drawn.
Json unplaced(const Outcome& outcome, const Frame& frame) {
  Outcome nothing;
  nothing.policy = outcome.name();
  nothing.recorded = outcome.recorded;
  Json data = policy_data(nothing, Summary{}, frame);
  data["unplaced"] = true;
  return data;
}

// For each site, what there is for the whole.
Json site_data(const Comparison& comparison, const Frame& frame) {
  Json sites = Json::array();
  if (!draws_sites(comparison)) return sites;
  std::size_t first = 0;
  while (!tells_sites_of_jobs(comparison, first)) ++first;
  const std::vector<std::string>& names = comparison.outcomes[first].sites;
  for (std::uint32_t s = 0; s < names.size(); ++s) {
    Json policies = Json::array();
    for (std::size_t i = 0; i < comparison.outcomes.size(); ++i) {
      const Outcome& outcome = comparison.outcomes[i];
      policies.push_back(tells_sites_of_jobs(comparison, i)
                             ? policy_data(at_site(outcome, s), comparison.summaries[i].sites[s], frame)
                             : unplaced(outcome, frame));
    }
    sites.push_back({{"name", names[s]},
                     {"processors", comparison.summaries[first].sites[s].processors},
                     {"policies", std::move(policies)}});
  }
  return sites;
}

void write_element(std::ostream& out, const std::string& id, const ColumnWriter& columns) {
  out << R"(<script type="text/plain" id=")" << id << R"(">)";
  write_base64(out, columns.bytes());
  out << "</script>\n";
}

}  // namespace

bool draws_loads(const Comparison& comparison) {
  return std::ranges::any_of(comparison.outcomes, [](const Outcome& outcome) { return !outcome.loads.empty(); });
}

bool draws_nodes(const Comparison& comparison) {
  return std::ranges::any_of(comparison.outcomes, [](const Outcome& outcome) { return !outcome.node_states.empty(); });
}

bool draws_sites(const Comparison& comparison) {
  bool told = false;
  for (std::size_t i = 0; i < comparison.outcomes.size(); ++i) {
    const bool tells = tells_sites_of_jobs(comparison, i);
    told |= tells;
    if (!tells && !comparison.outcomes[i].recorded) return false;
  }
  return told;
}

std::string chart_data(const Comparison& comparison) {
  const Frame frame = frame_of(comparison);
  const Outcome& first = comparison.outcomes.front();
  Json classes = Json::array();
  for (const SizeClass& size_class : frame.classes) classes.push_back(size_class.label());
  Json policies = Json::array();
  for (std::size_t i = 0; i < comparison.outcomes.size(); ++i)
    policies.push_back(policy_data(comparison.outcomes[i], comparison.summaries[i], frame));
  const std::vector<std::size_t> chosen = choose(comparison.summaries).chosen;
  const Json json{{"name", first.workload},
                  {"processors", first.processors},
                  {"jobs", first.jobs.size()},
                  {"unixStart", first.unix_start},
                  {"from", to_seconds(frame.span.from.time_since_epoch())},
                  {"to", to_seconds(frame.span.to.time_since_epoch())},
                  {"unit", static_cast<double>(frame.scale.unit) / 1000},
                  {"marks", rounded_all(frame.marks)},
                  {"classes", std::move(classes)},
                  {"policies", std::move(policies)},
                  {"sites", site_data(comparison, frame)},
                  {"parties", party_data(comparison)},
                  {"nodes", node_names(comparison)},
                  {"users", user_names(comparison)},
                  {"chosen", chosen.empty() ? Json(-1) : Json(chosen.front())},
                  {"drawn", comparison.drawn}};
  return script_json(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void write_job_data(std::ostream& out, const Comparison& comparison, std::size_t index) {
  if (comparison.drawn == 0) return;
  const TimeScale scale = frame_of(comparison).scale;
  const std::vector<Job>& shared = comparison.outcomes.front().jobs;
  const std::string id = "jobs-" + std::to_string(index);
  write_element(out, id, shared_columns(shared, scale));
  for (std::size_t i = 0; i < comparison.drawn; ++i) {
    write_element(out, fmt::format("{}-{}", id, i), outcome_columns(comparison.outcomes[i].jobs, shared, scale));
    const std::vector<StartNote>& starts = comparison.outcomes[i].starts;
    if (starts.empty()) continue;
    const std::string which = fmt::format("{}-{}", index, i);
    const std::vector<std::string> lacked = lacked_by(starts);
    write_element(out, "starts-" + which, start_columns(starts, lacked, shared.size()));
    out << R"(<script type="application/json" id="lacked-)" << which << R"(">)"
        << script_json(Json(lacked).dump(-1, ' ', false, Json::error_handler_t::replace)) << "</script>\n";
  }
}

}  // namespace rota::report

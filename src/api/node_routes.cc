// /v1/nodes, /v1/partitions, /v1/licences, /v1/sites
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "api/job_json.h"
#include "api/routes.h"
#include "api/submission_json.h"
#include "base/text.h"
#include "serve/federation_desk.h"
#include "serve/node_list.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;
using serve::Answers;
using serve::NodeShown;

const char* state_of(const NodeShown& node, Instant now) {
  const bool busy = node.free < node.node.processors;
  if (node.health == Health::down) return "down";
  if (node.health == Health::draining) return busy ? "draining" : "drained";
  switch (node.power) {
    case PowerState::booting:
      return "booting";
    case PowerState::shutting_down:
    case PowerState::off:
      return "sleeping";
    case PowerState::on:
      break;
  }
  if (node.free == node.node.processors) return node.reserved && node.reserved->holds_at(now) ? "reserved" : "idle";
  return node.free > 0 ? "mixed" : "allocated";
}

const char* health_word(Health health) {
  return health == Health::up ? "up" : health == Health::draining ? "draining" : "down";
}

const char* power_word(PowerState state) {
  switch (state) {
    case PowerState::on:
      return "on";
    case PowerState::booting:
      return "booting";
    case PowerState::shutting_down:
      return "shutting_down";
    case PowerState::off:
      break;
  }
  return "off";
}

Json node_json(const Answers& answers, const NodeShown& shown, Instant now) {
  const Node& node = shown.node;
  Json jobs = Json::array();
  for (const JobId id : shown.jobs) jobs.push_back(answers.jobs().shown(id));
  Json json{{"name", node.name},
            {"state", state_of(shown, now)},
            {"processors", node.processors},
            {"allocated", node.processors - shown.free},  // more than there are: overdrawn
            {"health", health_word(shown.health)},
            {"power", power_word(shown.power)},
            {"jobs", std::move(jobs)}};
  if (shown.left_asleep) json["left_asleep"] = true;
  if (shown.reserved != nullptr) {
    json["reserved"] = {{"id", shown.reserved->id.value},
                        {"start", unix_seconds(answers, shown.reserved->from)},
                        {"end", unix_seconds(answers, shown.reserved->until)}};
  }
  if (node.memory > 0) {
    json["memory"] = node.memory;
    json["memory_allocated"] = std::max<std::int64_t>(0, node.memory - shown.free_beside.memory);
  }
  if (node.accelerators > 0) {
    Json held = Json::object();
    for (const auto& [id, numbers] : shown.accelerators) held[answers.jobs().shown(id)] = numbers;
    json["accelerators"] = node.accelerators;
    json["accelerator_type"] = answers.machine().accelerator_types[node.accelerator_type.value];
    json["accelerators_allocated"] = std::int64_t{node.accelerators} - shown.free_beside.accelerators;
    json["accelerators_held"] = std::move(held);
  }
  Json partitions = Json::array();
  for (const PartitionId p : node.partitions) partitions.push_back(answers.machine().partitions[p.value].name);
  json["partitions"] = std::move(partitions);
  const std::vector<std::string>& features = answers.machine().features;
  for (std::size_t f = 0; f < features.size(); ++f)
    if ((node.features >> f & 1U) != 0) json["features"].push_back(features[f]);
  if (!shown.reason.empty()) json["reason"] = shown.reason;
  if (!shown.by.empty()) json["by"] = shown.by;
  return json;
}

// Where processors are only counted, the machine is one node.
Json counted_json(const Machine& machine, const serve::ServiceStatus& status) {
  const std::int64_t processors = machine.processors;
  const std::int64_t free = std::clamp<std::int64_t>(status.free, 0, processors);
  return {{"name", machine.name},     {"state", free == processors ? "idle" : free > 0 ? "mixed" : "allocated"},
          {"processors", processors}, {"allocated", processors - free},
          {"health", "up"},           {"power", "on"},
          {"jobs", Json::array()},    {"partitions", Json::array()}};
}

// What the power rule saw when it looked last.
Json loads_json(const Answers& answers, const serve::ServiceStatus& status) {
  Json rows = Json::array();
  for (const LoadReading& reading : status.loads) {
    Json row{{"nodes", reading.nodes},
             {"on", reading.on},
             {"busy", reading.busy},
             {"least_work", static_cast<double>(reading.least_work) / 1000},
             {"most_work", static_cast<double>(reading.most_work) / 1000},
             {"fragments", reading.fragments}};
    if (reading.partition.valid()) row["partition"] = answers.machine().partitions[reading.partition.value].name;
    if (std::isfinite(reading.load)) row["load"] = reading.load;
    rows.push_back(std::move(row));
  }
  return {{"looked", unix_seconds(answers, status.loads_at)}, {"loads", std::move(rows)}};
}

Json nodes_json(const Answers& answers) {
  const serve::ServiceStatus status = answers.status();
  Json nodes = Json::array();
  if (answers.machine().nodes.empty()) nodes.push_back(counted_json(answers.machine(), status));
  for (const NodeShown& node : answers.nodes()) nodes.push_back(node_json(answers, node, status.latest));
  Json json{{"nodes", std::move(nodes)}};
  if (!status.loads.empty()) json["power_rule"] = loads_json(answers, status);
  return json;
}

Json partitions_json(const Answers& answers) {
  const Machine& machine = answers.machine();
  const std::vector<serve::PartitionUse> uses = answers.partitions();
  Json rows = Json::array();
  for (std::uint32_t p = 0; p < machine.partitions.size(); ++p) {
    const Partition& partition = machine.partitions[p];
    std::vector<std::string> nodes;
    for (const NodeId node : partition.nodes) nodes.push_back(machine.nodes[node.value].name);
    Json row{{"name", partition.name},
             {"default", machine.default_partition == PartitionId{p}},
             {"processors", partition.processors},
             {"nodes", format_host_list(nodes)},
             {"waiting", uses[p].waiting},
             {"running", uses[p].running}};
    if (partition.max_time < kLongest) row["max_time"] = to_seconds(partition.max_time);
    if (partition.default_time < kLongest) row["default_time"] = to_seconds(partition.default_time);
    rows.push_back(std::move(row));
  }
  return {{"partitions", std::move(rows)}};
}

Json licences_json(const Answers& answers) {
  Json rows = Json::array();
  for (const serve::LicenceUseShown& use : answers.licences()) {
    rows.push_back(
        {{"name", use.licence.name}, {"count", use.licence.count}, {"used", use.used()}, {"elsewhere", use.elsewhere}});
  }
  Json json{{"licences", std::move(rows)}};
  if (const serve::LicenceWatch* watch = answers.status().licence_watch; watch && watch->failures() > 0) {
    json["failures"] = watch->failures();
    json["failure"] = watch->failure();
  }
  return json;
}

Json sites_json(const serve::FederationDesk* federation) {
  Json rows = Json::array();
  if (federation == nullptr) return {{"sites", std::move(rows)}};
  for (const serve::SiteShown& site : federation->all_sites()) {
    Json row{{"name", site.name}, {"alive", site.alive}, {"offered", site.offered}, {"jobs", site.taken}};
    if (site.self) row["self"] = true;
    if (site.card) {
      row["processors"] = site.card->processors;
      row["used"] = site.card->used;
      row["asked"] = site.card->asked;
      row["partitions"] = site.card->partitions;
      row["bandwidth"] = site.card->bandwidth;
    }
    rows.push_back(std::move(row));
  }
  Json json{{"name", federation->name()}, {"sites", std::move(rows)}};
  if (!federation->trouble().empty()) json["trouble"] = federation->trouble();
  return json;
}

void switch_nodes(const Ask& ask, const std::string& nodes) {
  const auto switched = ask.service.nodes().set_power(nodes, ask.path[2] == "power-up");
  if (!switched) return ask.reply->send(problem(400, switched.error().message));
  Json json{{"ordered", serve::node_list(ask.answers().machine(), switched->ordered)}};
  if (!switched->already.empty()) json["already"] = serve::node_list(ask.answers().machine(), switched->already);
  when_durable(ask, {200, "application/json", dumped(json), {}});
}

void send(const Ask& ask, const Json& json) { ask.reply->send({200, "application/json", dumped(json), {}}); }

}  // namespace

void change_nodes(const Ask& ask) {
  if (!ask.request.caller.operates) return ask.reply->send(problem(403, "only an operator may do that to nodes."));
  const std::map<std::string_view, Health> actions{
      {"drain", Health::draining}, {"resume", Health::up}, {"down", Health::down}};
  const auto action = actions.find(ask.path[2]);
  const auto texts = read_texts(ask.request.body, {"nodes", "reason"});
  if (!texts) return ask.reply->send(problem(400, texts.error().message));
  if (!texts->contains("nodes")) return ask.reply->send(problem(400, "say which nodes are meant: `nodes` is missing."));
  const std::string reason = texts->contains("reason") ? texts->at("reason") : std::string();
  const std::string& nodes = texts->at("nodes");
  if (action == actions.end()) return switch_nodes(ask, nodes);
  const auto emptied = ask.service.nodes().set_health(nodes, {action->second, reason, ask.request.caller.user});
  if (!emptied) return ask.reply->send(problem(400, emptied.error().message));
  Json json = Json::object();
  for (const auto& [name, jobs] : {std::pair{"requeued", &emptied->again}, std::pair{"ended", &emptied->ended}}) {
    for (const JobId job : *jobs) json[name].push_back(ask.answers().jobs().shown(job));
  }
  when_durable(ask, {200, "application/json", dumped(json), {}});
}

void answer_nodes(const Ask& ask) { send(ask, nodes_json(ask.answers())); }
void answer_partitions(const Ask& ask) { send(ask, partitions_json(ask.answers())); }
void answer_licences(const Ask& ask) { send(ask, licences_json(ask.answers())); }

void answer_sites(const Ask& ask) { send(ask, sites_json(ask.service.federation())); }

}  // namespace rota::api

// /v1/nodes, /v1/partitions, /v1/licences
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "api/job_json.h"
#include "api/routes.h"
#include "api/submission_json.h"
#include "base/text.h"
#include "serve/node_list.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;
using serve::Service;

// The reservation that each node is or will next be kept free for.
std::map<NodeId, const Reservation*> reserved_by_node(const View& view) {
  std::map<NodeId, const Reservation*> next;
  for (const Reservation& each : view.reservations().all()) {
    for (const NodeId node : each.nodes) {
      const Reservation*& first = next[node];
      if (first == nullptr || each.from < first->from) first = &each;
    }
  }
  return next;
}

const char* state_of(const View& view, NodeId node, std::int64_t allocated, const Reservation* reserved) {
  const Health health = view.power().health(node);
  if (health == Health::down) return "down";
  if (health == Health::draining) return allocated > 0 ? "draining" : "drained";
  switch (view.power().state(node)) {
    case PowerState::booting:
      return "booting";
    case PowerState::shutting_down:
    case PowerState::off:
      return "sleeping";
    case PowerState::on:
      break;
  }
  if (allocated == 0) return reserved != nullptr && reserved->holds_at(view.now()) ? "reserved" : "idle";
  return view.nodes().free_on(node) > 0 ? "mixed" : "allocated";
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

// The jobs on a node, and which of its accelerators each holds.
struct JobsThere {
  Json jobs = Json::array();
  Json accelerators = Json::object();
};
std::map<NodeId, JobsThere> jobs_by_node(const Service& service) {
  std::map<NodeId, JobsThere> jobs;
  if (service.machine().nodes.empty()) return jobs;
  std::vector<JobId> running;
  service.view().running().for_each([&](const RunningEntry& entry) {
    running.push_back(entry.job);
    return true;
  });
  std::ranges::sort(running);
  for (const JobId id : running) {
    for (const Share& share : service.view().placement(id).shares)
      jobs[share.node].jobs.push_back(service.book().shown(id));
    if (service.view().job(id).spec.accelerators == 0) continue;
    for (const auto& [node, numbers] : service.accelerators_of(id))
      jobs[node].accelerators[service.book().shown(id)] = numbers;
  }
  return jobs;
}

Json node_json(const Service& service, NodeId id, JobsThere there, const Reservation* reserved) {
  const Node& node = service.machine().nodes[id.value];
  const View& view = service.view();
  const std::int64_t allocated = node.processors - view.nodes().free_on(id);  // more than there are: overdrawn
  const PerNode& free = view.nodes().per_node_on(id);
  Json json{{"name", node.name},
            {"state", state_of(view, id, allocated, reserved)},
            {"processors", node.processors},
            {"allocated", allocated},
            {"health", health_word(view.power().health(id))},
            {"power", power_word(view.power().state(id))},
            {"jobs", std::move(there.jobs)}};
  if (service.left_asleep(id)) json["left_asleep"] = true;
  if (reserved != nullptr) {
    json["reserved"] = {{"id", reserved->id.value},
                        {"start", unix_seconds(service, reserved->from)},
                        {"end", unix_seconds(service, reserved->until)}};
  }
  if (node.memory > 0) {
    json["memory"] = node.memory;
    json["memory_allocated"] = std::max<std::int64_t>(0, node.memory - free.memory);
  }
  if (node.accelerators > 0) {
    json["accelerators"] = node.accelerators;
    json["accelerator_type"] = service.machine().accelerator_types[node.accelerator_type.value];
    json["accelerators_allocated"] = std::int64_t{node.accelerators} - free.accelerators;
    json["accelerators_held"] = std::move(there.accelerators);
  }
  Json partitions = Json::array();
  for (const PartitionId p : node.partitions) partitions.push_back(service.machine().partitions[p.value].name);
  json["partitions"] = std::move(partitions);
  if (const std::string reason = service.node_reason(id); !reason.empty()) json["reason"] = reason;
  if (const std::string by = service.node_by(id); !by.empty()) json["by"] = by;
  return json;
}

// Where processors are only counted, the machine is one node.
Json counted_json(const Service& service) {
  const std::int64_t processors = service.machine().processors;
  const std::int64_t free = std::clamp<std::int64_t>(service.view().free(), 0, processors);
  return {{"name", service.machine().name},
          {"state", free == processors ? "idle"
                    : free > 0         ? "mixed"
                                       : "allocated"},
          {"processors", processors},
          {"allocated", processors - free},
          {"health", "up"},
          {"power", "on"},
          {"jobs", Json::array()},
          {"partitions", Json::array()}};
}

// What the power rule saw when it looked last.
Json loads_json(const Service& service) {
  const NodePower& power = service.view().power();
  Json rows = Json::array();
  for (const LoadReading& reading : power.loads()) {
    Json row{{"nodes", reading.nodes},
             {"on", reading.on},
             {"busy", reading.busy},
             {"least_work", static_cast<double>(reading.least_work) / 1000},
             {"most_work", static_cast<double>(reading.most_work) / 1000},
             {"fragments", reading.fragments}};
    if (reading.partition.valid()) row["partition"] = service.machine().partitions[reading.partition.value].name;
    if (std::isfinite(reading.load)) row["load"] = reading.load;
    rows.push_back(std::move(row));
  }
  return {{"looked", unix_seconds(service, power.reviewed_at())}, {"loads", std::move(rows)}};
}

Json nodes_json(const Service& service) {
  Json nodes = Json::array();
  if (service.machine().nodes.empty()) nodes.push_back(counted_json(service));
  auto jobs = jobs_by_node(service);
  auto reserved = reserved_by_node(service.view());
  for (std::uint32_t n = 0; n < service.machine().nodes.size(); ++n) {
    if (service.machine().nodes[n].has_gone()) continue;
    nodes.push_back(node_json(service, NodeId{n}, std::move(jobs[NodeId{n}]), reserved[NodeId{n}]));
  }
  Json json{{"nodes", std::move(nodes)}};
  if (!service.view().power().loads().empty()) json["power_rule"] = loads_json(service);
  return json;
}

Json partitions_json(const Service& service) {
  const Machine& machine = service.machine();
  std::vector<std::int64_t> waiting(machine.partitions.size());
  std::vector<std::int64_t> running(machine.partitions.size());
  service.view().for_each_job([&](JobId, const Job& job) {
    if (!job.spec.partition.valid() || job.gone()) return;
    ++(job.state == JobState::running ? running : waiting)[job.spec.partition.value];
  });
  Json rows = Json::array();
  for (std::uint32_t p = 0; p < machine.partitions.size(); ++p) {
    const Partition& partition = machine.partitions[p];
    std::vector<std::string> nodes;
    for (const NodeId node : partition.nodes) nodes.push_back(machine.nodes[node.value].name);
    Json row{{"name", partition.name},
             {"default", machine.default_partition == PartitionId{p}},
             {"processors", partition.processors},
             {"nodes", format_host_list(nodes)},
             {"waiting", waiting[p]},
             {"running", running[p]}};
    if (partition.max_time < kLongest) row["max_time"] = to_seconds(partition.max_time);
    if (partition.default_time < kLongest) row["default_time"] = to_seconds(partition.default_time);
    rows.push_back(std::move(row));
  }
  return {{"partitions", std::move(rows)}};
}

Json licences_json(const Service& service) {
  Json rows = Json::array();
  const auto& licences = service.machine().licences;
  for (std::uint32_t l = 0; l < licences.size(); ++l) {
    const std::int64_t elsewhere = service.view().licences_elsewhere(LicenceId{l});
    const std::int64_t free = service.view().nodes().licences_free(LicenceId{l});
    rows.push_back({{"name", licences[l].name},
                    {"count", licences[l].count},
                    {"used", licences[l].count - elsewhere - free},
                    {"elsewhere", elsewhere}});
  }
  Json json{{"licences", std::move(rows)}};
  if (const serve::LicenceWatch* watch = service.licence_watch(); watch && watch->failures() > 0) {
    json["failures"] = watch->failures();
    json["failure"] = watch->failure();
  }
  return json;
}

void switch_nodes(const Ask& ask, const std::string& nodes) {
  const auto switched = ask.service.set_power(nodes, ask.path[2] == "power-up");
  if (!switched) return ask.reply->send(problem(400, switched.error().message));
  Json json{{"ordered", serve::node_list(ask.service.machine(), switched->ordered)}};
  if (!switched->already.empty()) json["already"] = serve::node_list(ask.service.machine(), switched->already);
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
  const auto emptied = ask.service.set_health(nodes, {action->second, reason, ask.request.caller.user});
  if (!emptied) return ask.reply->send(problem(400, emptied.error().message));
  Json json = Json::object();
  for (const auto& [name, jobs] : {std::pair{"requeued", &emptied->again}, std::pair{"ended", &emptied->ended}}) {
    for (const JobId job : *jobs) json[name].push_back(ask.service.book().shown(job));
  }
  when_durable(ask, {200, "application/json", dumped(json), {}});
}

void answer_nodes(const Ask& ask) { send(ask, nodes_json(ask.service)); }
void answer_partitions(const Ask& ask) { send(ask, partitions_json(ask.service)); }
void answer_licences(const Ask& ask) { send(ask, licences_json(ask.service)); }

}  // namespace rota::api

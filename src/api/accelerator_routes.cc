// /v1/accelerators: the containers that are registered, which nodes are bound to them, and which one a node has.
#include <unistd.h>

#include <fmt/core.h>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/job_json.h"
#include "api/routes.h"
#include "api/submission_json.h"
#include "base/json_bytes.h"
#include "base/text.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;
using serve::AcceleratorDesk;

const std::string& name_of(const Ask& ask, NodeId node) { return ask.answers().machine().nodes[node.value].name; }

// The slots that are bound to the containers of each node: so many of a job's on each of its nodes.
std::map<NodeId, Json> slots_json(const Ask& ask) {
  std::map<NodeId, Json> slots;
  for (const Bound& bound : ask.service.accelerators().bindings())
    if (bound.job.valid())
      slots[bound.to].push_back({{"job", ask.answers().jobs().shown(bound.job)},
                                 {"node", name_of(ask, bound.node)},
                                 {"slots", bound.processors}});
  return slots;
}

Json array_of(const Json& rows) { return rows.is_null() ? Json::array() : rows; }

Json container_json(const Ask& ask, const std::pair<const AcceleratorDesk::Place, AcceleratorDesk::Container>& one,
                    const Json& bound, const Json& slots) {
  const auto& [place, of] = one;
  using std::chrono::duration;
  return {{"node", name_of(ask, place.node)},
          {"device", place.device},
          {"address", of.card.address},
          {"weight", of.card.weight},
          {"period", to_seconds(of.card.period)},
          {"seen", duration<double>(AcceleratorDesk::Clock::now() - of.seen).count()},
          {"bound", array_of(bound)},
          {"slots", array_of(slots)},
          {"state", json_from<Json>(of.card.state)}};
}

std::optional<NodeId> known_node(const Ask& ask) {
  const auto node = ask.service.accelerators().node_called(ask.path[2]);
  if (!node)
    ask.reply->send(problem(404, fmt::format("there is no node {} here; `rota nodes` lists them.",
                                             rota::quoted(std::string(ask.path[2])))));
  return node;
}

// How clients reach a container.
Json way_to(const Ask& ask, AcceleratorDesk::Place place) {
  const serve::AcceleratorCard& card = ask.service.accelerators().containers().at(place).card;
  Json json{{"node", name_of(ask, place.node)}, {"address", card.address}};
  // Users that may submit jobs may use it; what only looks may not.
  const bool only_looks = ask.request.read_only || ask.request.page_key != PageKey::none;
  if (!card.token.empty() && !only_looks) json["token"] = card.token;
  return json;
}

void send(const Ask& ask, const Json& json) {
  ask.reply->send({200, "application/json", dumped(json), {{"Cache-Control", "no-store"}}});
}

// All that a node's tasks may go to: no binding leaves a rack.
void answer_rack(const Ask& ask, NodeId node) {
  const auto& nodes = ask.answers().machine().nodes;
  Json rows = Json::array();
  for (const auto& [place, container] : ask.service.accelerators().containers()) {
    if (nodes[place.node.value].rack != nodes[node.value].rack) continue;
    rows.push_back(way_to(ask, place));
    rows.back()["weight"] = container.card.weight;
  }
  send(ask, {{"containers", std::move(rows)}});
}

void answer_place(const Ask& ask, NodeId node, AcceleratorDesk::Place place) {
  Json json = way_to(ask, place);
  json["container"] = std::exchange(json["node"], name_of(ask, node));
  send(ask, json);
}

// "12.0": the first slot that job 12 has on the node.
void answer_slot(const Ask& ask, NodeId node, const std::string& slot) {
  const std::size_t point = slot.find('.');
  const auto job = parse_integer(slot.substr(0, point));
  const auto number = parse_integer(point == std::string::npos ? "" : slot.substr(point + 1));
  if (!job || !number)
    return ask.reply->send(
        problem(400, fmt::format("`slot` is a job and a number, as 12.0, not {}.", rota::quoted(slot))));
  const JobId id = ask.answers().jobs().book().numbered(*job);
  const auto place = id.valid() ? ask.service.accelerators().place_of(id, node, *number) : std::nullopt;
  if (place) return answer_place(ask, node, *place);
  ask.reply->send(problem(
      404,
      fmt::format("no accelerator container serves slot {} on node {} now; `rota accel` lists those that there are.",
                  slot, name_of(ask, node))));
}

void take_card(const Ask& ask, NodeId node) {
  auto card = read_accelerator_card(ask.request.body);
  if (!card) return ask.reply->send(problem(400, card.error().message));
  if (ask.service.accelerators().take(node, std::move(*card)) == AcceleratorDesk::Taken::replaced)
    return ask.reply->send(
        problem(409, fmt::format("another container of node {} has registered since; one of the two is to be stopped.",
                                 name_of(ask, node))));
  ask.reply->send({200, "application/json", "{}", {}});
}

}  // namespace

void answer_accelerators(const Ask& ask) {
  const auto& nodes = ask.answers().machine().nodes;
  const auto places = ask.service.accelerators().places();
  std::map<AcceleratorDesk::Place, Json> bound;
  Json unbound = Json::array();
  for (std::uint32_t n = 0; n < nodes.size(); ++n) {
    const auto found = places.find({n});
    if (found == places.end() && !nodes[n].has_gone()) unbound.push_back(nodes[n].name);
    if (found != places.end() && found->second.node != NodeId{n}) bound[found->second].push_back(nodes[n].name);
  }
  Json rows = Json::array();
  auto slots = slots_json(ask);
  for (const auto& one : ask.service.accelerators().containers())
    rows.push_back(container_json(ask, one, bound[one.first], slots[one.first.node]));
  const Json json{{"containers", std::move(rows)}, {"unbound", std::move(unbound)}};
  ask.reply->send({200, "application/json", dumped(json), {}});
}

void answer_accelerator(const Ask& ask) {
  bool rack = false;
  if (!take_flag(ask, "rack", rack)) return;
  const auto node = known_node(ask);
  if (!node) return;
  if (rack) return answer_rack(ask, *node);
  if (const auto slot = text_of(ask, "slot")) return answer_slot(ask, *node, *slot);
  const auto places = ask.service.accelerators().places();
  const auto found = places.find(*node);
  if (found == places.end())
    return ask.reply->send(problem(
        404, fmt::format("no accelerator container serves node {} now; `rota accel` lists those that there are.",
                         name_of(ask, *node))));
  answer_place(ask, *node, found->second);
}

// A container receives the tasks of all users, so that none but root and the service's user may say that it is one.
void change_accelerator(const Ask& ask) {
  const std::uint32_t uid = ask.request.caller.uid;
  if (uid != 0 && uid != ::geteuid())
    return ask.reply->send(
        problem(403, "only root and the user of the service may register an accelerator container."));
  const auto node = known_node(ask);
  if (!node) return;
  if (ask.request.method == "PUT") return take_card(ask, *node);
  const auto epoch = text_of(ask, "epoch");
  if (epoch && ask.service.accelerators().leave(*node, *epoch))
    return ask.reply->send({200, "application/json", "{}", {}});
  ask.reply->send(problem(404, fmt::format("node {} has no container of that `epoch`.", name_of(ask, *node))));
}

}  // namespace rota::api

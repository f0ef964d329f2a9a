// /v1/reservations: what is kept free for a time. Everybody sees it; operators make and end it.
#include <fmt/core.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/job_json.h"
#include "api/routes.h"
#include "api/submission_json.h"
#include "base/text.h"
#include "serve/node_list.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;

Json reservation_json(const serve::Service& service, const Reservation& r) {
  std::int64_t processors = r.processors;
  for (const NodeId node : r.nodes) processors += service.machine().nodes[node.value].processors;
  Json json{{"id", r.id.value},
            {"active", r.holds_at(service.view().now())},
            {"start", unix_seconds(service, r.from)},
            {"end", unix_seconds(service, r.until)},
            {"processors", processors},
            {"nodes", serve::node_list(service.machine(), r.nodes)}};
  const serve::Service::ReservationNote* note = service.note_of(r.id);
  if (note == nullptr) return json;
  json["by"] = note->by;
  if (!note->name.empty()) json["name"] = note->name;
  return json;
}

void make_reservation(const Ask& ask) {
  constexpr std::size_t kMostShown = 100;
  if (!ask.request.caller.operates) return ask.reply->send(problem(403, "only an operator may reserve."));
  const auto wish = read_reservation(ask.request.body, ask.service.loop().unix_start());
  if (!wish) return ask.reply->send(problem(400, wish.error().message));
  const serve::Service::RequestKey key = request_key(ask.request);
  if (auto suits = ask.service.suits(ask.request.caller, key, serve::Service::Keyed::reservation); !suits)
    return ask.reply->send(problem(422, suits.error().message));
  const auto id = ask.service.reserve(ask.request.caller, *wish, key);
  if (!id) return ask.reply->send(problem(400, id.error().message));
  const Reservation& made = *ask.service.view().reservations().find(*id);
  const std::vector<JobId> into = ask.service.running_into(made);
  Json json = reservation_json(ask.service, made);
  Json jobs = Json::array();
  for (const JobId job : into) {
    if (jobs.size() < kMostShown) jobs.push_back(ask.service.shown(job));
  }
  json["running_into"] = into.size();
  json["jobs"] = std::move(jobs);
  when_durable(ask, {201, "application/json", dumped(json), {}});
}

void end_reservation(const Ask& ask) {
  if (!ask.request.caller.operates) return ask.reply->send(problem(403, "only an operator may end a reservation."));
  const std::string which(ask.path[2]);
  const Reservation* found = ask.service.reservation(which);
  if (found == nullptr)
    return ask.reply->send(problem(404, fmt::format("there is no reservation {}: it is over or was never made; {}.",
                                                    rota::quoted(which), ask.service.reservations_there())));
  if (auto done = ask.service.unreserve(found->id); !done) return ask.reply->send(problem(400, done.error().message));
  when_durable(ask, {200, "application/json", "{}", {}});
}

// Those that are not over, the next one first.
void list_reservations(const Ask& ask) {
  std::vector<Reservation> all = ask.service.view().reservations().all();
  std::ranges::stable_sort(all, {}, &Reservation::from);
  Json rows = Json::array();
  for (const Reservation& each : all) rows.push_back(reservation_json(ask.service, each));
  ask.reply->send({200, "application/json", dumped({{"reservations", std::move(rows)}}), {}});
}

}  // namespace

void answer_reservations(const Ask& ask) {
  if (ask.request.method == "POST") return make_reservation(ask);
  if (ask.request.method == "DELETE") return end_reservation(ask);
  list_reservations(ask);
}

}  // namespace rota::api

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

Json reservation_json(const Ask& ask, const Reservation& r) {
  const serve::Answers& answers = ask.answers();
  std::int64_t processors = r.processors;
  for (const NodeId node : r.nodes) processors += answers.machine().nodes[node.value].processors;
  Json json{{"id", r.id.value},
            {"active", ask.service.reservations().holds_now(r)},
            {"start", unix_seconds(answers, r.from)},
            {"end", unix_seconds(answers, r.until)},
            {"processors", processors},
            {"nodes", serve::node_list(answers.machine(), r.nodes)}};
  const serve::ReservationDesk::Note* note = ask.service.reservations().note_of(r.id);
  if (note == nullptr) return json;
  json["by"] = note->by;
  if (!note->name.empty()) json["name"] = note->name;
  if (!note->users.empty()) json["users"] = note->users;
  return json;
}

void make_reservation(const Ask& ask) {
  constexpr std::size_t kMostShown = 100;
  if (!ask.request.caller.operates) return ask.reply->send(problem(403, "only an operator may reserve."));
  const auto wish = read_reservation(ask.request.body, ask.answers().clock().unix_start());
  if (!wish) return ask.reply->send(problem(400, wish.error().message));
  const serve::RequestKey key = request_key(ask.request);
  if (auto suits = ask.answers().jobs().check_key(ask.request.caller, key, serve::Keyed::reservation); !suits)
    return ask.reply->send(problem(422, suits.error().message));
  serve::ReservationDesk& reservations = ask.service.reservations();
  const auto id = reservations.reserve(ask.request.caller, *wish, key);
  if (!id) return ask.reply->send(problem(400, id.error().message));
  const Reservation& made = *reservations.find(*id);
  const std::vector<JobId> into = reservations.running_into(made);
  Json json = reservation_json(ask, made);
  Json jobs = Json::array();
  for (const JobId job : into) {
    if (jobs.size() < kMostShown) jobs.push_back(ask.answers().jobs().shown(job));
  }
  json["running_into"] = into.size();
  json["jobs"] = std::move(jobs);
  when_durable(ask, {201, "application/json", dumped(json), {}});
}

void end_reservation(const Ask& ask) {
  if (!ask.request.caller.operates) return ask.reply->send(problem(403, "only an operator may end a reservation."));
  const std::string which(ask.path[2]);
  serve::ReservationDesk& reservations = ask.service.reservations();
  const Reservation* found = reservations.find(which);
  if (found == nullptr)
    return ask.reply->send(problem(404, fmt::format("there is no reservation {}: it is over or was never made; {}.",
                                                    rota::quoted(which), reservations.all_by_name())));
  if (auto done = reservations.unreserve(found->id); !done) return ask.reply->send(problem(400, done.error().message));
  when_durable(ask, {200, "application/json", "{}", {}});
}

// Those that are not over, the next one first.
void list_reservations(const Ask& ask) {
  std::vector<Reservation> all = ask.service.reservations().all();
  std::ranges::stable_sort(all, {}, &Reservation::from);
  Json rows = Json::array();
  for (const Reservation& each : all) rows.push_back(reservation_json(ask, each));
  ask.reply->send({200, "application/json", dumped({{"reservations", std::move(rows)}}), {}});
}

}  // namespace

void answer_reservations(const Ask& ask) {
  if (ask.request.method == "POST") return make_reservation(ask);
  if (ask.request.method == "DELETE") return end_reservation(ask);
  list_reservations(ask);
}

}  // namespace rota::api

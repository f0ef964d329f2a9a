#include "api/routes.h"

#include <unistd.h>

#include <fmt/core.h>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/foreign_page.h"
#include "api/job_json.h"
#include "api/put_off.h"
#include "api/rehearser.h"
#include "api/submission_json.h"
#include "base/text.h"
#include "serve/node_list.h"
#include "store/sha256.h"

namespace rota::api {

std::string_view document(std::string_view name);  // the files of docs/ that are built in

namespace {

using Json = nlohmann::json;

// The policy that an operator names; else it was answered why not.
std::optional<std::string> take_policy(const Ask& ask) {
  if (!ask.request.caller.operates) {
    ask.reply->send(problem(403, "only an operator may set the policy."));
    return std::nullopt;
  }
  const auto texts = read_texts(ask.request.body, {"policy"});
  if (!texts) {
    ask.reply->send(problem(400, texts.error().message));
    return std::nullopt;
  }
  if (texts->contains("policy")) return texts->at("policy");
  ask.reply->send(problem(400, "say which: `policy` is missing."));
  return std::nullopt;
}

Json side_json(const serve::PolicyRehearsal::Side& side) {
  Json json{{"policy", side.policy}, {"started", side.started}};
  if (side.mean_wait) json["mean_wait"] = to_seconds(*side.mean_wait);
  return json;
}

Response rehearsed_policy(const serve::Answers& answers, const Result<serve::PolicyRehearsal>& rehearsed) {
  constexpr std::size_t kMostShown = 100;
  if (!rehearsed) return problem(400, rehearsed.error().message);
  Json jobs = Json::array();
  for (const auto& change : rehearsed->changes) {
    if (jobs.size() == kMostShown) break;
    const serve::JobEntry* const entry = answers.jobs().entry(change.job);
    Json row{{"id", answers.jobs().shown(change.job)}, {"processors", change.processors}};
    if (entry != nullptr) row["user"] = entry->about->user, row["name"] = entry->about->name;
    if (change.present != kNever) row["present"] = unix_seconds(answers, change.present);
    if (change.proposed != kNever) row["proposed"] = unix_seconds(answers, change.proposed);
    jobs.push_back(std::move(row));
  }
  Json json{{"present", side_json(rehearsed->present)},
            {"proposed", side_json(rehearsed->proposed)},
            {"waiting", rehearsed->waiting},
            {"changed", rehearsed->changes.size()},
            {"jobs", std::move(jobs)},
            {"cut", rehearsed->cut}};
  if (std::min(rehearsed->present.started, rehearsed->proposed.started) < rehearsed->waiting) {
    if (std::string why = answers.explainer().endless_before({}, {}); !why.empty())
      json["start_unknown"] = std::move(why);
  }
  return {200, "application/json", dumped(json), {}};
}

// On a thread of its own: with a long queue it takes seconds, in which all others are answered.
void rehearse_policy(const Ask& ask) {
  const auto policy = take_policy(ask);
  if (!policy) return;
  if (const std::string full = ask.rehearser.full_for(ask.request.caller); !full.empty())
    return ask.reply->send(busy(full));
  auto queue = ask.service.queue_to_rehearse(*policy);
  if (!queue) return ask.reply->send(problem(400, queue.error().message));
  const auto asked = std::make_shared<const serve::QueueToRehearse>(std::move(*queue));
  ask.rehearser.run(ask.request.caller.uid, [&answers = ask.answers(), &rehearser = ask.rehearser, asked,
                                             reply = ask.reply] {
    auto rehearsed = serve::rehearse_policies(*asked, [&rehearser] { return rehearser.ends(); });
    return [&answers, reply, rehearsed = std::move(rehearsed)] { reply->send(rehearsed_policy(answers, rehearsed)); };
  });
}

void add_left_asleep(const Ask& ask, Json& json) {
  if (const auto nodes = ask.service.nodes().left_asleep(); !nodes.empty())
    json["left_asleep"] = serve::node_list(ask.answers().machine(), nodes);
}

void set_policy(const Ask& ask) {
  const auto policy = take_policy(ask);
  if (!policy) return;
  if (auto set = ask.service.set_policy(*policy); !set) return ask.reply->send(problem(400, set.error().message));
  Json json{{"policy", ask.service.policy()}};
  if (const auto woken = ask.service.nodes().woken_after_policy(); !woken.empty())
    json["woken"] = serve::node_list(ask.answers().machine(), woken);
  add_left_asleep(ask, json);
  ask.reply->send({200, "application/json", dumped(json), {}});
}

void reload(const Ask& ask) {
  if (!ask.request.caller.operates)
    return ask.reply->send(problem(403, "only an operator may have the configuration read again."));
  const auto reloaded = ask.service.reload();
  if (!reloaded) return ask.reply->send(problem(400, reloaded.error().message));
  Json json{{"machine", ask.answers().machine().name}, {"processors", ask.answers().machine().processors}};
  if (!reloaded->taken.empty()) json["taken"] = reloaded->taken;
  if (reloaded->other_settings) json["other_settings"] = true;
  ask.reply->send({200, "application/json", dumped(json), {}});
}

void answer_policy(const Ask& ask) {
  const Json json{{"policy", ask.service.policy()}, {"plain", ask.answers().status().plain}};
  ask.reply->send({200, "application/json", dumped(json), {}});
}

// How many jobs are not queued though no user holds them; nothing: there are too many jobs to count these.
std::optional<std::int64_t> not_eligible(serve::Answers& answers, std::size_t barred) {
  const auto& counts = answers.pending_counts().look();
  const auto all = static_cast<std::int64_t>(barred);
  if (counts.empty() && all > 0) return std::nullopt;
  std::int64_t held = 0;
  for (const char* word : {"JobHeldUser", "JobHeldAdmin"}) {
    if (const auto found = counts.find(word); found != counts.end()) held += found->second;
  }
  return std::max<std::int64_t>(0, all - held);
}

void answer_status(const Ask& ask) {
  const serve::Answers& answers = ask.answers();
  const serve::ServiceStatus status = answers.status();
  const serve::ServiceOptions& options = ask.service.options();
  Json json{{"version", options.version},
            {"policy", ask.service.policy()},
            {"plain", status.plain},
            {"machine", answers.machine().name},
            {"processors", answers.machine().processors},
            {"busy", status.use.busy},
            {"free", status.use.free},
            {"out_of_service", status.use.out_of_service},
            {"asleep", status.use.asleep},
            {"waiting", status.waiting},
            {"held", status.barred},
            {"running", status.running},
            {"now", unix_seconds(answers, answers.clock().now())},
            {"clock_ahead", to_seconds(answers.clock().ahead())},
            {"cycles", status.cycles},
            {"facts", status.facts},
            {"refusals", status.refusals},
            {"refused_requests", status.refused_requests},
            {"warnings", answers.warnings()},
            {"pid", ::getpid()},
            {"user", ask.request.caller.user},
            {"uid", ask.request.caller.uid},
            {"operator", ask.request.caller.operates}};
  if (const auto& readings = status.readings)
    json["readings"] = {{"done", readings->done},       {"failed", readings->failed},
                        {"calls", readings->calls},     {"unread_rows", readings->unread_rows},
                        {"refused", readings->refused}, {"seconds", to_seconds(readings->latest)}};
  if (ask.request.read_only) json["read_only"] = true;
  if (ask.request.caller.operates) json["state_folder"] = options.state_folder;
  if (const auto some = not_eligible(ask.answers(), status.barred)) {
    if (status.readings) {  // jobs of another manager are not queued here, and wait all the same
      json["waiting"] = static_cast<std::int64_t>(status.waiting) + *some;
      json["held"] = static_cast<std::int64_t>(status.barred) - *some;
    }
    json["not_eligible"] = status.readings ? 0 : *some;
  }
  add_left_asleep(ask, json);
  if (!status.last_refusal.empty()) json["last_refusal"] = status.last_refusal;
  ask.reply->send({200, "application/json", dumped(json), {}});
}

void answer_health(const Ask& ask) {
  const Result<void>& health = ask.service.health();
  ask.reply->send(health ? Response{200, "text/plain", "ok\n", {}} : problem(503, health.error().message));
}

void answer_document(const Ask& ask) {
  ask.reply->send({200, "application/json", std::string(document("openapi.json")), {}});
}

constexpr std::string_view kPageSessions = "/v1/page-sessions";

constexpr auto kRoutes = std::to_array<Route>({
    {"GET", "/", answer_page},
    {"GET", "/healthz", answer_health},
    {"GET", "/metrics", answer_metrics},
    {"GET", "/v1/openapi.json", answer_document},
    {"GET", "/v1/jobs", list_jobs, "user state partition name ids limit after ended starts"},
    {"POST", "/v1/jobs", submit_jobs},
    {"GET", "/v1/jobs/{id}", answer_job},
    {"POST", "/v1/jobs/cancel", change_jobs},
    {"POST", "/v1/jobs/hold", change_jobs},
    {"POST", "/v1/jobs/release", change_jobs},
    {"POST", "/v1/jobs/requeue", change_jobs},
    {"POST", "/v1/jobs/suspend", change_jobs},
    {"POST", "/v1/jobs/resume", change_jobs},
    {"POST", "/v1/jobs/update", change_jobs},
    {"GET", "/v1/jobs/{id}/script", answer_job_text},
    {"GET", "/v1/jobs/{id}/environment", answer_job_text},
    {"GET", "/v1/jobs/{id}/output", answer_job_output, "stream from"},
    {"GET", "/v1/jobs/{id}/explain", explain_job},
    {"GET", "/v1/nodes", answer_nodes},
    {"POST", "/v1/nodes/drain", change_nodes},
    {"POST", "/v1/nodes/resume", change_nodes},
    {"POST", "/v1/nodes/down", change_nodes},
    {"POST", "/v1/nodes/power-down", change_nodes},
    {"POST", "/v1/nodes/power-up", change_nodes},
    {"GET", "/v1/partitions", answer_partitions},
    {"GET", "/v1/licences", answer_licences},
    {"GET", "/v1/sites", answer_sites},
    {"GET", "/v1/accelerators", answer_accelerators},
    {"GET", "/v1/accelerators/{node}", answer_accelerator, "rack slot"},
    {"PUT", "/v1/accelerators/{node}", change_accelerator},
    {"DELETE", "/v1/accelerators/{node}", change_accelerator, "epoch"},
    {"GET", "/v1/reservations", answer_reservations},
    {"POST", "/v1/reservations", answer_reservations},
    {"DELETE", "/v1/reservations/{name}", answer_reservations},
    {"GET", "/v1/history", answer_history, "user state partition name ids ran from until limit after by"},
    {"GET", "/v1/policy", answer_policy},
    {"PUT", "/v1/policy", set_policy},
    {"POST", "/v1/policy/rehearsal", rehearse_policy},
    {"POST", "/v1/configuration/reload", reload},
    {"GET", "/v1/plan", answer_plan, "limit find fold"},
    {"GET", "/v1/forecast", answer_forecast, "futures seed"},
    {"GET", "/v1/forecast/nodes", answer_forecast, "futures seed hours"},
    {"GET", "/v1/forecast/{selector}", answer_forecast, "futures seed"},
    {"GET", "/v1/shadow", answer_shadow, "since jobs"},
    {"GET", "/v1/modes", answer_modes},
    {"PUT", "/v1/modes/{mechanism}", set_mode},
    {"GET", "/v1/status", answer_status},
    {"GET", "/v1/events", answer_events, "after job"},
    {"GET", "/v1/tokens", answer_tokens},
    {"POST", "/v1/tokens", answer_tokens},
    {"DELETE", "/v1/tokens/{id}", answer_tokens},
    {"POST", "/v1/page-codes", make_page_code},
    {"POST", kPageSessions, open_page_session},
});

bool fits(std::string_view route, const std::vector<std::string_view>& path) {
  for (const std::string_view word : path) {
    if (route.empty()) return false;
    route.remove_prefix(1);
    const std::string_view part = route.substr(0, route.find('/'));
    route.remove_prefix(part.size());
    if (part != word && (!part.starts_with('{') || word.empty())) return false;
  }
  return route.empty();
}

void nothing_there(const Ask& ask) {
  ask.reply->send(problem(
      404, fmt::format("there is nothing at {}; docs/api.md lists what there is.", rota::quoted(ask.request.path))));
}

// What is wrong with a member of the query: that this route does not know it, or that it is there twice. Empty:
// nothing.
std::string wrong_in_query(const Route& route, const Request& request) {
  std::vector<std::string_view> known;
  for (const std::string_view word : split(route.query, ' ')) {
    if (!word.empty()) known.push_back(word);
  }
  for (const auto& [name, value] : request.query) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string_view near = nearest(name, known);
    return fmt::format("a query has no member {} here{}", rota::quoted(name),
                       near.empty() ? "; docs/api.md lists what there is." : fmt::format("; did you mean `{}`?", near));
  }
  if (request.twice.empty()) return "";
  return fmt::format("the query has {} twice, and it is not known which of the two counts; send it once.",
                     rota::quoted(request.twice));
}

void answer(const Sources& from, const Request& request, const std::shared_ptr<Reply>& reply) {
  const Ask ask{from, request, reply, split(std::string_view(request.path).substr(1), '/')};
  std::string methods;
  for (const Route& route : kRoutes) {
    if (!fits(route.path, ask.path)) continue;
    if (route.method == request.method) {
      const std::string wrong = wrong_in_query(route, request);
      return wrong.empty() ? route.answer(ask) : reply->send(problem(400, wrong));
    }
    methods += (methods.empty() ? "" : ", ") + std::string(route.method);
  }
  if (methods.empty()) return nothing_there(ask);
  Response refusal = problem(405, fmt::format("only {} is answered here; docs/api.md lists what there is.", methods));
  refusal.headers.emplace_back("Allow", methods);
  reply->send(std::move(refusal));
}

}  // namespace

std::span<const Route> route_table() { return kRoutes; }

std::optional<std::string> text_of(const Ask& ask, const char* name) {
  const auto found = ask.request.query.find(name);
  if (found == ask.request.query.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

serve::RequestKey request_key(const Request& request) {
  if (request.idempotency_key.empty()) return {};
  return {request.idempotency_key, store::hexadecimal(store::sha256(std::as_bytes(std::span(request.body))))};
}

bool take_number(const Ask& ask, const char* name, std::int64_t& into) {
  const auto found = ask.request.query.find(name);
  if (found == ask.request.query.end()) return true;
  const auto number = parse_integer(found->second);
  if (number && *number >= 0) {
    into = *number;
    return true;
  }
  ask.reply->send(problem(400, fmt::format("`{}` takes a whole number, not {}.", name, rota::quoted(found->second))));
  return false;
}

bool take_flag(const Ask& ask, const char* name, bool& into) {
  const std::string text = text_of(ask, name).value_or("no");
  into = text == "yes";
  if (into || text == "no") return true;
  ask.reply->send(problem(400, fmt::format("`{}` takes yes or no, not {}.", name, rota::quoted(text))));
  return false;
}

void when_durable(const Ask& ask, Response response) {
  ask.service.when_durable([reply = ask.reply, response = std::move(response)](const Result<void>& done) {
    reply->send(done ? response : problem(503, done.error().message));
  });
}

Handler routes(const Sources& sources) {
  const auto at_once = [sources](const Request& request, const std::shared_ptr<Reply>& reply) {
    answer(sources, request, reply);
  };
  return [at_once, questions = std::make_shared<PutOff>(sources.service, at_once)](
             const Request& request, const std::shared_ptr<Reply>& reply) {
    if (const std::string why = foreign_page(request); !why.empty()) return reply->send(problem(403, why));
    if (request.page_key == PageKey::code && request.path != kPageSessions)
      return reply->send(problem(403, "the code of an address is for `POST /v1/page-sessions` alone."));
    if (request.method == "GET") {
      questions->put_off(request, reply);
    } else {
      at_once(request, reply);
    }
  };
}

}  // namespace rota::api

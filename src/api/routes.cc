#include "api/routes.h"

#include <nlohmann/json.hpp>

#include "api/job_json.h"
#include "api/submission_json.h"
#include "base/text.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;

void answer(const Ask& ask) {
  const auto& path = ask.path;
  if (path.size() == 1 && path[0] == "healthz") {
    const bool well = ask.service.failure().has_value();
    return ask.reply->send(well ? Response{200, "text/plain", "ok\n", {}}
                                : problem(503, ask.service.failure().error().message));
  }
  if (path.size() == 1 && path[0] == "metrics") return answer_metrics(ask);
  if (path.size() < 2 || path[0] != "v1") return nothing_there(ask);
  const std::string_view what = path[1];
  if (what == "jobs") return answer_jobs(ask);
  if (what == "nodes" || what == "partitions" || what == "licences") return answer_nodes(ask);
  if (what == "history") return answer_history(ask);
  if (what == "forecast") return answer_forecast(ask);
  if (what == "status" || what == "policy") return answer_status(ask);
  if (what == "events") return answer_events(ask);
  nothing_there(ask);
}

void answer(serve::Service& service, const Request& request, const std::shared_ptr<Reply>& reply) {
  answer(Ask{service, request, reply, split(std::string_view(request.path).substr(1), '/')});
}

void set_policy(const Ask& ask) {
  if (!ask.request.caller.operates) return ask.reply->send(problem(403, "only an operator may set the policy."));
  const auto texts = read_texts(ask.request.body, {"policy"});
  if (!texts) return ask.reply->send(problem(400, texts.error().message));
  if (!texts->contains("policy")) return ask.reply->send(problem(400, "say which: `policy` is missing."));
  if (auto set = ask.service.set_policy(texts->at("policy")); !set)
    return ask.reply->send(problem(400, set.error().message));
  ask.reply->send({200, "application/json", dumped({{"policy", ask.service.policy()}}), {}});
}

}  // namespace

void nothing_there(const Ask& ask) {
  ask.reply->send(
      problem(404, "there is nothing at " + rota::quoted(ask.request.path) + "; docs/api.md lists what there is."));
}

bool only_get(const Ask& ask) {
  if (ask.request.method == "GET") return true;
  ask.reply->send(problem(405, "only GET is answered here."));
  return false;
}

std::optional<std::string> text_of(const Ask& ask, const char* name) {
  const auto found = ask.request.query.find(name);
  if (found == ask.request.query.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

bool take_number(const Ask& ask, const char* name, std::int64_t& into) {
  const auto found = ask.request.query.find(name);
  if (found == ask.request.query.end()) return true;
  const auto number = parse_integer(found->second);
  if (number && *number >= 0) {
    into = *number;
    return true;
  }
  ask.reply->send(
      problem(400, "`" + std::string(name) + "` takes a whole number, not " + rota::quoted(found->second) + "."));
  return false;
}

void when_durable(const Ask& ask, Response response) {
  ask.service.when_durable([reply = ask.reply, response = std::move(response)](const Result<void>& done) {
    reply->send(done ? response : problem(503, done.error().message));
  });
}

void answer_status(const Ask& ask) {
  const serve::Service& service = ask.service;
  if (ask.path[1] == "policy" && ask.request.method == "PUT") return set_policy(ask);
  if (!only_get(ask)) return;
  const View& view = service.view();
  if (ask.path[1] == "policy")
    return ask.reply->send(
        {200, "application/json", dumped({{"policy", service.policy()}, {"plain", view.plain()}}), {}});
  Json json{{"version", service.options().version},
            {"policy", service.policy()},
            {"plain", view.plain()},
            {"machine", service.machine().name},
            {"processors", service.machine().processors},
            {"free", std::max<std::int64_t>(0, view.free())},
            {"waiting", view.waiting().size()},
            {"held", view.barred()},
            {"running", view.running().size()},
            {"now", unix_seconds(service, service.loop().now())},
            {"cycles", service.controller().cycles()},
            {"facts", view.sequence()},
            {"refusals", service.controller().refusals()},
            {"warnings", service.warnings()},
            {"pid", service.process()}};
  if (ask.request.caller.operates) json["state_folder"] = service.options().state_folder;
  if (!service.controller().last_refusal().empty()) json["last_refusal"] = service.controller().last_refusal();
  ask.reply->send({200, "application/json", dumped(json), {}});
}

Handler routes(serve::Service& service) {
  return [&service](const Request& request, const std::shared_ptr<Reply>& reply) {
    if (!service.uncommitted() || request.method != "GET") return answer(service, request, reply);
    // Nobody is told what a failure of power could still undo.
    service.when_durable([&service, request, reply](const Result<void>&) { answer(service, request, reply); });
  };
}

}  // namespace rota::api

// /v1/modes: what Rota does to a cluster that another resource manager runs, and may do.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/job_json.h"
#include "api/routes.h"
#include "api/submission_json.h"
#include "control/mandates.h"
#include "serve/waiting_order.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;

constexpr const char* kNotWatched =
    "this service runs jobs on its own cluster, where the policy decides; modes are for a service beside Slurm (`rota "
    "serve --engine slurm`).";

Json mandate_json(const Mandate& mandate) {
  Json json{{"mechanism", mandate.mechanism}, {"partition", mandate.partition}, {"mode", name_of(mandate.mode)},
            {"rule", mandate.rule},           {"since", mandate.since},         {"by", mandate.by}};
  if (mandate.until > 0) json["until"] = mandate.until;
  if (!mandate.fell.empty()) json["fell"] = mandate.fell;
  return json;
}

Json report_json(const Mandates::Report& report) {
  constexpr std::size_t kMostShown = 100;
  Json modes = Json::array(), advice = Json::array();
  for (const Mandate& mandate : report.mandates) {
    modes.push_back(mandate_json(mandate));
    modes.back()["misplaced"] = std::ranges::count(report.advice, mandate.partition, &Mandates::Advice::partition);
    if (mandate.mode != Mode::advise && mandate.mode != Mode::act) continue;
    for (const Mandates::Advice& each : report.advice) {
      if (each.partition != mandate.partition || advice.size() >= kMostShown) continue;
      advice.push_back({{"job", each.job},
                        {"partition", each.partition},
                        {"place", each.place},
                        {"wanted", each.wanted},
                        {"factor", each.factor},
                        {"to", each.to}});
    }
  }
  Json json{{"modes", std::move(modes)}, {"advice", std::move(advice)}, {"written", report.written}};
  if (report.looked > 0) json["looked"] = report.looked;
  if (!report.trouble.empty()) json["trouble"] = report.trouble;
  return json;
}

}  // namespace

void answer_modes(const Ask& ask) {
  const Mandates* mandates = ask.service.jobs().watched().mandates();
  const Mandates::Report none{.mandates = {}, .advice = {}, .trouble = kNotWatched};
  ask.reply->send({200, "application/json", dumped(report_json(mandates ? mandates->report() : none)), {}});
}

void set_mode(const Ask& ask) {
  if (!ask.request.caller.operates) return ask.reply->send(problem(403, "only an operator may set a mode."));
  Mandates* mandates = ask.service.jobs().watched().mandates();
  if (mandates == nullptr) return ask.reply->send(problem(400, kNotWatched));
  auto wish = read_mode_wish(ask.request.body);
  if (!wish) return ask.reply->send(problem(400, wish.error().message));
  wish->mechanism = ask.path[2];
  wish->by = ask.request.caller.uid;
  if (!wish->rule.empty()) {
    if (const auto rule = serve::waiting_rule(wish->rule); !rule)
      return ask.reply->send(problem(400, rule.error().message));
  }
  mandates->set(std::move(*wish), [mandates, reply = ask.reply](const Result<void>& set) {
    if (!set) return reply->send(problem(400, set.error().message));
    reply->send({200, "application/json", dumped(report_json(mandates->report())), {}});
  });
}

}  // namespace rota::api

// /v1/shadow: how well starts were foretold of jobs that another resource manager starts.
#include <nlohmann/json.hpp>

#include "api/job_json.h"
#include "api/routes.h"
#include "serve/shadow.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;

Json scores_json(const serve::StartScores& scores, bool bands) {
  Json json{{"starts", scores.starts}};
  if (scores.starts == 0) return json;
  if (bands) json["within_half"] = scores.within_half, json["within_nine_tenths"] = scores.within_nine;
  json["within_minute"] = scores.within_minute;
  json["median_error"] = to_seconds(scores.error);
  json["bias"] = to_seconds(scores.bias);
  return json;
}

Json starts_json(serve::Answers& answers, const serve::Shadow& shadow, Instant since) {
  Json all = Json::array();
  const auto time = [&](Instant at) { return at == kNever ? Json() : Json(unix_seconds(answers, at)); };
  shadow.for_each_started(since, [&](JobId job, const serve::Shadow::Row& row) {
    Json one{{"id", answers.jobs().shown(job)}, {"at", time(row.at)}, {"start", time(row.start)}};
    if (row.futures > 0)
      for (const Instant at : row.by) one["by"].push_back(time(at));
    if (row.theirs != kNever) one["manager"] = time(row.theirs);
    if (!row.why.empty()) one["why_not"] = row.why;
    all.push_back(std::move(one));
  });
  return all;
}

}  // namespace

void answer_shadow(const Ask& ask) {
  std::int64_t since = 0, each = 0;
  if (!take_number(ask, "since", since) || !take_number(ask, "jobs", each)) return;
  serve::Answers& answers = ask.answers();
  const serve::Shadow& shadow = ask.service.jobs().watched().shadow();
  const Instant from = answers.clock().instant_of(since * 1000);
  const serve::ShadowReport report = shadow.report(from);
  Json not_forecast = Json::object();
  for (const auto& [why, jobs] : report.not_forecast) not_forecast[why] = jobs;
  Json json{{"now", unix_seconds(answers, answers.now())},
            {"policy", ask.service.policy()},
            {"forecasts", scores_json(report.ours, true)},
            {"manager", scores_json(report.theirs, false)},
            {"forecasts_beside", scores_json(report.ours_beside, true)},
            {"waiting", report.waiting},
            {"left", report.left},
            {"not_forecast", std::move(not_forecast)}};
  const serve::OrderAdvice::Sum advice = ask.service.jobs().watched().advice().sum();
  if (advice.jobs > 0)
    json["advice"] = {{"jobs", advice.jobs},
                      {"sooner", advice.sooner},
                      {"later", advice.later},
                      {"own_wait", to_seconds(advice.mean_own)},
                      {"wait", to_seconds(advice.mean_advised)},
                      {"at", unix_seconds(answers, advice.at)}};
  if (each != 0) json["jobs"] = starts_json(answers, shadow, from);
  ask.reply->send({200, "application/json", dumped(json), {}});
}

}  // namespace rota::api

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

}  // namespace

void answer_shadow(const Ask& ask) {
  std::int64_t since = 0;
  if (!take_number(ask, "since", since)) return;
  serve::Answers& answers = ask.answers();
  const serve::ShadowReport report =
      ask.service.jobs().watched().shadow().report(answers.clock().instant_of(since * 1000));
  Json not_forecast = Json::object();
  for (const auto& [why, jobs] : report.not_forecast) not_forecast[why] = jobs;
  const Json json{{"now", unix_seconds(answers, answers.now())},
                  {"policy", ask.service.policy()},
                  {"forecasts", scores_json(report.ours, true)},
                  {"manager", scores_json(report.theirs, false)},
                  {"forecasts_beside", scores_json(report.ours_beside, true)},
                  {"waiting", report.waiting},
                  {"left", report.left},
                  {"not_forecast", std::move(not_forecast)}};
  ask.reply->send({200, "application/json", dumped(json), {}});
}

}  // namespace rota::api

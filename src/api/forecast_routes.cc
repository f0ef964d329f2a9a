// /v1/forecast: what may come.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/job_json.h"
#include "api/routes.h"
#include "base/text.h"
#include "serve/forecaster.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;
using serve::Forecasted;

constexpr std::int64_t kMostFutures = 10'000;
constexpr std::size_t kMostJobs = 200;  // in one answer
constexpr std::int64_t kMostHours = 24 * 14;

Json start_json(const serve::Service& service, const Forecasted::Start& start) {
  Json by = Json::object();
  for (std::size_t i = 0; i < start.by.size(); ++i) {
    if (start.by[i] == kNever) continue;
    by[std::to_string(Forecasted::kShares[i])] = unix_seconds(service, start.by[i]);
  }
  Json json{{"id", service.book().shown(start.job)}, {"started_by", std::move(by)}};
  if (const serve::JobEntry* entry = service.book().find(start.job)) {
    json["name"] = entry->about->name;
    json["user"] = entry->about->user;
  }
  if (const Job* job = service.view().find_job(start.job)) {
    json["processors"] = job->spec.processors;
    if (job->promise != kNever) json["promise"] = unix_seconds(service, job->promise);
  }
  return json;
}

Json figures_json(const Forecasted::Figures& figures, double unit = 1) {
  Json json = Json::object();
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const std::string share = std::to_string(Forecasted::kLookShares[i]);
    if (unit == 1) {
      json[share] = figures[i];
    } else {
      json[share] = static_cast<double>(figures[i]) * unit;
    }
  }
  return json;
}

Json look_json(const serve::Service& service, const Forecasted& told, const Forecasted::Look& look) {
  Json json{{"at", unix_seconds(service, told.now + look.after)},
            {"allocated", figures_json(look.busy)},
            {"waiting", figures_json(look.waiting)}};
  if (!service.machine().nodes.empty()) json["nodes_on"] = figures_json(look.nodes_on);
  if (service.machine().tells_watts()) json["watts"] = figures_json(look.milliwatts, 1e-3);
  return json;
}

void send(const serve::Service& service, const std::shared_ptr<Reply>& reply, const Result<Forecasted>& told) {
  if (!told) return reply->send(problem(503, told.error().message));
  Json json{{"now", unix_seconds(service, told->now)}, {"futures", told->futures}, {"past_jobs", told->past_jobs},
            {"few_past_jobs", told->few_past_jobs()},  {"weeks", told->weeks},     {"learned_from", told->learned}};
  if (told->looks.empty()) json["jobs"] = Json::array();
  for (const Forecasted::Start& start : told->starts) json["jobs"].push_back(start_json(service, start));
  for (const Forecasted::Look& look : told->looks) json["looks"].push_back(look_json(service, *told, look));
  reply->send({200, "application/json", dumped(json), {}});
}

// Those of the jobs that wait, in order of the queue, and behind them those that are not queued yet but will be.
std::vector<JobId> waiting_among(const View& view, std::vector<JobId> jobs) {
  std::erase_if(jobs, [&](JobId id) {
    const Job* job = view.find_job(id);
    if (job == nullptr) return true;
    const bool held = job->state == JobState::barred && (job->bars & kHolds) != 0;
    return held || (job->state != JobState::waiting && job->state != JobState::barred);
  });
  std::ranges::stable_sort(jobs, [&](JobId a, JobId b) {
    const Job& one = view.job(a);
    const Job& other = view.job(b);
    if (one.state != other.state) return one.state == JobState::waiting;
    if (one.state != JobState::waiting) return a < b;
    return view.waiting().queue_place(one) < view.waiting().queue_place(other);
  });
  return jobs;
}

// Why there is nothing to forecast about the jobs that were meant.
std::string why_none(const serve::Service& service, const std::vector<JobId>& meant, const std::string& selector) {
  if (meant.empty()) return rota::quoted(selector) + " names no job that waits; `rota queue` lists them.";
  const Job& job = service.view().job(meant.front());
  const std::string which = "job " + service.book().shown(meant.front());
  if (job.state == JobState::barred) return which + " is held: it starts when it is released.";
  return which + " does not wait any more.";
}

bool read_asked(const Ask& ask, serve::ForecastAsked& asked) {
  std::int64_t seed = 1;
  if (!take_number(ask, "futures", asked.futures) || !take_number(ask, "seed", seed)) return false;
  asked.futures = std::clamp<std::int64_t>(asked.futures, 1, kMostFutures);
  asked.seed = static_cast<std::uint64_t>(seed);
  return true;
}

}  // namespace

void answer_forecast(const Ask& ask) {
  serve::Service& service = ask.service;
  serve::ForecastAsked asked;
  if (!read_asked(ask, asked)) return;
  const std::string what = ask.path.size() == 3 ? std::string(ask.path[2]) : std::string();
  if (what == "nodes") {
    std::int64_t hours = 24;
    if (!take_number(ask, "hours", hours)) return;
    hours = std::clamp<std::int64_t>(hours, 1, kMostHours);
    const std::int64_t step = (hours + 47) / 48;  // at most 48 looks
    for (std::int64_t hour = step; hour <= hours; hour += step) asked.looks.push_back(seconds(hour * 3600));
  } else {
    auto meant = service.select(ask.request.caller, what.empty() ? "all" : what);
    if (!meant) return ask.reply->send(problem(400, meant.error().message));
    asked.jobs = waiting_among(service.view(), *meant);
    if (asked.jobs.empty() && !what.empty()) return ask.reply->send(problem(404, why_none(service, *meant, what)));
    if (asked.jobs.size() > kMostJobs) asked.jobs.resize(kMostJobs);
  }
  if (asked.jobs.empty() && asked.looks.empty()) {
    return ask.reply->send({200, "application/json", dumped({{"futures", 0}, {"jobs", Json::array()}}), {}});
  }
  service.forecaster().ask(
      std::move(asked), [&service, reply = ask.reply](const Result<Forecasted>& told) { send(service, reply, told); });
}

}  // namespace rota::api

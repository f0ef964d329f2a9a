// /v1/forecast: what may come.
#include <fmt/core.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/job_json.h"
#include "api/routes.h"
#include "base/text.h"
#include "serve/forecaster.h"
#include "serve/told_start.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;
using serve::Forecasted;

constexpr std::int64_t kMostFutures = 10'000;
constexpr std::size_t kMostJobs = 200;  // in one answer
constexpr std::int64_t kMostHours = std::int64_t{24} * 14;

Json start_json(const serve::Answers& answers, const Forecasted::Start& start) {
  Json by = Json::object();
  for (std::size_t i = 0; i < start.by.size(); ++i) {
    if (start.by[i] == kNever) continue;
    by[std::to_string(Forecasted::kShares[i])] = unix_seconds(answers, start.by[i]);
  }
  Json json{{"id", answers.jobs().shown(start.job)}, {"started_by", std::move(by)}};
  if (const serve::JobEntry* entry = answers.jobs().entry(start.job)) {
    json["name"] = entry->about->name;
    json["user"] = entry->about->user;
  }
  if (const Job* job = answers.jobs().job(start.job)) {
    json["processors"] = job->spec.processors;
    if (const Instant promise = serve::told_start(job->promise, answers.now()); promise != kNever)
      json["promise"] = unix_seconds(answers, promise);
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

Json look_json(const serve::Answers& answers, const Forecasted& told, const Forecasted::Look& look) {
  Json json{{"at", unix_seconds(answers, told.now + look.after)},
            {"allocated", figures_json(look.busy)},
            {"waiting", figures_json(look.waiting)}};
  if (!answers.machine().nodes.empty()) json["nodes_on"] = figures_json(look.nodes_on);
  if (answers.machine().tells_watts()) json["watts"] = figures_json(look.milliwatts, 1e-3);
  return json;
}

// What is forecast, and what of the jobs that wait is not.
struct Asked {
  serve::ForecastAsked what = {};
  std::size_t more = 0;      // that are too many for one answer
  std::size_t left_out = 0;  // that are held or will never run
};

void send(const serve::Answers& answers, const std::shared_ptr<Reply>& reply, const Asked& asked,
          const Result<Forecasted>& told) {
  if (!told) return reply->send(problem(503, told.error().message));
  Json json{{"now", unix_seconds(answers, told->now)}, {"futures", told->futures}, {"past_jobs", told->past_jobs},
            {"few_past_jobs", told->few_past_jobs()},  {"weeks", told->weeks},     {"learned_from", told->learned}};
  if (told->looks.empty()) {
    json["jobs"] = Json::array();
    json["more"] = asked.more;
    json["left_out"] = asked.left_out;
  }
  for (const Forecasted::Start& start : told->starts) json["jobs"].push_back(start_json(answers, start));
  for (const Forecasted::Look& look : told->looks) json["looks"].push_back(look_json(answers, *told, look));
  reply->send({200, "application/json", dumped(json), {}});
}

bool waits(const Job* job) {
  return job != nullptr && (job->state == JobState::waiting || job->state == JobState::barred);
}

// All of them, of any user: every user may see the queue.
std::vector<JobId> all_that_wait(const serve::Answers& answers) {
  std::vector<JobId> jobs;
  const auto take = [&](JobId id) { return jobs.push_back(id), true; };
  answers.each_waiting(take);
  answers.each_barred(take);
  return jobs;
}

// Takes out the jobs that will not start by themselves. Puts the others in order of the queue, and behind them those
// that are not queued yet but will be.
void put_in_order(const serve::Answers& answers, std::vector<JobId>& jobs, Asked& asked) {
  std::erase_if(jobs, [&](JobId id) { return !waits(answers.jobs().job(id)); });
  asked.left_out =
      std::erase_if(jobs, [&](JobId id) { return (answers.jobs().job(id)->bars & (kHolds | kNeverAgain)) != 0; });
  answers.put_in_order(jobs);
  if (jobs.size() <= kMostJobs) return;
  asked.more = jobs.size() - kMostJobs;
  jobs.resize(kMostJobs);
}

// Why there is nothing to forecast about the jobs that were meant.
std::string why_none(const Ask& ask, const std::vector<JobId>& meant, const std::string& selector) {
  const serve::Answers& answers = ask.answers();
  if (meant.empty()) {
    const auto absent = answers.jobs().not_there(ask.request.caller, selector);
    if (absent && !absent->empty()) return absent->front().sentence();
    return rota::quoted(selector) + " names no job that waits; `rota queue` lists them.";
  }
  const auto job_of = [&](JobId id) -> const Job& { return *answers.jobs().job(id); };
  const auto is_barred = [&](JobId id) { return job_of(id).state == JobState::barred; };
  const auto is_here = [&](JobId id) { return !job_of(id).gone(); };
  // Where several are meant: one that waits, else one that runs.
  auto one = std::ranges::find_if(meant, is_barred);
  if (one == meant.end()) one = std::ranges::find_if(meant, is_here);
  if (one == meant.end()) one = meant.begin();
  const Job& job = job_of(*one);
  const std::string shown = answers.jobs().shown(*one);
  const std::string which = "job " + shown;
  if (job.gone()) return which + " has ended already.";
  if (job.state != JobState::barred) return which + " has started already.";
  if ((job.bars & kHolds) != 0) return which + " is held: it starts when it is released.";
  return fmt::format(
      "{} will never run: a job that it waits for has ended otherwise than it needs; `rota explain {}` says which.",
      which, shown);
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
  serve::Answers& answers = ask.answers();
  Asked asked;
  if (!read_asked(ask, asked.what)) return;
  asked.what.uid = ask.request.caller.uid;
  asked.what.operates = ask.request.caller.operates;
  const std::string what = ask.path.size() == 3 ? std::string(ask.path[2]) : std::string();
  if (what == "nodes") {
    std::int64_t hours = 24;
    if (!take_number(ask, "hours", hours)) return;
    hours = std::clamp<std::int64_t>(hours, 1, kMostHours);
    const std::int64_t step = (hours + 47) / 48;  // at most 48 looks
    for (std::int64_t hour = step; hour <= hours; hour += step) asked.what.looks.push_back(seconds(hour * 3600));
  } else {
    const Result<std::vector<JobId>> meant =
        what.empty() ? all_that_wait(answers) : answers.jobs().select(ask.request.caller, what);
    if (!meant) return ask.reply->send(problem(400, meant.error().message));
    asked.what.jobs = *meant;
    put_in_order(answers, asked.what.jobs, asked);
    if (asked.what.jobs.empty() && !what.empty()) return ask.reply->send(problem(404, why_none(ask, *meant, what)));
  }
  if (asked.what.jobs.empty() && asked.what.looks.empty()) {
    const Json none{{"futures", 0}, {"jobs", Json::array()}, {"more", 0}, {"left_out", asked.left_out}};
    return ask.reply->send({200, "application/json", dumped(none), {}});
  }
  serve::ForecastAsked question = asked.what;
  answers.forecaster().ask(std::move(question),
                           [&answers, asked = std::move(asked), reply = ask.reply](const Result<Forecasted>& told) {
                             send(answers, reply, asked, told);
                           });
}

}  // namespace rota::api

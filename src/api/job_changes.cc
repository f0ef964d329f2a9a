// POST /v1/jobs/ACTION
#include <fmt/core.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/job_json.h"
#include "api/routes.h"
#include "api/submission_json.h"
#include "base/text.h"
#include "serve/selector.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;

// A change of many jobs. Others are answered between its slices.
struct Bulk {
  struct Row {
    std::string id;
    bool done;
    std::string detail;
  };
  // Rows of one sort, done or not, and jobs that have none of their own.
  struct Outcome {
    std::size_t rows = 0;
    std::size_t more = 0;
    std::string last = {};  // of these, what was said
  };

  Sources sources;
  Request asked;
  std::shared_ptr<Reply> reply;
  ChangeRequest request;
  std::vector<JobId> jobs;            // that are left: changed from the last one on
  std::vector<serve::Absent> absent;  // before the first one was changed
  std::vector<Row> results{};         // in that order
  Outcome done{}, not_done{};
  bool all_done = true;
  bool alone = jobs.size() == 1;
  bool rising = false;     // the last one has the lowest id
  std::size_t left_out{};  // jobs of others, for which one row stands
};

// Each row takes memory until the last one is there, and any user can name jobs by the million.
constexpr std::size_t kMostRows = serve::kMostParts;  // as many as can be named one by one

void leave_out_others(Bulk& bulk) {
  const serve::JobLookup& jobs = bulk.sources.answers().jobs();
  std::size_t others = 0;
  const auto is_left_out = [&](JobId id) {
    const serve::JobEntry* entry = jobs.entry(id);
    return entry != nullptr && !bulk.asked.caller.may_see_inside(entry->about->uid) && ++others > kMostRows;
  };
  bulk.left_out = std::erase_if(bulk.jobs, is_left_out);
}

void add_row(Bulk& bulk, serve::ActionResult result) {
  Bulk::Outcome& of = result.done ? bulk.done : bulk.not_done;
  bulk.all_done = bulk.all_done && result.done;
  if (of.rows < kMostRows) {
    ++of.rows;
    bulk.results.push_back({std::move(result.id), result.done, std::move(result.detail)});
  } else {
    ++of.more;
    of.last = std::move(result.detail);
  }
}

Json row_json(const Bulk::Row& row) {
  Json json{{"id", row.id}, {"done", row.done}};
  if (!row.done) json["detail"] = row.detail;
  return json;
}

// One row for all jobs of a result that have none.
void add_more(const Bulk& bulk, bool done, Json& results) {
  const Bulk::Outcome& of = done ? bulk.done : bulk.not_done;
  if (of.more == 0) return;
  Json json{{"id", bulk.request.ids}, {"done", done}, {"more", of.more}};
  if (!done)
    json["detail"] = fmt::format("{} were not changed; of the last of them: {}",
                                 amount(static_cast<std::int64_t>(of.more), "more job"), of.last);
  results.push_back(std::move(json));
}

void finish(Bulk& bulk) {
  const Ask ask{bulk.sources, bulk.asked, bulk.reply, {}};
  Json results = Json::array();
  if (!bulk.rising) std::ranges::reverse(bulk.results);
  for (const Bulk::Row& row : bulk.results) results.push_back(row_json(row));
  for (const bool done : {true, false}) add_more(bulk, done, results);
  if (bulk.left_out > 0) {
    const std::string detail = amount(static_cast<std::int64_t>(bulk.left_out), "more job") +
                               " of others cannot be changed by you; only their users or an operator may do that.";
    results.push_back({{"id", bulk.request.ids}, {"done", false}, {"more", bulk.left_out}, {"detail", detail}});
    bulk.all_done = false;
  }
  for (const serve::Absent& absent : bulk.absent) {
    results.push_back({{"id", absent.id}, {"done", false}, {"detail", absent.sentence()}});
    bulk.all_done = false;
  }
  if (results.empty())
    return bulk.reply->send(problem(404, fmt::format("no job is meant by {}.", rota::quoted(bulk.request.ids))));
  when_durable(ask, {bulk.all_done ? 200 : 207, "application/json", dumped({{"jobs", std::move(results)}}), {}});
}

// The latest first: a job that is to be cancelled as well does not start in the place of one that has been. Where jobs
// are released or updated, the earliest come first: they start before the others.
void change_some(const std::shared_ptr<Bulk>& bulk) {
  constexpr std::size_t kAtOnce = 1000;
  serve::Service& service = bulk->sources.service;
  for (std::size_t n = 0; n < kAtOnce && !bulk->jobs.empty(); ++n) {
    const JobId id = bulk->jobs.back();
    bulk->jobs.pop_back();
    const Job* job = service.answers().jobs().job(id);
    const bool gone = job == nullptr || job->gone();
    if (gone && !bulk->alone) continue;
    add_row(*bulk, service.jobs().change(bulk->asked.caller, id, bulk->request.change));
  }
  if (bulk->jobs.empty()) return finish(*bulk);
  // Once this is durable: else what is asked meanwhile would wait for the commit of all of it.
  service.when_durable([bulk](const Result<void>&) { bulk->reply->again([bulk] { change_some(bulk); }); });
}

}  // namespace

void change_jobs(const Ask& ask) {
  auto request = read_change(std::string(ask.path[2]), ask.request.body, ask.answers().clock().unix_start());
  if (!request) return ask.reply->send(problem(400, request.error().message));
  auto jobs = ask.answers().jobs().select(ask.request.caller, request->ids);
  if (!jobs) return ask.reply->send(problem(400, jobs.error().message));
  auto absent = ask.answers().jobs().not_there(ask.request.caller, request->ids);
  if (!absent) return ask.reply->send(problem(400, absent.error().message));
  auto bulk = std::make_shared<Bulk>(Bulk{.sources = ask,
                                          .asked = ask.request,
                                          .reply = ask.reply,
                                          .request = std::move(*request),
                                          .jobs = std::move(*jobs),
                                          .absent = std::move(*absent)});
  bulk->asked.body = {};  // it has been read, and the slices may take long
  bulk->asked.large.reset();
  leave_out_others(*bulk);
  using Kind = serve::JobChange::Kind;
  const Kind kind = bulk->request.change.kind;
  bulk->rising = kind == Kind::release || kind == Kind::update;
  if (bulk->rising) std::ranges::reverse(bulk->jobs);
  change_some(bulk);
}

}  // namespace rota::api

// /v1/jobs
#include <fmt/core.h>
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "api/job_json.h"
#include "api/job_output.h"
#include "api/routes.h"
#include "api/submission_json.h"
#include "base/text.h"
#include "process/worker.h"
#include "serve/federation_desk.h"
#include "serve/grace.h"
#include "serve/selector.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;
using serve::Answers;

constexpr const char* kNotAtTerminal =
    "`attach` is for who waits on the computer of the service, and a token may come from any; submit the job without "
    "it.";

void send_json(const Ask& ask, const Json& json, int status = 200) {
  ask.reply->send({status, "application/json", dumped(json), {}});
}

// "12", "12_3" or "last" in a path, as a job that is known or was; nothing after an answer that says what is wrong.
std::optional<JobId> named(const Ask& ask) {
  const std::string id(ask.path[2]);
  std::optional<JobId> found;
  if (id == "last") {
    const std::int64_t last = ask.answers().jobs().number_of_last(ask.request.caller);
    if (last > 0) found = ask.answers().jobs().job_of(last).value_or(std::nullopt);
  } else if (const auto bar = id.find('_'); bar != std::string::npos) {
    const auto array = parse_integer(id.substr(0, bar));
    const auto index = parse_integer(id.substr(bar + 1));
    if (array && index) found = ask.answers().jobs().task_of(*array, *index);
  } else if (const auto number = parse_integer(id)) {
    const auto named = ask.answers().jobs().job_of(*number);
    if (!named) {
      ask.reply->send(problem(503, named.error().message));
      return std::nullopt;
    }
    found = *named;
  }
  if (!found) ask.reply->send(problem(404, fmt::format("there is no job {}.", rota::quoted(id))));
  return found;
}

// With `why` also what there is to explain of a job that has left.
void show(const Ask& ask, JobId id, bool why = false) {
  const Answers& answers = ask.answers();
  if (const serve::JobEntry* entry = answers.jobs().entry(id)) {
    const bool inside = ask.request.caller.may_see_inside(entry->about->uid);
    Json json = job_json(answers, id, Detail::whole, inside);
    const serve::FederationDesk* federation = ask.service.federation();
    if (federation != nullptr) {
      if (auto open = federation->open_auction(id); !open.is_null()) json["auction"].push_back(std::move(open));
    }
    return send_json(ask, json);
  }
  const auto row = answers.jobs().history_of(id);
  if (!row) return ask.reply->send(problem(503, row.error().message));
  if (!*row) return ask.reply->send(problem(404, fmt::format("job {} is not known any more.", ask.path[2])));
  Json json = job_json(answers, **row);
  const auto kept = answers.jobs().about(id);
  if (kept && *kept && (*kept)->about.exclusive) json["exclusive"] = true;
  if (const store::Grace& grace = (*row)->asked.grace; why && grace.over > Duration{0})
    json["why"] = serve::grace_text(grace, false);
  if (ask.request.caller.may_see_inside((*row)->uid)) {
    if (!(*row)->reason.empty()) json["message"] = (*row)->reason;
    if (kept && *kept) add_inside(answers, id, **kept, json);
  }
  send_json(ask, json);
}

// For its user.
void show_text(const Ask& ask, JobId id) {
  const auto payload = ask.answers().jobs().payload(id);
  if (!payload) return ask.reply->send(problem(503, payload.error().message));
  if (!*payload)
    return ask.reply->send(problem(404, fmt::format("what job {} ran is not known any more.", ask.path[2])));
  const auto kept = serve::read_about((*payload)->about);
  if (!kept) return ask.reply->send(problem(503, kept.error().message));
  if (!ask.request.caller.may_see_inside(kept->about.uid)) {
    return ask.reply->send(problem(
        403, fmt::format("job {} is {}'s; only its user or an operator may see that.", ask.path[2], kept->about.user)));
  }
  std::string text = ask.path[3] == "script" ? (*payload)->script : (*payload)->environment;
  if (ask.path[3] == "environment") std::ranges::replace(text, '\0', '\n');
  ask.reply->send({200, "text/plain; charset=utf-8", std::move(text), {}});
}

// ---- lists

struct Filters : ListFilters {
  std::string selector;
  std::set<JobId> ids;  // that it means, where there is one
};

bool suits(const Answers& answers, const Filters& filters, JobId id, const Job& job) {
  const serve::JobEntry& entry = *answers.jobs().entry(id);
  const Machine& machine = answers.machine();
  const auto is = [](const std::vector<std::string>& words, std::string_view word) {
    return words.empty() || std::ranges::binary_search(words, word);
  };
  const std::string_view partition =
      job.spec.partition.valid() ? std::string_view(machine.partitions[job.spec.partition.value].name) : "";
  return is(filters.users, entry.about->user) && is(filters.names, entry.about->name) &&
         is(filters.partitions, partition) && is(filters.states, answers.jobs().state_of(job)) &&
         (filters.selector.empty() || filters.ids.contains(id));
}

bool read_filters(const Ask& ask, Filters& filters) {
  auto read = read_list_filters(ask);
  if (!read) return false;
  static_cast<ListFilters&>(filters) = std::move(*read);
  filters.selector = text_of(ask, "ids").value_or("");
  if (filters.selector.empty()) return true;
  const auto chosen = ask.answers().jobs().select(ask.request.caller, filters.selector);
  if (!chosen) {
    ask.reply->send(problem(400, chosen.error().message));
    return false;
  }
  filters.ids.insert(chosen->begin(), chosen->end());
  return true;
}

// Those that have left, from behind this one on; nothing after an answer that says what is wrong.
std::optional<std::vector<store::HistoryRow>> ended_behind(const Ask& ask, const Filters& filters, std::int64_t after,
                                                           std::int64_t most) {
  store::HistoryQuery query;
  query.limit = most;
  query.after_number = after;
  query.users = filters.users;
  query.partitions = filters.partitions;
  query.names = filters.names;
  query.states = filters.states;
  if (!filters.selector.empty()) {
    if (auto narrowed = narrow(ask, filters.selector, query); !narrowed) {
      ask.reply->send(problem(400, narrowed.error().message));
      return std::nullopt;
    }
  }
  auto rows = ask.answers().jobs().history(query);
  if (rows) return std::move(*rows);
  ask.reply->send(problem(503, rows.error().message));
  return std::nullopt;
}

// Ids that a selector names and that are of no job, known or gone.
Result<Json> unknown_ids(const Ask& ask, const Filters& filters) {
  Json ids = Json::array();
  if (filters.selector.empty()) return ids;
  const auto absent = TRY(ask.answers().jobs().not_there(ask.request.caller, filters.selector));
  for (const serve::Absent& each : absent) {
    if (const std::string& never = each.ended ? each.never : each.id; !never.empty()) ids.push_back(never);
  }
  return ids;
}

// Some of a list that goes on.
class Page {
 public:
  explicit Page(std::int64_t most) : most_(static_cast<std::size_t>(most)) {}

  // False: it is full, and there are more.
  template <class Make>
  bool add(std::int64_t number, const Make& make) {
    if (jobs_.size() == most_) {
      more_ = true;
      return false;
    }
    jobs_.push_back(make());
    last_ = number;
    return true;
  }
  Json json() {
    Json json{{"jobs", std::move(jobs_)}};
    if (more_) json["next"] = std::to_string(last_);
    return json;
  }

 private:
  std::size_t most_;
  Json jobs_ = Json::array();
  std::int64_t last_ = 0;
  bool more_ = false;
};

// ---- why it waits

// As an update takes them.
void add_licences(const Machine& machine, const std::vector<LicenceUse>& licences, Json& change) {
  const auto name = [&](const LicenceUse& use) { return machine.licences[use.licence.value].name; };
  change["licence"] = name(licences.front());
  change["licences"] = licences.front().count;
  for (std::size_t i = 1; i < licences.size(); ++i)
    change["more_licences"].push_back(fmt::format("{}:{}", name(licences[i]), licences[i].count));
}

Json remedy_json(const Answers& answers, const serve::Remedy& remedy) {
  Json change = Json::object();
  if (remedy.limit) change["limit"] = to_seconds(*remedy.limit);
  if (remedy.processors) change["processors"] = *remedy.processors;
  if (remedy.memory) change["memory"] = *remedy.memory;
  if (remedy.accelerators) change["accelerators"] = *remedy.accelerators;
  if (remedy.licences) add_licences(answers.machine(), *remedy.licences, change);
  if (remedy.partition) change["partition"] = answers.machine().partitions[remedy.partition->value].name;
  return {{"change", std::move(change)}, {"text", remedy.text}, {"start", unix_seconds(answers, remedy.start)}};
}

Json ahead_json(const Answers& answers, const serve::Explanation::Ahead& ahead) {
  const Job& job = *answers.jobs().job(ahead.job);
  Json row{{"id", answers.jobs().shown(ahead.job)}, {"processors", job.spec.processors}};
  if (const serve::JobEntry* entry = answers.jobs().entry(ahead.job)) row["user"] = entry->about->user;
  if (job.spec.limit < kLongest) row["limit"] = to_seconds(job.spec.limit);
  if (ahead.promise != kNever) row["expected_start"] = unix_seconds(answers, ahead.promise);
  return row;
}

// When it would start in another order, which is advised or followed where it waits; null: none is.
Json advice_json(const Ask& ask, JobId id, const Job& job) {
  const serve::ManagerBook& watched = ask.service.jobs().watched();
  const Mandates* mandates = watched.mandates();
  const serve::OrderAdvice::Starts* starts = watched.advice().of(id);
  if (mandates == nullptr || starts == nullptr || !job.spec.partition.valid()) return {};
  const serve::Answers& answers = ask.answers();
  const std::string& partition = answers.machine().partitions[job.spec.partition.value].name;
  for (const Mandate& mandate : mandates->report().mandates) {
    if (mandate.partition != partition || mandate.mode < Mode::advise) continue;
    Json json{{"order", mandate.rule}, {"mode", name_of(mandate.mode)}};
    if (starts->own != kNever) json["own_start"] = unix_seconds(answers, starts->own);
    if (starts->advised != kNever) json["start"] = unix_seconds(answers, starts->advised);
    return json;
  }
  return {};
}

void explain(const Ask& ask, JobId id) {
  const Answers& answers = ask.answers();
  const auto known = answers.known(id);
  if (!known) return show(ask, id, true);  // it has left: its row tells how
  const Job& job = known->job;
  const serve::JobEntry* entry = &known->entry;
  const serve::Explanation told = answers.explainer().explain(id);
  Json json{{"id", answers.jobs().shown(id)}, {"state", answers.jobs().state_of(job)}};
  const std::string& message = entry->heard().message;
  if (!message.empty() && ask.request.caller.may_see_inside(entry->about->uid)) json["message"] = message;
  if (told.reason.empty()) {
    const Instant until = job.gone() ? job.end : answers.now();
    const store::Grace grace = answers.grace_of(id, job, until);
    if (grace.over > Duration{0}) {
      json["why"] = serve::grace_text(grace, !job.gone());
    } else if (answers.jobs().ends_at_limit(job)) {
      json["why"] = fmt::format("Its limit has passed: it was told to end, and is killed {} after that.",
                                format_duration(entry->about->kill_wait));
    }
    return send_json(ask, json);
  }
  json["reason"] = told.reason;
  json["why"] = told.why;
  json["facts"] = told.facts;
  json["ahead"] = Json::array();
  for (const auto& ahead : told.ahead) json["ahead"].push_back(ahead_json(answers, ahead));
  json["more_ahead"] = told.more_ahead;
  if (told.promise != kNever) json["promise"] = unix_seconds(answers, told.promise);
  if (told.at_the_latest != kNever) json["at_the_latest"] = unix_seconds(answers, told.at_the_latest);
  if (!told.start_unknown.empty()) json["start_unknown"] = told.start_unknown;
  json["would_start"] = Json::array();
  for (const auto& remedy : told.remedies) json["would_start"].push_back(remedy_json(answers, remedy));
  if (Json advice = advice_json(ask, id, job); !advice.is_null()) json["advice"] = std::move(advice);
  send_json(ask, json);
}

// ---- changes

Json dry_run_json(const Answers& answers, const serve::Trial& trial) {
  Json json{{"jobs", Json::array()}};
  if (trial.expected != kNever) json["expected_start"] = unix_seconds(answers, trial.expected);
  if (trial.latest != kNever) json["at_the_latest"] = unix_seconds(answers, trial.latest);
  if (!trial.start_unknown.empty()) json["start_unknown"] = trial.start_unknown;
  if (trial.reason.empty()) return json;
  json["reason"] = trial.reason;
  json["why"] = trial.why;
  return json;
}

// What the submitter had better know; empty: nothing. By the request alone, so that the same one gets the same answer
// again. `answers`: one for each submission.
Json remarks_on(const serve::Service& service, const std::vector<JobRequest>& submissions, const Json& answers) {
  Json remarks = Json::array();
  const auto wants_mail = [](const JobRequest& submission) {
    return serve::parse_mail_types(submission.mail).value_or(0) != 0;
  };
  if (!service.sends_mail() && std::ranges::any_of(submissions, wants_mail))
    remarks.push_back("This service sends no mail: its configuration has no `mail_command`.");
  for (std::size_t i = 0; i < submissions.size() && i < answers.size(); ++i) {
    if (submissions[i].limit || !submissions[i].attach.socket.empty()) continue;  // wanted, or seen by a person
    const auto spec = serve::spec_of(submissions[i], service.answers().machine());
    if (!spec || spec->limit < kLongest) continue;
    remarks.push_back(
        fmt::format("Job {} has no time limit, and no start behind it can be planned; `-t` gives it one, "
                    "`default_time` of its partition all jobs that ask for none.",
                    answers[i].value("id", "")));
    break;
  }
  return remarks;
}

void submit(const Ask& ask, const Result<SubmissionRequest>& request, const serve::RequestKey& key) {
  serve::JobDesk& desk = ask.service.jobs();
  if (!request) return ask.reply->send(problem(400, request.error().message));
  for (const JobRequest& submission : request->submissions) {
    if (auto may = desk.allowed(ask.request.caller, submission); !may)
      return ask.reply->send(problem(403, serve::which_of(request->submissions, submission) + may.error().message));
    if (ask.request.by_token && !submission.attach.socket.empty())
      return ask.reply->send(problem(400, serve::which_of(request->submissions, submission) + kNotAtTerminal));
    if (!submission.dry_run) continue;
    if (request->many) return ask.reply->send(problem(400, "`dry_run` is for one submission, not for several."));
    const auto trial = desk.try_out(ask.request.caller, submission);
    if (!trial) return ask.reply->send(problem(400, trial.error().message));
    return send_json(ask, dry_run_json(ask.answers(), *trial));
  }
  if (auto suits = ask.answers().jobs().check_key(ask.request.caller, key, serve::Keyed::jobs); !suits)
    return ask.reply->send(problem(422, suits.error().message));
  const auto jobs = desk.submit(ask.request.caller, request->submissions, key);
  if (!jobs) return ask.reply->send(problem(jobs.error().no_room ? 507 : 400, jobs.error().message));
  Json answers = Json::array();
  for (const std::string& shown : ask.answers().jobs().shown(*jobs)) {
    const std::string whole = shown.substr(0, shown.find('_'));
    if (shown != whole && !answers.empty() && answers.back()["id"] == whole) {
      answers.back()["jobs"].push_back(shown);
    } else {
      answers.push_back({{"id", whole}, {"jobs", {shown}}});
    }
  }
  if (Json remarks = remarks_on(ask.service, request->submissions, answers); !answers.empty() && !remarks.empty())
    answers.front()["remarks"] = std::move(remarks);
  when_durable(ask, {201, "application/json", dumped(request->many || answers.empty() ? answers : answers[0]), {}});
}

}  // namespace

// Lists the jobs that are known and, if asked for, those that have left, in one order: a job that leaves between two
// pages keeps its place in it.
void list_jobs(const Ask& ask) {
  Filters filters;
  std::int64_t most = kMostListed;
  std::int64_t after = 0;
  if (!take_number(ask, "limit", most) || !take_number(ask, "after", after) || !read_filters(ask, filters)) return;
  most = std::clamp<std::int64_t>(most, 1, kMostListed);
  bool ended = false, starts = false;
  if (!take_flag(ask, "ended", ended) || !take_flag(ask, "starts", starts)) return;
  Answers& answers = ask.answers();
  if (starts) answers.planned_starts().look();
  const auto left = ended ? ended_behind(ask, filters, after, most + 1) : std::vector<store::HistoryRow>{};
  if (!left) return;
  Page page(most);
  auto row = left->begin();
  const auto add_left = [&](std::int64_t before) {
    for (; row != left->end() && row->number < before; ++row) {
      if (!page.add(row->number, [&] { return job_json(answers, *row); })) return false;
    }
    return true;
  };
  bool room = true;
  answers.each_known_after(after, [&](std::int64_t number, JobId id) {
    const Job& job = *answers.jobs().job(id);
    if ((!ended && job.gone()) || !suits(answers, filters, id, job)) return true;
    room = add_left(number) && page.add(number, [&] {
      Json json = job_json(answers, id, Detail::listed, false);
      if (starts) add_planned_start(answers, id, json);
      return json;
    });
    return room;
  });
  if (room) add_left(INT64_MAX);
  Json json = page.json();
  auto unknown = after <= 0 ? unknown_ids(ask, filters) : Json();
  if (!unknown) return ask.reply->send(problem(400, unknown.error().message));
  if (!unknown->empty()) json["unknown"] = std::move(*unknown);
  send_json(ask, json);
}

void submit_jobs(const Ask& ask) {
  const std::int64_t unix_start = ask.answers().clock().unix_start();
  if (ask.request.body.size() <= kLargeBody)
    return submit(ask, read_submissions(ask.request.body, unix_start), request_key(ask.request));
  ask.worker.run([sources = Sources(ask), unix_start, asked = std::make_shared<const Request>(ask.request),
                  reply = ask.reply] {
    const auto read = std::make_shared<const Result<SubmissionRequest>>(read_submissions(asked->body, unix_start));
    return [sources, asked, reply, read] {
      reply->again([sources, asked, reply, read] { submit({sources, *asked, reply, {}}, *read, request_key(*asked)); });
    };
  });
}

void answer_job(const Ask& ask) {
  if (const auto id = named(ask)) show(ask, *id);
}

void answer_job_text(const Ask& ask) {
  if (const auto id = named(ask)) show_text(ask, *id);
}

void answer_job_output(const Ask& ask) {
  if (const auto id = named(ask)) send_output(ask, *id);
}

void explain_job(const Ask& ask) {
  if (const auto id = named(ask)) explain(ask, *id);
}

}  // namespace rota::api

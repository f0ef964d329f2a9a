#include "api/job_json.h"

#include <fmt/core.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_bytes.h"
#include "base/text.h"
#include "serve/told_start.h"

namespace rota::api {
namespace {

using Json = nlohmann::json;
using serve::Answers;
using serve::KnownJob;

void add_requests(const Machine& machine, const JobSpec& spec, Json& json) {
  json["processors"] = spec.processors;
  if (spec.nodes > 0) json["nodes"] = spec.nodes;
  if (spec.memory > 0) json["memory"] = spec.memory;
  if (spec.accelerators > 0) json["accelerators"] = spec.accelerators;
  if (spec.accelerator_type.valid()) json["accelerator_type"] = machine.accelerator_types[spec.accelerator_type.value];
  if (spec.licence.valid()) {
    json["licence"] = machine.licences[spec.licence.value].name;
    json["licences"] = spec.licences;
    for (const LicenceUse& also : spec.more_licences.all())
      json["more_licences"].push_back(fmt::format("{}:{}", machine.licences[also.licence.value].name, also.count));
  }
  if (spec.partition.valid()) json["partition"] = machine.partitions[spec.partition.value].name;
  if (spec.limit < kLongest) json["limit"] = to_seconds(spec.limit);
  json["priority"] = spec.priority;
}

void add_name(const serve::About& about, std::int64_t number, std::int64_t index, Json& json) {
  if (about.array > 0) {
    json["id"] = serve::shown_task(about.array, index);
    json["array"] = std::to_string(about.array);
    json["index"] = index;
  } else {
    json["id"] = std::to_string(number);
  }
  json["name"] = about.name;
  json["user"] = about.user;
  json["uid"] = about.uid;
  if (!about.comment.empty()) json["comment"] = about.comment;
  if (!about.after.empty()) json["after"] = about.after;
  for (const auto& [wish, text] : about.texts) {
    json[wish] = wish == "auction" ? Json::parse(text, nullptr, false) : Json(text);
  }
}

// A job that fails without a status has never been a process, or how that ended is not known.
void add_status(std::string_view state, const serve::ProcessEnd& end, Json& json) {
  if (end.exit_code == 0 && end.signal == 0 && state != "COMPLETED" && state != "CANCELLED" && state != "TIMEOUT")
    return;
  json["exit_code"] = end.exit_code;
  if (end.signal > 0) json["signal"] = end.signal;
}

// Adds what the latest dispatch used.
void add_use(const JobUse& used, std::uint32_t processors, Json& json) {
  if (used.memory == 0) return;
  json["cpu_time"] = to_seconds(used.processors);
  if (used.in > Duration{0}) json["cpu_time_held"] = to_seconds(used.in * processors);
  json["peak_memory"] = used.memory;
}

void add_grace(const store::Grace& grace, Json& json) {
  if (grace.over <= Duration{0}) return;
  json["grace"] = true;
  json["over_limit"] = to_seconds(grace.over);
  json["grace_rule"] = grace.rule;
  json["grace_why"] = grace.why;
}

void add_running(const Answers& answers, JobId id, const KnownJob& known, Json& json) {
  const Job& job = known.job;
  json["start"] = unix_seconds(answers, job.start);
  const Instant now = answers.now();
  const Duration stood = job.stood_by(now, known.suspended_at);
  json["elapsed"] = to_seconds(std::max(Duration{0}, now - job.start - stood));
  if (stood > Duration{0}) json["suspended"] = to_seconds(stood);
  if (job.spec.limit < kLongest)  // later with each moment for which it goes on standing still
    json["ends_by"] = unix_seconds(answers, job.start + (job.spec.limit - job.done) + stood);
  const std::string nodes = answers.jobs().nodes_of(id);
  json["node_list"] = nodes.empty() ? answers.machine().name : nodes;
  json["nodes"] = known.nodes;
  if (job.spec.accelerators > 0) {
    for (const auto& [node, numbers] : answers.accelerators_of(id))
      json["accelerators_held"][answers.machine().nodes[node.value].name] = numbers;
  }
  if (job.suspended()) {
    const bool by_operator = (job.suspended_by & kHeldByOperator) != 0;
    json["suspended_by"] = by_operator ? "operator" : "user";
    json["suspended_since"] = unix_seconds(answers, known.suspended_at);
  }
  add_grace(answers.grace_of(id, job, now), json);
}

void add_waiting(const Answers& answers, JobId id, const KnownJob& known, Detail detail, Json& json) {
  const bool listed = detail == Detail::listed;
  const auto reason = answers.reasons().reason_of(id, listed ? serve::Telling::word : serve::Telling::sentence);
  json["reason"] = reason.word;
  if (!listed) json["why"] = reason.sentence;
  if (const Instant start = serve::told_start(known.job.promise, answers.now()); start != kNever)
    json["expected_start"] = unix_seconds(answers, start);
  if (known.throttled) json["throttle"] = known.throttle;
  if (known.begin > kEpoch) json["begin"] = unix_seconds(answers, known.begin);
}

}  // namespace

std::string dumped(const Json& json) { return json_text(json); }

double unix_seconds(const Answers& answers, Instant at) {
  return to_seconds(Duration{answers.clock().unix_milliseconds(at)});
}

Json job_json(const Answers& answers, JobId id, Detail detail, bool inside) {
  const KnownJob known = *answers.known(id);
  const Job& job = known.job;
  const serve::JobEntry& entry = known.entry;
  Json json = Json::object();
  add_name(*entry.about, job.spec.number, entry.index, json);
  json["state"] = answers.jobs().state_of(job);
  add_requests(answers.machine(), job.spec, json);
  if (entry.about->exclusive) json["exclusive"] = true;
  json["submit"] = unix_seconds(answers, job.spec.submit);
  if (job.state == JobState::running) add_running(answers, id, known, json);
  if (job.state == JobState::waiting || job.state == JobState::barred) add_waiting(answers, id, known, detail, json);
  if (job.gone()) {
    if (job.end != kNever) json["end"] = unix_seconds(answers, job.end);
    if (job.start != kNever) {  // one that was cancelled may have run, too
      json["start"] = unix_seconds(answers, job.start);
      if (!entry.never_again) add_status(answers.jobs().state_of(job), serve::end_of(entry.status), json);
      add_use(entry.heard().used, job.spec.processors, json);
      if (job.end != kNever) add_grace(answers.grace_of(id, job, job.end), json);
    }
  }
  const int restarts = serve::restarts_of(job);
  if (restarts > 0) json["restarts"] = restarts;
  const std::string& message = entry.heard().message;
  if (!message.empty() && inside) json["message"] = message;
  if (detail == Detail::whole && inside) {
    if (const auto kept = answers.jobs().about(id); kept && *kept) add_inside(answers, id, **kept, json);
  }
  return json;
}

void add_planned_start(Answers& answers, JobId id, Json& json) {
  const Instant start = answers.planned_starts().of(id);
  if (start != kNever && answers.known(id)->job.state == JobState::waiting)
    json["starts_by"] = unix_seconds(answers, start);
}

void add_inside(const Answers& answers, JobId id, const serve::KeptAbout& kept, Json& json) {
  if (kept.about.folder.empty()) return;  // another manager has it: what it runs is not known
  const std::string nodes = json.value("node_list", answers.machine().name);
  const int restarts = json.value("restarts", 0);
  json["folder"] = kept.about.folder;
  json["command"] = kept.about.command;
  const bool to_terminal = kept.about.writes_to_terminal();
  if (!kept.about.attach.socket.empty()) json["attached"] = true;
  if (!to_terminal || kept.about.attach.keep)
    json["output"] = answers.jobs().output_path(id, kept, false, restarts, nodes);
  if (!kept.about.error.empty()) json["error"] = answers.jobs().output_path(id, kept, true, restarts, nodes);
  if (!kept.about.input.empty()) json["input"] = kept.about.input;
}

namespace {

void add_rare_requests(const store::RareRequest& asked, Json& json) {
  if (asked.accelerators > 0) json["accelerators"] = asked.accelerators;
  if (!asked.accelerator_type.empty()) json["accelerator_type"] = asked.accelerator_type;
  if (asked.licence.empty()) return;
  json["licence"] = asked.licence;
  json["licences"] = asked.licences;
  if (!asked.more_licences.empty()) json["more_licences"] = asked.more_licences;
}

}  // namespace

Json job_json(const Answers& answers, const store::HistoryRow& row) {
  Json json = Json::object();
  serve::About about;
  about.array = row.array;
  about.name = row.name;
  about.user = row.user;
  about.uid = row.uid;
  about.texts = row.asked.texts;
  add_name(about, row.number, row.array_index, json);
  json["state"] = row.state;
  json["processors"] = row.processors;
  if (row.node_count > 0) json["nodes"] = row.node_count;
  if (row.memory > 0) json["memory"] = row.memory;
  add_rare_requests(row.asked, json);
  if (!row.partition.empty()) json["partition"] = row.partition;
  if (row.limit < kLongest) json["limit"] = to_seconds(row.limit);
  json["submit"] = unix_seconds(answers, row.submit);
  if (row.start != kNever) {
    json["start"] = unix_seconds(answers, row.start);
    const Duration stood = row.asked.suspended;
    json["elapsed"] = to_seconds(std::max(Duration{0}, row.end - row.start - row.asked.waited_again - stood));
    if (stood > Duration{0}) json["suspended"] = to_seconds(stood);
    if (row.asked.earlier > Duration{0}) json["earlier_elapsed"] = to_seconds(row.asked.earlier);
    json["node_list"] = row.nodes.empty() ? answers.machine().name : row.nodes;
    const auto nodes = parse_host_list(row.nodes);
    json["nodes"] = row.nodes.empty() || !nodes ? 1 : nodes->size();
    if (row.asked.waited_again == Duration{0}) add_status(row.state, {row.exit_code, row.signal}, json);
    add_use(row.used, row.processors, json);
    add_grace(row.asked.grace, json);
  }
  json["end"] = unix_seconds(answers, row.end);
  if (row.restarts > 0) json["restarts"] = row.restarts;
  return json;
}

}  // namespace rota::api

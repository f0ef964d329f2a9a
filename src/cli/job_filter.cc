#include "cli/job_filter.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/text.h"
#include "cli/job_state.h"
#include "cli/printed.h"

namespace rota::cli {
namespace {

using Question = std::map<std::string, std::string>;

// The service is asked for one user, partition and name at a time: of a list, one question for each.
std::vector<Question> for_each_of(const std::vector<Question>& questions, const char* name) {
  std::vector<Question> all;
  for (const Question& question : questions) {
    std::set<std::string, std::less<>> seen;
    for (const std::string_view part : split(question.at(name), ',')) {
      if (!seen.emplace(trimmed(part)).second) continue;
      all.push_back(question);
      all.back()[name] = trimmed(part);
    }
  }
  return all;
}

// Where nothing is listed: a name that nobody and no partition has.
void tell_unknown(const Service& service, const Question& asked) {
  for (const std::string_view part : split(asked.at("user"), ',')) {
    const std::string user(trimmed(part));
    if (!user.empty() && !service.remote() && ::getpwnam(user.c_str()) == nullptr)
      remark("rota: this computer knows no user " + rota::quoted(user) + ".");
  }
  if (asked.at("partition").empty()) return;
  const auto answer = service.get("/v1/partitions");
  if (!answer) return;
  for (const std::string_view part : split(asked.at("partition"), ',')) {
    const auto is = [&](const Json& row) { return text_of(row, "name") == trimmed(part); };
    if (std::ranges::none_of(list_of(*answer, "partitions"), is))
      remark("rota: there is no partition " + rota::quoted(trimmed(part)) + "; `rota partitions` lists them.");
  }
}

}  // namespace

std::string who_asks() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry == nullptr ? std::to_string(::geteuid()) : entry->pw_name;
}

void JobFilter::declare(CLI::App& command) {
  command.add_option("JOB", jobs, kSelectorHelp);
  command.add_option("-u,--user", user, "only of this user, or of several with commas")->type_name("NAME");
  command.add_flag("--me", me, "only of who asks");
  command.add_option("-t,--state,--states", state, "only in this state, as PD or RUNNING, or in several with commas")
      ->type_name("STATE");
  command.add_option("-p,--partition", partition, "only in this partition, or in several with commas")
      ->type_name("NAME");
  command.add_option("-n,--name", name, "only of this name, or of several with commas")->type_name("NAME");
}

Result<std::map<std::string, std::string>> JobFilter::query() const {
  std::map<std::string, std::string> out{
      {"user", me ? who_asks() : user}, {"partition", partition}, {"name", name}, {"ids", joined(jobs)}};
  if (state.empty()) return out;
  for (const std::string_view each : split(state, ',')) {
    if (each == "all" || each == "ALL") {
      out["state"].clear();
      out["ended"] = "yes";
      return out;
    }
    const std::string full = state_named(std::string(trimmed(each)));
    if (full.empty())
      return fail(rota::quoted(each) +
                  " is no state of a job; write all, or one such as PENDING, RUNNING, COMPLETED or FAILED.");
    out["state"] += (out["state"].empty() ? "" : ",") + full;
    if (has_ended(full)) out["ended"] = "yes";
  }
  return out;
}

Result<JobFilter> for_history(JobFilter filter) {
  const auto several = [](const std::string& word) {
    return fail("the history is asked for one " + word + " at a time; leave out all but one.");
  };
  std::vector<std::string> ids;
  const std::string all = joined(filter.jobs);
  for (const std::string_view part : split(all, ',')) {
    const std::string word(trimmed(part.substr(0, part.find('='))));
    const std::string value = part.contains('=') ? std::string(trimmed(part.substr(part.find('=') + 1))) : "";
    std::string* const into = value.empty()         ? nullptr
                              : word == "user"      ? &filter.user
                              : word == "name"      ? &filter.name
                              : word == "partition" ? &filter.partition
                              : word == "state"     ? &filter.state
                                                    : nullptr;
    if (into == nullptr) {
      if (word != "all" || part.contains('=')) ids.emplace_back(part);
    } else if (word == "state") {
      *into += (into->empty() ? "" : ",") + value;
    } else if ((!into->empty() && *into != value) || (word == "user" && filter.me)) {
      return several(word);
    } else {
      *into = value;
    }
  }
  for (const auto& [word, value] :
       {std::pair{"user", &filter.user}, std::pair{"partition", &filter.partition}, std::pair{"name", &filter.name}}) {
    if (value->contains(',')) return several(word);
  }
  filter.jobs = std::move(ids);
  return filter;
}

Result<Json> JobFilter::ask(const Service& service, const std::map<std::string, std::string>& more) const {
  const auto what = query();
  if (!what) return std::unexpected(what.error());
  std::vector<std::map<std::string, std::string>> questions{*what};
  for (const char* word : {"user", "partition", "name"}) questions = for_each_of(questions, word);
  Json all = Json::array();
  for (auto& question : questions) {
    question.insert(more.begin(), more.end());
    auto some = service.rows("/v1/jobs", question, "jobs");
    if (!some) return some;
    for (Json& job : *some) all.push_back(std::move(job));
  }
  if (questions.size() > 1) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Json& a, const Json& b) { return number_of(a, "submit") < number_of(b, "submit"); });
  }
  if (all.empty()) tell_unknown(service, *what);
  return all;
}

std::string joined(const std::vector<std::string>& selectors) {
  std::string out;
  for (const std::string& each : selectors) out += (out.empty() ? "" : ",") + each;
  return out;
}

}  // namespace rota::cli

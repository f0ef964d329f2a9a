#include "cli/job_filter.h"

#include <pwd.h>
#include <unistd.h>

#include <string_view>

#include "base/text.h"
#include "cli/job_state.h"

namespace rota::cli {

std::string who_asks() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry == nullptr ? std::to_string(::geteuid()) : entry->pw_name;
}

void JobFilter::declare(CLI::App& command) {
  command.add_option("JOB", jobs, kSelectorHelp);
  command.add_option("-u,--user", user, "only of this user")->type_name("NAME");
  command.add_flag("--me", me, "only of who asks");
  command.add_option("-t,--state,--states", state, "only in this state, as PD or RUNNING, or in several with commas")
      ->type_name("STATE");
  command.add_option("-p,--partition", partition, "only in this partition")->type_name("NAME");
  command.add_option("-n,--name", name, "only of this name")->type_name("NAME");
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
      return fail("the history is asked for one " + word + " at a time; leave out all but one.");
    } else {
      *into = value;
    }
  }
  filter.jobs = std::move(ids);
  return filter;
}

Result<Json> JobFilter::ask(const Service& service, const std::map<std::string, std::string>& more) const {
  auto what = query();
  if (!what) return std::unexpected(what.error());
  what->insert(more.begin(), more.end());
  return service.rows("/v1/jobs", *what, "jobs");
}

std::string joined(const std::vector<std::string>& selectors) {
  std::string out;
  for (const std::string& each : selectors) out += (out.empty() ? "" : ",") + each;
  return out;
}

}  // namespace rota::cli

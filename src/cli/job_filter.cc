#include "cli/job_filter.h"

#include <pwd.h>
#include <unistd.h>

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

#include "cli/live/watch.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/text.h"
#include "cli/live/job_state.h"
#include "cli/printed.h"

namespace rota::cli {
namespace {

constexpr std::int64_t kLongestPause = 1000;  // milliseconds
constexpr std::size_t kAtOnce = 200;          // ids in one question

// Waits for a job that has ended otherwise than it needs.
bool never_starts(const Json& job) { return text_of(job, "reason") == "DependencyNeverSatisfied"; }

void tell_stuck(const std::vector<std::string>& ids) {
  if (ids.empty()) return;
  const auto more = static_cast<std::int64_t>(ids.size()) - 1;
  remark(
      fmt::format("rota: Job {}{} can never start: what must come first has ended otherwise; `rota explain {}` says "
                  "what, `rota cancel` takes it from the queue.",
                  ids.front(), more == 0 ? "" : " and " + amount(more, "more job"), ids.front()));
}

}  // namespace

void Pauses::pause() {
  const std::timespec time{.tv_sec = milliseconds_ / 1000, .tv_nsec = milliseconds_ % 1000 * 1'000'000};
  ::nanosleep(&time, nullptr);
  milliseconds_ = std::min(milliseconds_ * 3 / 2, kLongestPause);
}

Result<Json> jobs_of(const Service& service, const std::vector<std::string>& ids) {
  Json all = Json::array();
  for (std::size_t first = 0; first < ids.size(); first += kAtOnce) {
    std::string names;
    for (std::size_t i = first; i < std::min(first + kAtOnce, ids.size()); ++i)
      names += (names.empty() ? "" : ",") + ids[i];
    auto some = service.rows("/v1/jobs", {{"ids", names}, {"ended", "yes"}}, "jobs");
    if (!some) return some;
    for (Json& job : *some) all.push_back(std::move(job));
  }
  return all;
}

Result<Json> ended_jobs(const Service& service, const std::vector<std::string>& ids) {
  service.follow();
  std::vector<std::string> open = ids;
  Json ended = Json::array();
  for (Pauses pauses;; pauses.pause()) {
    auto jobs = jobs_of(service, open);
    if (!jobs) return jobs;
    std::vector<std::string> left, stuck;
    for (Json& job : *jobs) {
      if (never_starts(job)) stuck.push_back(text_of(job, "id"));
      if (has_ended(text_of(job, "state")) || never_starts(job)) {
        ended.push_back(std::move(job));
      } else {
        left.push_back(text_of(job, "id"));
      }
    }
    if (jobs->size() < open.size())
      return fail("The service no longer knows {} of those waited for; `rota history` tells what became of them.",
                  amount(static_cast<std::int64_t>(open.size() - jobs->size()), "job"));
    tell_stuck(stuck);
    if (left.empty()) return ended;
    open = std::move(left);
  }
}

std::string why_it_waits(const Json& job) {
  if (text_of(job, "state") != "PENDING") return "";
  return fmt::format("job {} waits: {}", text_of(job, "id"), text_of(job, "why"));
}

void tell_what_was_said(const Service& service, const Json& jobs) {
  constexpr std::size_t kMostTold = 5;
  std::size_t failed = 0;
  for (const Json& job : jobs) {
    const std::string state = text_of(job, "state");
    const bool by_itself = state == "FAILED" && (number_of(job, "exit_code") > 0 || number_of(job, "signal") > 0);
    if (!has_ended(state) || state == "COMPLETED" || by_itself) continue;
    if (++failed > kMostTold) continue;
    const std::string id = text_of(job, "id");
    const auto known = service.get("/v1/jobs/" + percent_encoded(id));
    const std::string message = known ? text_of(*known, "message") : "";
    remark(fmt::format("rota: job {} is {}{}", id, state, message.empty() ? "." : ": " + message));
  }
  if (failed > kMostTold)
    remark(fmt::format("rota: and {} did not end well.",
                       amount(static_cast<std::int64_t>(failed - kMostTold), "more job")));
}

int worst_exit_code(const Json& jobs) {
  int worst = 0;
  for (const Json& job : jobs) worst = std::max(worst, exit_code_of(job));
  return worst;
}

JobOutput::JobOutput(const Service& service, const std::string& id, const std::string& stream)
    : service_(service), target_(fmt::format("/v1/jobs/{}/output?stream={}&from=", percent_encoded(id), stream)) {}

Result<bool> JobOutput::copy(std::FILE* to) {
  for (;;) {
    auto answer = TRY(service_.text(target_ + std::to_string(from_)));
    const std::string& body = answer.body;
    from_ += body.size();
    if (std::fwrite(body.data(), 1, body.size(), to) != body.size() || std::fflush(to) != 0)
      return fail("The output cannot be written on: {}.", std::strerror(errno));
    if (body.empty()) return answer.headers["rota-ended"] == "yes";
  }
}

}  // namespace rota::cli

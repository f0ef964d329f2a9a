#include "cli/live/array_summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "base/letters.h"
#include "base/text.h"
#include "cli/live/job_state.h"
#include "cli/live/queue_format.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

constexpr const char* kFailedState = "FAILED";

// What the user has to look at stands first.
constexpr std::array kShown{kFailedState, "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "CANCELLED", "SUSPENDED",
                            "COMPLETING", "RUNNING", "CONFIGURING",   "PENDING",   "COMPLETED"};

std::map<std::string, std::int64_t> counts_of(const Json& tasks) {
  std::map<std::string, std::int64_t> counts;
  for (const Json& task : tasks) ++counts[text_of(task, "state")];
  return counts;
}

std::string line(std::string head, const std::string& text) {
  head.resize(std::max<std::size_t>(head.size() + 2, 12), ' ');
  return text.empty() ? "" : one_line(head + text) + "\n";
}

// "OUT_OF_MEMORY" as "out of memory".
std::string in_words(std::string_view state) {
  std::string words = lower(state);
  std::ranges::replace(words, '_', ' ');
  return words;
}

// How many tasks failed, by what they exited with.
std::string exits_of(const Json& tasks) {
  std::map<int, std::int64_t> codes;
  for (const Json& task : tasks) {
    if (text_of(task, "state") == kFailedState) ++codes[exit_code_of(task)];
  }
  std::string out;
  for (const auto& [code, count] : codes)
    out += (out.empty() ? "" : ", ") + std::string("exit code ") + std::to_string(code) +
           (codes.size() == 1 ? "" : ": " + std::to_string(count));
  return out.empty() ? "" : fmt::format(" ({})", out);
}

}  // namespace

Result<std::optional<Json>> tasks_of_array(const Service& service, const std::string& id, const Json& job) {
  const std::string array = text_of(job, "array");
  if (array.empty() || id.find('_') != std::string::npos) return std::nullopt;
  auto tasks = TRY(service.rows("/v1/jobs", {{"ids", array}, {"ended", "yes"}}, "jobs"));
  if (tasks.size() < 2) return std::nullopt;
  return std::optional(std::move(tasks));
}

Json array_json(const Json& tasks) {
  Json json{
      {"id", text_of(tasks[0], "array")}, {"name", text_of(tasks[0], "name")}, {"user", text_of(tasks[0], "user")}};
  for (const auto& [state, count] : counts_of(tasks)) json["tasks"][state] = count;
  json["jobs"] = tasks;
  return json;
}

std::string tasks_in(const Json& tasks, const std::string& state) {
  std::vector<std::int64_t> indexes;
  for (const Json& task : tasks) {
    if (text_of(task, "state") == state) indexes.push_back(static_cast<std::int64_t>(number_of(task, "index")));
  }
  std::ranges::sort(indexes);
  if (indexes.empty()) return "";
  const std::string ranges = ranges_text(indexes);
  return fmt::format("{}_{}", text_of(tasks[0], "array"), indexes.size() == 1 ? ranges : fmt::format("[{}]", ranges));
}

const Json* first_waiting(const Json& tasks) {
  const Json* first = nullptr;
  for (const Json& task : tasks) {
    if (text_of(task, "state") != "PENDING") continue;
    const bool last_of_all = text_of(task, "reason") == "JobArrayTaskLimit";
    if (first == nullptr || (!last_of_all && text_of(*first, "reason") == "JobArrayTaskLimit")) first = &task;
  }
  return first;
}

std::string array_text(const Json& tasks) {
  const Json& any = tasks[0];
  const auto counts = counts_of(tasks);
  std::string in_all;
  double submit = number_of(any, "submit"), most = 0;
  for (const Json& task : tasks) most = std::max(most, number_of(task, "throttle"));
  for (const char* state : kShown) {
    const auto found = counts.find(state);
    if (found != counts.end())
      in_all += fmt::format("{}{} {}", in_all.empty() ? "" : ", ", grouped(found->second), state);
  }
  std::string out = line("id", text_of(any, "array")) + line("name", text_of(any, "name")) +
                    line("user", text_of(any, "user")) +
                    line("tasks", fmt::format("{}: {}", grouped(static_cast<std::int64_t>(tasks.size())), in_all));
  if (most > 0) out += line("at a time", grouped(static_cast<std::int64_t>(most)));
  out += line("submit", time_text(submit));
  for (const char* state : kShown) {
    const std::string those = tasks_in(tasks, state);
    if (those.empty()) continue;
    const bool failed = std::string_view(state) == kFailedState;
    out += line(in_words(state), those + (failed ? exits_of(tasks) : ""));
  }
  const Json* first = first_waiting(tasks);
  if (first != nullptr)
    out += line("reason", fmt::format("({}) of {}", text_of(*first, "reason"), text_of(*first, "id")));
  const std::string one = text_of(first != nullptr ? *first : any, "id");
  const bool over = std::ranges::all_of(tasks, [](const Json& task) { return has_ended(text_of(task, "state")); });
  return fmt::format(
      "{}\n`rota job {}` tells all of one task, `rota logs {}` what it has written, and `rota {}{}` lists them one by "
      "one.\n",
      out, one, one, over ? "history " : "queue -r ", text_of(any, "array"));
}

}  // namespace rota::cli

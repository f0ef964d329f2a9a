#include "cli/live/explained.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/json_bytes.h"
#include "base/text.h"
#include "cli/help.h"
#include "cli/live/job_use.h"
#include "cli/when.h"

namespace rota::cli {
namespace {

// A number without a fraction where it has none.
std::string plain_number(double number) {
  if (number == std::floor(number) && std::abs(number) < 1e15) return std::to_string(static_cast<std::int64_t>(number));
  std::string out = std::to_string(number);
  while (out.ends_with('0')) out.pop_back();
  return out;
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::ranges::find(names, name) != names.end();
}

std::string value_text(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number()) {
    const double number = value.get<double>();
    if (is_one_of(name, {"submit", "begin", "start", "end", "expected_start", "ends_by", "suspended_since"}))
      return time_text(number);
    if (is_one_of(name,
                  {"limit", "elapsed", "suspended", "earlier_elapsed", "over_limit", "kill_wait", "warning_time"}))
      return limit_text(number);
    return name == "memory" ? memory_text(number) : plain_number(number);
  }
  std::string out;
  if (name == "accelerators_held") return accelerators_held({{name, value}});
  if (!value.is_array()) return json_text(value);
  for (const Json& each : value) out += (out.empty() ? "" : " ") + value_text("", each);
  return out;
}

// What people look for first stands first; all else as it comes.
std::vector<std::string> in_order(const Json& job) {
  std::vector<std::string> names;
  for (const char* name : {"id",
                           "name",
                           "user",
                           "state",
                           "reason",
                           "why",
                           "message",
                           "partition",
                           "processors",
                           "nodes",
                           "memory",
                           "limit",
                           "submit",
                           "begin",
                           "expected_start",
                           "start",
                           "end",
                           "elapsed",
                           "grace",
                           "over_limit",
                           "grace_rule",
                           "grace_why",
                           "cpu_time",
                           "peak_memory",
                           "node_list",
                           "accelerators_held",
                           "exit_code",
                           "signal"}) {
    if (job.contains(name)) names.emplace_back(name);
  }
  for (const auto& [name, value] : job.items()) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string paragraph(const std::string& text, std::size_t width) { return wrapped(one_line(text), width, 0) + "\n"; }

std::string item(const std::string& text, std::size_t width) {
  return fmt::format("  - {}\n", wrapped(one_line(text), width, 4));
}

std::string ahead_text(const Json& job) {
  std::string out = fmt::format("job {} of {}", text_of(job, "id"), text_of(job, "user"));
  if (has_number(job, "processors"))
    out += ", " + amount(static_cast<std::int64_t>(number_of(job, "processors")), "processor");
  if (has_number(job, "limit")) out += " for " + spoken_time(number_of(job, "limit"));
  if (has_number(job, "expected_start")) out += ", expected at " + time_text(number_of(job, "expected_start"));
  return out;
}

}  // namespace

std::string members_text(const Json& job) {
  std::vector<std::pair<std::string, std::string>> lines;
  std::size_t width = 0;
  for (const std::string& name : in_order(job)) {
    if (name == "cpu_time_held") continue;  // stands behind what was used of it
    const std::string value = name == "cpu_time"      ? cpu_use(job)
                              : name == "peak_memory" ? memory_use(job)
                                                      : value_text(name, job.at(name));
    if (value.empty()) continue;
    width = std::max(width, name.size());
    lines.emplace_back(name, value);
    std::ranges::replace(lines.back().first, '_', ' ');
  }
  std::string out;
  for (auto& [head, value] : lines) {
    head.resize(width + 2, ' ');
    out += one_line(head + value) + "\n";
  }
  return out;
}

// When it would start in another order than the manager's, and in its own.
std::string advice_text(const Json& advice) {
  const auto at = [&](const char* name) {
    return has_number(advice, name) ? "at " + time_text(number_of(advice, name))
                                    : std::string("in four weeks or later");
  };
  return fmt::format(
      "In the order {}, which is {}, it would start {}; in the manager's own {}. So it is in half of the "
      "rehearsals of this queue, in which no job comes.",
      text_of(advice, "order"), text_of(advice, "mode") == "act" ? "followed here" : "advised", at("start"),
      at("own_start"));
}

std::string explained(const Json& answer, std::size_t width) {
  const std::string state = text_of(answer, "state"), why = text_of(answer, "why");
  std::string out = fmt::format("Job {} is {}", text_of(answer, "id"), state);
  if (!text_of(answer, "reason").empty()) out += fmt::format(" ({})", text_of(answer, "reason"));
  out = paragraph(out + (why.empty() ? "." : ": " + why), width);
  if (const std::string message = text_of(answer, "message"); !message.empty()) out += paragraph(message, width);
  if (has_number(answer, "promise"))
    out += paragraph(fmt::format("It is promised a start at {}.", time_text(number_of(answer, "promise"))), width);
  if (!has_number(answer, "promise") && has_number(answer, "at_the_latest")) {
    out +=
        paragraph(fmt::format("If every job takes its whole limit and no other job comes before it, it starts at {}.",
                              time_text(number_of(answer, "at_the_latest"))),
                  width);
  }
  if (const std::string unknown = text_of(answer, "start_unknown"); !unknown.empty())
    out += paragraph(fmt::format("When it starts is not known: {}.", unknown), width);
  if (const auto advice = answer.find("advice"); advice != answer.end()) out += paragraph(advice_text(*advice), width);
  if (!list_of(answer, "ahead").empty()) out += "\nAhead of it:\n";
  for (const Json& job : list_of(answer, "ahead")) out += item(ahead_text(job), width);
  if (const auto more = static_cast<std::int64_t>(number_of(answer, "more_ahead")); more > 0)
    out += item("and " + amount(more, "more job"), width);
  if (!list_of(answer, "would_start").empty()) out += "\nWhat would change it, tried on a copy of the state:\n";
  for (const Json& change : list_of(answer, "would_start")) {
    const std::string start =
        has_number(change, "start") ? fmt::format(" (at {})", time_text(number_of(change, "start"))) : "";
    out += item(fmt::format("it {}{}", text_of(change, "text"), start), width);
  }
  if (!list_of(answer, "facts").empty()) out += "\nWhat this rests on:\n";
  for (const Json& fact : list_of(answer, "facts")) {
    if (fact.is_string()) out += item(fact.get<std::string>(), width);
  }
  return out;
}

}  // namespace rota::cli

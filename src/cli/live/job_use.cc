#include "cli/live/job_use.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "cli/when.h"

namespace rota::cli {
namespace {

constexpr const char* kUnknown = "-";
constexpr const char* kCpuUsed = "cpu_time";
constexpr const char* kCpuHeld = "cpu_time_held";
constexpr const char* kMemoryUsed = "peak_memory";

// 0: it asked for none.
double memory_of(const Json& job) { return number_of(job, "memory") * std::max(number_of(job, "nodes", 1), 1.0); }

std::string share(double used, double held) {
  constexpr double kMost = 1e9;  // of what the service reports
  constexpr double kHundred = 100;
  if (!(held > 0)) return kUnknown;
  return std::to_string(std::lround(std::clamp(used / held * kHundred, 0.0, kMost))) + "%";
}

std::string of(const std::string& used, const std::string& held, const std::string& part) {
  return held == kUnknown || part == kUnknown ? used : fmt::format("{} of {} ({})", used, held, part);
}

}  // namespace

std::string accelerators_held(const Json& of) {
  std::string out;
  const auto held = of.is_object() ? of.find("accelerators_held") : of.end();
  if (held == of.end() || !held->is_object()) return out;
  for (const auto& [whose, numbers] : held->items()) {
    out += fmt::format("{}{}: ", out.empty() ? "" : "; ", whose);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      out +=
          (i == 0 ? "" : ",") + (numbers[i].is_number_integer() ? std::to_string(numbers[i].get<std::int64_t>()) : "?");
  }
  return out;
}

std::string cpu_used(const Json& job) {
  return has_number(job, kCpuUsed) ? run_text(number_of(job, kCpuUsed)) : kUnknown;
}

std::string cpu_held(const Json& job) {
  return has_number(job, kCpuHeld) ? run_text(number_of(job, kCpuHeld)) : kUnknown;
}

std::string cpu_share(const Json& job) {
  return has_number(job, kCpuUsed) ? share(number_of(job, kCpuUsed), number_of(job, kCpuHeld)) : kUnknown;
}

std::string memory_held(const Json& job) {
  const double held = memory_of(job);
  return held > 0 ? memory_text(held) : kUnknown;
}

std::string memory_used(const Json& job) {
  return has_number(job, kMemoryUsed) ? memory_text(number_of(job, kMemoryUsed)) : kUnknown;
}

std::string memory_share(const Json& job) {
  return has_number(job, kMemoryUsed) ? share(number_of(job, kMemoryUsed), memory_of(job)) : kUnknown;
}

std::string cpu_use(const Json& job) { return of(cpu_used(job), cpu_held(job), cpu_share(job)); }

std::string memory_use(const Json& job) { return of(memory_used(job), memory_held(job), memory_share(job)); }

}  // namespace rota::cli

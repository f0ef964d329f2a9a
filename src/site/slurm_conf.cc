#include "site/slurm_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "site/slurm_parameters.h"

namespace rota {
namespace {

enum class Form : std::uint8_t { as_it_is, time, minutes };

// A setting with a line of its own.
struct OwnLine {
  std::string_view name;
  std::string_view knob;
  std::string_view fallback;
  Form form = Form::as_it_is;
};
constexpr OwnLine kLines[]{
    {"PriorityWeightAge", "weight-age", "0"},
    {"PriorityWeightFairShare", "weight-fairshare", "0"},
    {"PriorityWeightJobSize", "weight-job-size", "0"},
    {"PriorityWeightPartition", "weight-partition", "0"},
    {"PriorityWeightQOS", "weight-qos", "0"},
    {"PriorityMaxAge", "max-age", "7d", Form::time},
    {"PriorityFavorSmall", "favor-small", "no"},
    {"PriorityCalcPeriod", "calc-period", "5m", Form::minutes},
    {"PriorityDecayHalfLife", "fair-half-life", "7d", Form::time},
    {"FairShareDampeningFactor", "fair-dampening", "1"},
};

std::string value_of_knob(const SlurmKnobTexts& knobs, std::string_view name, std::string_view fallback) {
  const auto found = std::ranges::find(knobs, name, [](const auto& knob) { return std::string_view(knob.first); });
  return found == knobs.end() ? std::string(fallback) : found->second;
}

std::int64_t whole_seconds(const std::string& text) {
  const auto time = parse_duration(text);
  return time ? (*time + seconds(1) - Duration{1}) / seconds(1) : 0;
}

// Days, hours, minutes and seconds, as slurm.conf takes them.
std::string clock_text(std::int64_t seconds) {
  return fmt::format("{}-{:02}:{:02}:{:02}", seconds / 86'400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
}

std::string written(Form form, const std::string& value) {
  if (form == Form::time) return clock_text(whole_seconds(value));
  if (form == Form::minutes) return std::to_string(std::max<std::int64_t>(1, (whole_seconds(value) + 59) / 60));
  return value == "yes" ? "YES" : value == "no" ? "NO" : value;
}

// Empty where it is Slurm's default.
std::string part_of(const SlurmParameter& parameter, const SlurmKnobTexts& knobs) {
  const std::string value = value_of_knob(knobs, parameter.knob, "");
  if (value.empty()) return "";
  std::string text = value;
  if (value == "no") {
    text = "-1";
  } else if (parameter.unit == SlurmUnit::seconds) {
    text = std::to_string(whole_seconds(value));
  } else if (parameter.unit == SlurmUnit::minutes) {
    text = std::to_string(std::max<std::int64_t>(1, (whole_seconds(value) + 59) / 60));
  }
  return text == std::to_string(parameter.fallback) ? "" : fmt::format("{}={}", parameter.name, text);
}

std::string parameters(const SlurmKnobTexts& knobs) {
  std::vector<std::string> parts;
  for (const SlurmParameter& parameter : kSlurmParameters)
    if (std::string part = part_of(parameter, knobs); !part.empty()) parts.push_back(std::move(part));
  return fmt::format("SchedulerParameters={}", fmt::join(parts, ","));
}

std::string tres(const SlurmKnobTexts& knobs) {
  std::vector<std::string> parts;
  for (const auto& [name, knob] : kSlurmTres)
    if (const std::string value = value_of_knob(knobs, knob, "0"); value != "0")
      parts.push_back(fmt::format("{}={}", name, value));
  return fmt::format("PriorityWeightTRES={}", fmt::join(parts, ","));
}

std::string flags(const SlurmKnobTexts& knobs) {
  std::vector<std::string_view> parts;
  if (value_of_knob(knobs, "small-relative-to-time", "no") == "yes") parts.emplace_back("SMALL_RELATIVE_TO_TIME");
  if (value_of_knob(knobs, "fair-tree", "yes") == "no") parts.emplace_back("NO_FAIR_TREE");
  return fmt::format("PriorityFlags={}", fmt::join(parts, ","));
}

}  // namespace

std::vector<std::string> slurm_conf_lines(const SlurmKnobTexts& now, const SlurmKnobTexts& then) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& before, std::string line) {
    if (before != line) lines.push_back(std::move(line));
  };
  add(parameters(now), parameters(then));
  const auto type = [](const SlurmKnobTexts& knobs) {
    return "PriorityType=priority/" + value_of_knob(knobs, "priority", "basic");
  };
  add(type(now), type(then));
  for (const OwnLine& line : kLines) {
    const auto text = [&](const SlurmKnobTexts& knobs) {
      return fmt::format("{}={}", line.name, written(line.form, value_of_knob(knobs, line.knob, line.fallback)));
    };
    add(text(now), text(then));
  }
  add(tres(now), tres(then));
  add(flags(now), flags(then));
  return lines;
}

}  // namespace rota

#include "policy/power/power_knobs.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace rota {
namespace {

enum class Of : std::uint8_t { load_factor, demand, sleepers };

struct Knob {
  std::string_view name;
  Of of;
  Duration PowerKnobs::* time = nullptr;
  double PowerKnobs::* number = nullptr;
  std::int64_t PowerKnobs::* count = nullptr;
  bool PowerKnobs::* choice = nullptr;
  double high = 0;                     // of a number or a count
  std::string_view yes = {}, no = {};  // of a choice
  bool zero = false;                   // a time may be 0
};

constexpr std::array<Knob, 19> kKnobs{{
    {.name = "power-interval", .of = Of::load_factor, .time = &PowerKnobs::interval},
    {.name = "power-close", .of = Of::load_factor, .number = &PowerKnobs::close, .high = 100},
    {.name = "power-open", .of = Of::load_factor, .number = &PowerKnobs::open, .high = 100},
    {.name = "power-close-to", .of = Of::load_factor, .number = &PowerKnobs::close_to, .high = 100},
    {.name = "power-open-to", .of = Of::load_factor, .number = &PowerKnobs::open_to, .high = 100},
    {.name = "power-confidence", .of = Of::load_factor, .number = &PowerKnobs::confidence, .high = 10},
    {.name = "power-samples", .of = Of::load_factor, .count = &PowerKnobs::samples, .high = 1e6},
    {.name = "power-longest", .of = Of::load_factor, .time = &PowerKnobs::longest},
    {.name = "power-trigger", .of = Of::load_factor, .choice = &PowerKnobs::load_of_on, .yes = "on", .no = "all"},
    {.name = "power-root", .of = Of::load_factor, .choice = &PowerKnobs::root_of_queue, .yes = "queue", .no = "sample"},
    {.name = "power-few", .of = Of::load_factor, .choice = &PowerKnobs::few_idle_open, .yes = "open", .no = "no"},
    {.name = "power-history", .of = Of::load_factor, .choice = &PowerKnobs::from_log, .yes = "log", .no = "learn"},
    {.name = "power-wait", .of = Of::demand, .time = &PowerKnobs::wait, .zero = true},
    {.name = "power-idle", .of = Of::sleepers, .time = &PowerKnobs::idle},
    {.name = "power-thrift", .of = Of::demand, .time = &PowerKnobs::thrift},
    {.name = "power-reserve", .of = Of::demand, .number = &PowerKnobs::reserve, .high = 0.9999},
    {.name = "power-least-on", .of = Of::demand, .time = &PowerKnobs::least_on, .zero = true},
    {.name = "power-cycles", .of = Of::demand, .count = &PowerKnobs::most_cycles, .high = 1e4},
    {.name = "power-ramp", .of = Of::demand, .count = &PowerKnobs::ramp, .high = 1e6},
}};

const Knob* knob_named(std::string_view name) {
  const auto* found = std::ranges::find(kKnobs, name, &Knob::name);
  return found == kKnobs.end() ? nullptr : found;
}

std::unexpected<Error> wrong(std::string_view name, const std::string& takes, std::string_view value) {
  return fail("policy knob " + std::string(name) + " is " + takes + ", not " + quoted(value) + ".");
}

Result<void> set_rule(PowerKnobs& knobs, std::string_view value) {
  constexpr std::array<std::pair<std::string_view, Power>, 4> kRules{{{"always-on", Power::none},
                                                                      {"load-factor", Power::load_factor},
                                                                      {"demand", Power::demand},
                                                                      {"idle-timeout", Power::idle_timeout}}};
  for (const auto& [name, rule] : kRules) {
    if (name == value) return knobs.rule = rule, Result<void>{};
  }
  return wrong("power", "always-on, load-factor, demand or idle-timeout", value);
}

}  // namespace

bool is_power_knob(std::string_view name) { return name == "power" || knob_named(name) != nullptr; }

Result<void> set_power_knob(PowerKnobs& knobs, std::string_view name, std::string_view value) {
  if (name == "power") return set_rule(knobs, value);
  const Knob& knob = *knob_named(name);
  if (knob.time) {
    const auto time = parse_duration(value);
    if (!time || (*time <= Duration{0} && !knob.zero) || *time > kLongest)
      return wrong(name, "a time such as 30m", value);
    knobs.*knob.time = *time;
  } else if (knob.number) {
    const auto number = parse_number(value);
    if (!number || !(*number >= 0) || *number > knob.high) {
      return wrong(name,
                   "a number from 0 to " + (knob.high < 1 ? "0.9999" : std::to_string(static_cast<int>(knob.high))),
                   value);
    }
    knobs.*knob.number = *number;
  } else if (knob.count) {
    const auto count = parse_integer(value);
    if (!count || *count < 1 || static_cast<double>(*count) > knob.high) {
      return wrong(name, "a whole number from 1 to " + std::to_string(static_cast<std::int64_t>(knob.high)), value);
    }
    knobs.*knob.count = *count;
  } else {
    if (value != knob.yes && value != knob.no) {
      return wrong(name, std::string(knob.yes) + " or " + std::string(knob.no), value);
    }
    knobs.*knob.choice = value == knob.yes;
  }
  return {};
}

std::string_view idle_power_knob(const PowerKnobs& knobs, std::string_view name) {
  const Knob* knob = knob_named(name);
  if (!knob) return {};
  const bool set_by_thrift = knobs.rule == Power::demand && knobs.thrift > Duration{0};
  if (set_by_thrift && (name == "power-wait" || name == "power-idle")) return "power-thrift sets it";
  switch (knob->of) {
    case Of::load_factor:
      return knobs.rule == Power::load_factor ? "" : "it is for power=load-factor";
    case Of::demand:
      return knobs.rule == Power::demand ? "" : "it is for power=demand";
    case Of::sleepers:
      return knobs.on_demand() ? "" : "it is for power=demand and power=idle-timeout";
  }
  return {};
}

}  // namespace rota

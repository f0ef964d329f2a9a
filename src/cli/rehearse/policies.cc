// rota policies: what the policies are, what their knobs do, and where they come from.
#include <fmt/core.h>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/printed.h"
#include "policy/chain.h"
#include "rehearse/recorded.h"

namespace rota::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 100;
constexpr std::size_t kColumn = 16;

struct PoliciesFlags {
  std::string name;
  bool json = false;
};

std::string values_with_unit(const Knob& knob) {
  const std::string unit = unit_text(knob);
  return values_text(knob) + (unit.empty() ? "" : fmt::format(" ({})", unit));
}

std::string row(std::string_view head, std::string_view text) {
  std::string out = "  " + std::string(head);
  out.resize(std::max(kColumn, out.size() + 1), ' ');
  return fmt::format("{}{}\n", out, wrapped(std::string(text), kWidth, kColumn));
}

std::string policy_rows(const PolicyName& policy) {
  std::string out = row(policy.name, policy.meaning) + row("", "stands for " + readable_settings(policy.stands_for));
  if (!policy.aliases.empty()) out += row("", "also called " + std::string(policy.aliases));
  return out + row("", "source: " + std::string(policy.source));
}

std::string knob_rows(const Knob& knob) {
  return row(knob.name, knob.meaning) +
         row("", fmt::format("{}; default: {}", values_with_unit(knob), default_text(knob))) +
         row("", "source: " + std::string(knob.source));
}

std::string everything() {
  std::string out = "Policies, for --policy:\n\n";
  for (const PolicyName& policy : policy_names()) out += policy_rows(policy);
  out += "\nKnobs, set behind a policy as in easy+depth=4+order=sjf:\n\n";
  for (const Knob* knob : every_knob()) out += knob_rows(*knob);
  return out;
}

// The value that a policy gives a knob: its own, or what holds for all.
std::string value_in(const PolicyName& policy, const Knob& knob) {
  const std::string prefix = std::string(knob.name) + "=";
  for (const std::string_view link : split(policy.stands_for, '+')) {
    if (link.starts_with(prefix)) return std::string(link.substr(prefix.size()));
  }
  return default_text(knob);
}

std::string explained(const PolicyName& policy) {
  std::string out = policy_rows(policy) + "\nIts knobs, with the values that they have here:\n\n";
  for (const Knob* knob : every_knob()) {
    out += row(knob->name, fmt::format("{}: {}", value_in(policy, *knob), knob->meaning));
    out += row("", "of " + values_with_unit(*knob));
  }
  return out;
}

Json json_of(const PolicyName& policy) {
  Json knobs;
  for (const Knob* knob : every_knob()) knobs[std::string(knob->name)] = value_in(policy, *knob);
  Json aliases = Json::array();
  for (const std::string_view alias : split(policy.aliases, ' ')) {
    if (!alias.empty()) aliases.push_back(alias);
  }
  return {{"name", policy.name}, {"aliases", aliases},        {"stands_for", policy.stands_for},
          {"knobs", knobs},      {"meaning", policy.meaning}, {"source", policy.source}};
}

Json json_of(const Knob& knob) {
  const bool time = knob.range.of == Range::Of::times;
  Json json{{"name", knob.name}, {"values", values_text(knob)}, {"unit", time ? "s" : knob.unit}};
  if (time) {
    const std::string examples = unit_text(knob);
    for (const std::string_view example : split(examples, ',')) json["examples"].push_back(trimmed(example));
  }
  json["default"] = default_text(knob);
  json["meaning"] = knob.meaning;
  json["source"] = knob.source;
  return json;
}

Result<int> print_all(bool json) {
  if (!json) return printed(everything());
  Json document{{"format", "rota-policies-1"}, {"policies", Json::array()}, {"knobs", Json::array()}};
  for (const PolicyName& policy : policy_names()) document["policies"].push_back(json_of(policy));
  for (const Knob* knob : every_knob()) document["knobs"].push_back(json_of(*knob));
  return printed(document.dump(2) + "\n");
}

Result<int> policies(const PoliciesFlags& flags) {
  if (flags.name.empty()) return print_all(flags.json);
  if (const PolicyName* policy = policy_named(flags.name)) {
    return printed(flags.json ? json_of(*policy).dump(2) + "\n" : explained(*policy));
  }
  if (const Knob* knob = knob_named(flags.name)) {
    return printed(flags.json ? json_of(*knob).dump(2) + "\n" : knob_rows(*knob));
  }
  if (flags.name == kRecorded)
    return fail(
        "recorded is no policy but what really happened, where the log tells it: rota simulate LOG --policy "
        "recorded,easy has a row of it. `rota policies` lists the policies.");
  std::vector<std::string_view> names;
  for (const PolicyName& policy : policy_names()) names.push_back(policy.name);
  for (const Knob* knob : every_knob()) names.push_back(knob->name);
  const std::string_view near = nearest(flags.name, names);
  return fail("there is no policy or knob {}{}", rota::quoted(flags.name),
              near.empty() ? "; `rota policies` lists them." : fmt::format("; did you mean {}?", near));
}

}  // namespace

void add_policies(Command app, Action& action) {
  auto flags = std::make_shared<PoliciesFlags>();
  Command command = app.add_subcommand("policies", "list the policies and their knobs, or explain one");
  command.description(
      "A policy is a name and, where wanted, knobs that change it: easy+depth=4+order=sjf. With --policy of "
      "other commands, commas separate several.");
  command.add_option("NAME", flags->name, "a policy or a knob to explain; without it, all are listed")
      .type_name("POLICY");
  command.add_flag("--json", flags->json, "print JSON");
  command.footer(
      "Examples:\n"
      "  rota policies easy++\n"
      "  rota policies --json");
  command.callback([&action, flags] { action = [flags] { return policies(*flags); }; });
}

}  // namespace rota::cli

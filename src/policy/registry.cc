#include "policy/registry.h"

#include <algorithm>
#include <ranges>

#include "base/check.h"
#include "base/text.h"

namespace rota {
namespace {

bool of_words(std::string_view words, std::string_view word) {
  const auto all = split(words, ' ');
  return std::ranges::find(all, word) != all.end();
}

}  // namespace

const Knob* knob_named(std::string_view name) {
  for (const Module* module : kModules) {
    const auto found = std::ranges::find(module->knobs, name, &Knob::name);
    if (found != module->knobs.end()) return &*found;
  }
  return nullptr;
}

const Module& module_of(const Knob& knob) {
  const auto declares = [&](const Module* m) {
    return !m->knobs.empty() && &knob >= &m->knobs.front() && &knob <= &m->knobs.back();
  };
  const auto* found = std::ranges::find_if(kModules, declares);
  CHECK(found != kModules.end(), "a knob belongs to a module");
  return **found;
}

std::vector<const Knob*> every_knob() {
  std::vector<const Knob*> all;
  for (const Module* module : kModules) {
    for (const Knob& knob : module->knobs) all.push_back(&knob);
  }
  return all;
}

std::span<const PolicyName> policy_names() {
  static const std::vector<PolicyName> kAll = [] {
    std::vector<PolicyName> all;
    for (const Module* module : kModules | std::views::reverse) {
      all.insert(all.end(), module->policies.begin(), module->policies.end());
    }
    const auto of_one_site = [](const PolicyName& p) {
      return p.stands_for.find("auction=") == std::string_view::npos;
    };
    std::ranges::stable_partition(all, of_one_site);
    return all;
  }();
  return kAll;
}

const PolicyName* policy_named(std::string_view name) {
  const auto answers_to = [&](const PolicyName& p) { return p.name == name || of_words(p.aliases, name); };
  const auto all = policy_names();
  const auto found = std::ranges::find_if(all, answers_to);
  return name.empty() || found == all.end() ? nullptr : &*found;
}

}  // namespace rota

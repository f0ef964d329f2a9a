#include "policy/registry.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace rota {
namespace {

constexpr std::array<PolicyName, 9> kPolicies{{
    {"fcfs", "", "depth=0", "first come, first served; nobody overtakes", "textbook"},
    {"fcfs-skip", "first-fit ff", "depth=0+skip=yes", "in queue order, every job that fits starts; nothing is promised",
     "textbook"},
    {"easy", "", "depth=1", "the first blocked job is promised a start; others may overtake if they do not delay it",
     "Lifka 1995; Mu'alem and Feitelson 2001"},
    {"easy-sjbf", "easysjbf", "depth=1+candidates=sjf", "EASY that tries short jobs first when it backfills",
     "Tsafrir, Etsion and Feitelson 2007"},
    {"easy++", "easypp easypp_tsafrir", "depth=1+candidates=sjf+predict=tsafrir",
     "EASY-SJBF on predicted run times; a prediction never kills", "Tsafrir, Etsion and Feitelson 2007"},
    {"conservative", "cons", "depth=all", "every job is promised a start, which never moves later",
     "Mu'alem and Feitelson 2001"},
    {"strict", "", "depth=1+beside=no+fixed=yes+overrun=strict",
     "backfilling that stops overrunning jobs as soon as a promise is due", "Li and Lei 2018, their base"},
    {"rb-har", "rbhar", "depth=1+beside=no+fixed=yes+overrun=rb-har",
     "backfilling in which an overrunning job goes on when that harms nobody", "Li and Lei 2018"},
    {"grace", "lazy", "depth=1+beside=no+fixed=yes+overrun=grace",
     "as rb-har, but kills only when the promised job can start by it at once",
     "after Li and Lei 2018; Yuan et al. 2014"},
}};

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

std::span<const PolicyName> policy_names() { return kPolicies; }

const PolicyName* policy_named(std::string_view name) {
  const auto answers_to = [&](const PolicyName& p) { return p.name == name || of_words(p.aliases, name); };
  const auto* found = std::ranges::find_if(kPolicies, answers_to);
  return name.empty() || found == kPolicies.end() ? nullptr : found;
}

}  // namespace rota

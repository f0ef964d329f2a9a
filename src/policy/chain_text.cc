#include "policy/chain_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "base/check.h"
#include "base/text.h"
#include "policy/slurm/own_order.h"

namespace rota {
namespace {

std::string hint(std::string_view near) {
  return near.empty() ? "; `rota policies` lists them." : fmt::format("; did you mean {}?", near);
}

// The first knob that takes this word; not yes or no, which many take, and not what holds anyway.
const Knob* knob_that_takes(std::string_view word) {
  for (const Knob* knob : every_knob()) {
    const bool takes = std::ranges::find(knob->names, word, &NamedValue::name) != knob->names.end();
    if (takes && word != knob->fallback && word != "yes" && word != "no") return knob;
  }
  return nullptr;
}

std::unexpected<Error> no_policy(std::string_view name) {
  if (const Knob* knob = knob_that_takes(name)) {
    const std::string value = fmt::format("{}={}", knob->name, name);
    return fail("there is no policy {}; it is what a knob takes: put +{} behind a policy, as in easy+{}.", quoted(name),
                value, value);
  }
  std::vector<std::string_view> names;
  for (const PolicyName& p : policy_names()) names.push_back(p.name);
  return fail("there is no policy {}{}", quoted(name), hint(nearest(name, names)));
}

std::unexpected<Error> no_knob(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Knob* knob : every_knob()) names.push_back(knob->name);
  return fail("there is no policy knob {}{}", quoted(name), hint(nearest(name, names)));
}

// A name may bear the separator, as "easy++" does: the longest one counts.
std::size_t length_of_name(std::string_view text) {
  std::size_t longest = std::min(text.find('+'), text.size());
  for (std::size_t end = longest; end < text.size(); end = std::min(text.find('+', end + 1), text.size())) {
    if (policy_named(text.substr(0, end))) longest = end;
  }
  return policy_named(text) ? text.size() : longest;
}

const Setting* setting_of(const std::vector<Setting>& settings, std::string_view knob) {
  const auto found = std::ranges::find(settings, knob, [](const Setting& s) { return s.knob->name; });
  return found == settings.end() ? nullptr : &*found;
}

Result<std::vector<Setting>> read_settings(std::string_view text) {
  std::vector<Setting> settings;
  for (std::string_view one : split(text, '+')) {
    if (const PolicyName* policy = policy_named(one); policy && !policy->behind.empty()) one = policy->behind;
    const auto equals = one.find('=');
    if (equals == std::string_view::npos) {
      return fail("in a policy, {} is not a knob of the form NAME=VALUE; `rota policies` lists them.", quoted(one));
    }
    const std::string_view name = one.substr(0, equals);
    const Knob* knob = knob_named(name);
    if (!knob) return no_knob(name);
    if (setting_of(settings, name)) {
      return fail("policy knob {} is set twice. Leave one of the two out.", name);
    }
    settings.push_back({knob, one.substr(equals + 1)});
  }
  return settings;
}

// The knobs that the name sets; others where the site's own priorities are asked for.
std::string_view set_by_name(const ChainText& text) {
  const Setting* const priority = setting_of(text.own, "priority");
  const bool by_factors = priority != nullptr && priority->value == "multifactor";
  const std::string_view other = by_factors ? in_order_of_site(text.policy->name) : std::string_view{};
  return other.empty() ? text.policy->stands_for : other;
}

// The text of a knob's value; empty: what holds where nothing is set.
class Values {
 public:
  explicit Values(const ChainText& text) : own_(text.own) {
    const auto named = read_settings(set_by_name(text));
    CHECK(named, "a policy with a name stands for knobs that there are");
    named_ = *named;
  }

  std::string_view of(const Knob& knob) const {
    if (const Setting* set = find(knob.name)) return set->value;
    if (!knob.follows.empty()) return of(*knob_named(knob.follows));
    const Setting* other = find(knob.other.knob);
    return other && other->value == knob.other.value ? knob.other.fallback : std::string_view{};
  }
  bool sets(const Knob& knob) const { return find(knob.name) != nullptr; }

 private:
  const Setting* find(std::string_view knob) const {
    const Setting* set = setting_of(own_, knob);
    return set ? set : setting_of(named_, knob);
  }

  const std::vector<Setting>& own_;
  std::vector<Setting> named_;
};

}  // namespace

Result<ChainText> read_chain_text(std::string_view text) {
  const std::size_t length = length_of_name(text);
  ChainText read{policy_named(text.substr(0, length)), {}};
  if (!read.policy) return no_policy(text.substr(0, length));
  if (length == text.size()) return read;
  auto own = TRY(read_settings(text.substr(length + 1)));
  read.own = std::move(own);
  return read;
}

std::string_view value_of(const ChainText& text, const Knob& knob) {
  const std::string_view value = Values(text).of(knob);
  return value.empty() ? knob.fallback : value;
}

Result<ChainKnobs> knobs_of(const ChainText& text) {
  ChainKnobs knobs;
  const Values values(text);
  for (const Knob* knob : every_knob()) {
    const std::string_view value = values.of(*knob);
    if (value.empty() && !values.sets(*knob)) continue;
    const auto read = TRY(read_value(*knob, value));
    knob->set(knobs, read);
  }
  for (const Setting& set : text.own) {
    const std::string_view why = set.knob->idle ? set.knob->idle(knobs) : std::string_view{};
    if (why.empty()) continue;
    return fail("policy knob {} would have no effect here: {}. Leave it out.", set.knob->name, why);
  }
  for (const Module* module : kModules) {
    for (const Refusal& refusal : module->refusals) {
      if (refusal.holds(knobs)) return fail(std::string(refusal.sentence));
    }
  }
  return knobs;
}

}  // namespace rota

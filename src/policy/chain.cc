#include "policy/chain.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "policy/chain_text.h"
#include "policy/within_reservations.h"

namespace rota {

Result<Chain> Chain::parse(std::string_view text) {
  const auto read = TRY(read_chain_text(text));
  const auto knobs = TRY(knobs_of(read));
  Chain chain;
  chain.text_ = text;
  chain.knobs_ = knobs;
  for (const Module* module : kModules) {
    auto link = module->link ? module->link(knobs) : nullptr;
    if (!link) continue;
    const bool waits = module->waits_for_sleepers && module->waits_for_sleepers(knobs);
    chain.add({module->name, std::move(link), waits});
  }
  return chain;
}

void Chain::decide(const View& view, Plan& plan) const {
  if (!view.reservations().waiting().empty() && !start_within_reservations(view, plan)) return;
  for (const Link& link : links_) {
    if (link.is_asked(view)) link.policy->decide(view, plan);
  }
}

void Chain::add(Link link) {
  wakes_ = wakes_ || (!link.waits_for_sleepers && link.policy->wakes());
  links_.push_back(std::move(link));
}

Instant Chain::earliest_wakeup(const View& view) const {
  Instant earliest = kNever;
  for (const Link& link : links_) {
    if (link.is_asked(view)) earliest = std::min(earliest, link.policy->next_wakeup(view));
  }
  return earliest;
}

std::string Chain::links_that_wake(const View& view) const {
  std::string names;
  Plan plan;
  plan.open(view);
  for (const Link& link : links_) {
    const bool looked_again = plan.looks_again();
    link.policy->decide(view, plan);
    const bool asks = plan.looks_again() != looked_again;
    if (!asks && link.policy->next_wakeup(view) > view.now()) continue;
    if (!names.empty()) names += " and ";
    names += link.name;
  }
  return names.empty() ? "something outside the chain" : names;
}

void Chain::ask(ClusterOptions& options) const {
  options.waiting.by_size = false;
  options.waiting.by_queue = false;
  for (const Module* module : kModules) {
    if (module->ask) module->ask(knobs_, options);
  }
}

Result<void> Chain::keeps_reservations() const {
  for (const Module* module : kModules) {
    const std::string_view why = module->breaks_reservations ? module->breaks_reservations(knobs_) : "";
    if (why.empty()) continue;
    return fail("policy {} does not go with reservations, because {}. Leave that out, or the reservations.",
                quoted(text_), why);
  }
  return {};
}

Chain plain_mode_of(const Chain& chain) {
  const auto read = read_chain_text(chain.text());
  CHECK(read, "what has been read can be read again");
  std::string text = "fcfs";
  for (const Setting& set : read->own) {
    if (module_of(*set.knob).in_plain_mode) text += fmt::format("+{}={}", set.knob->name, set.value);
  }
  auto plain = Chain::parse(text);
  CHECK(plain, "what switches nodes goes with fcfs: else those that sleep would never wake");
  return std::move(*plain);
}

}  // namespace rota

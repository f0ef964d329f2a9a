// A chain at work: its links one after the other.
#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "policy/chain.h"

namespace rota {

void Chain::decide(const View& view, Plan& plan) const {
  for (const Link& link : links_) link.policy->decide(view, plan);
}

Instant Chain::next_wakeup(const View& view) const {
  Instant earliest = kNever;
  for (const Link& link : links_) earliest = std::min(earliest, link.policy->next_wakeup(view));
  return earliest;
}

Result<void> Chain::keeps_reservations() const {
  const auto refused = [&](const char* what) -> Result<void> {
    return fail("policy " + quoted(text_) + " does not go with reservations, because " + what +
                ". Leave that out, or the reservations.");
  };
  if (knobs_.preempt != Preemption::none) return refused("preempt makes room without looking at what is reserved");
  if (knobs_.migrate.how != Migration::none) return refused("migrate moves jobs without looking at what is reserved");
  if (knobs_.power.rule != Power::none) return refused("power switches nodes without looking at what is reserved");
  if (knobs_.bind != Bind::none) return refused("bind uses accelerators without looking at what is reserved");
  if (knobs_.auction.siting != Siting::none) return refused("auction bids without looking at what is reserved");
  if (knobs_.overrun >= Overrun::strict) {
    return refused("its overrun rule stops jobs for a promise without looking at what is reserved");
  }
  if (knobs_.backfill.fixed) return refused("fixed=yes keeps a promise as first made, whatever is reserved later");
  return {};
}

Chain plain_mode_of(const Chain& chain) {
  std::string text = "fcfs";
  for (const std::string_view knob : split(chain.text(), '+')) {
    if (knob.starts_with("power")) text += "+" + std::string(knob);
  }
  auto plain = Chain::parse(text);
  if (!plain) plain = Chain::parse("fcfs");
  CHECK(plain, "fcfs is a policy");
  return std::move(*plain);
}

std::string Chain::who_wakes(const View& view, const Plan& plan) const {
  std::string names = plan.migrates() ? "migrate" : plan.looks_again() ? "preempt" : "";
  for (const Link& link : links_) {
    if (link.policy->next_wakeup(view) > view.now()) continue;
    if (!names.empty()) names += " and ";
    names += link.name;
  }
  return names.empty() ? "something outside the chain" : names;
}

}  // namespace rota

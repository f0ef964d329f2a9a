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

#include "policy/power/always_on.h"

#include <algorithm>

namespace rota {
namespace {

template <class Visit>
void for_each_left_asleep(const NodePower& power, const Visit& visit) {
  if (power.count(PowerState::off) == 0) return;
  power.for_each_asleep([&](NodeId node) {
    if (power.row(node).by_rule) visit(node);
    return true;
  });
}

}  // namespace

void AlwaysOn::decide(const View& view, Plan& plan) const {
  if (plan.kills()) return;
  for_each_left_asleep(view.power(), [&](NodeId node) {
    if (view.power().shunned_until(node) > view.now()) return;
    plan.power_on(node, {Rule::rule_is_gone, {}, kNever, plan.free(), 0});
  });
}

Instant AlwaysOn::next_wakeup(const View& view) const {
  Instant next = kNever;
  for_each_left_asleep(view.power(), [&](NodeId node) {
    const Instant at = view.power().shunned_until(node);
    if (at > view.now()) next = std::min(next, at);
  });
  return next;
}

}  // namespace rota

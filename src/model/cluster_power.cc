// Nodes that are switched on and off, fail and come back.
#include "model/cluster.h"

namespace rota {

void Cluster::apply(const PowerChanged& fact) { switch_node(fact.node, fact.state, kNever); }

void Cluster::apply(const PowerOrdered& fact) {
  CHECK(fact.on || nodes_.counted() || nodes_.idle(fact.node), "no node on which a job runs is switched off");
  switch_node(fact.node, fact.on ? PowerState::booting : PowerState::shutting_down, fact.until);
  power_.commanded(fact.node, sequence_);
  if (fact.reason.rule == Rule::idle_for_long || fact.reason.rule == Rule::load_is_low) power_.slept_by_rule(fact.node);
}

// What comes back counts as released, and so does what is expected back at another time than before.
void Cluster::switch_node(NodeId node, PowerState state, Instant until) {
  CHECK(!nodes_.counted(), "only a node that is described is switched on and off");
  const bool was_on = power_.state(node) == PowerState::on;
  power_.changed(node, state, now_, until);
  if (was_on && nodes_.available(node)) nodes_.set_available(node, false);
  if (state == PowerState::on && power_.health(node) == Health::up) nodes_.wake(node, now_);
  if (state != PowerState::shutting_down) ++releases_;
}

void Cluster::apply(const HealthChanged& fact) {
  power_.set_health(fact.node, fact.health);
  const bool usable = fact.health == Health::up && power_.state(fact.node) == PowerState::on;
  if (usable != nodes_.available(fact.node)) nodes_.set_available(fact.node, usable);
  ++releases_;
}

}  // namespace rota

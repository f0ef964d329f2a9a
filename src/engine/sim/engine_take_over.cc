// The simulated cluster in the middle of a state: what is under way there, as a controller that takes it over finds it.
#include "engine/sim/engine.h"

namespace rota::sim {

void SimEngine::take_over(JobId id, Duration run_time) {
  alive_.add(id.value).run_time = run_time;
  ++waiting_;
}

void SimEngine::take_over(NodeId node, PowerState state, Instant until) {
  if (!meter_.meters() || state == PowerState::on) return;
  meter_.switched(node, state, loop_.now());
  offer_accelerators(node, false);
  if (state == PowerState::off) return;
  const PowerState then = state == PowerState::booting && boots(node) ? PowerState::on : PowerState::off;
  switching_.push({std::max(until, loop_.now()), 0, node, then});
  ring_by(switching_.top().at);
}

}  // namespace rota::sim

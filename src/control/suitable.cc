#include "control/suitable.h"

#include <array>
#include <string>

namespace rota {
namespace {

struct Need {
  bool needed;
  bool there;
  const char* knob;
  const char* lacks;
};

bool stops_jobs(Overrun overrun) {
  return overrun == Overrun::strict || overrun == Overrun::rb_har || overrun == Overrun::rb_har_literal ||
         overrun == Overrun::lazy;
}

}  // namespace

Result<void> engine_suits(const Chain& chain, const Capabilities& engine) {
  const ChainKnobs& k = chain.knobs();
  const std::array needs{
      Need{k.preempt == Preemption::suspend, engine.suspend, "preempt=suspend", "suspend jobs"},
      Need{k.preempt == Preemption::checkpoint, engine.checkpoint, "preempt=checkpoint", "write checkpoints of jobs"},
      Need{k.preempt == Preemption::requeue, engine.requeue, "preempt=requeue", "put running jobs back into the queue"},
      Need{stops_jobs(k.overrun), engine.requeue, "overrun", "put running jobs back into the queue"},
      Need{k.overrun != Overrun::kill, engine.extend, "overrun", "let jobs go on beyond their limits"},
      Need{k.migrate.how != Migration::none, engine.move, "migrate", "move running jobs"},
      Need{k.power.rule != Power::none, engine.power, "power", "switch nodes on and off"},
  };
  for (const Need& need : needs) {
    if (!need.needed || need.there) continue;
    return fail("policy " + chain.text() + " cannot run here: its knob " + need.knob + " needs an engine that can " +
                need.lacks + ", and this one cannot. Take a policy without that knob.");
  }
  return {};
}

}  // namespace rota

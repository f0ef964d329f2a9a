#include "control/suitable.h"

#include <string>

namespace rota {
namespace {

struct Ability {
  bool Capabilities::* there;
  const char* words;
};

Ability ability(Capability what) {
  switch (what) {
    case Capability::suspend:
      return {&Capabilities::suspend, "suspend jobs"};
    case Capability::checkpoint:
      return {&Capabilities::checkpoint, "write checkpoints of jobs"};
    case Capability::requeue:
      return {&Capabilities::requeue, "put running jobs back into the queue"};
    case Capability::cancel:
      return {&Capabilities::cancel, "end running jobs in favour of others"};
    case Capability::extend:
      return {&Capabilities::extend, "let jobs go on beyond their limits"};
    case Capability::power:
      return {&Capabilities::power, "switch nodes on and off"};
    case Capability::move:
      return {&Capabilities::move, "move running jobs"};
    case Capability::tasks:
      return {&Capabilities::tasks, "give tasks of jobs to accelerators of other nodes"};
    case Capability::sites:
      break;
  }
  return {&Capabilities::sites, "send jobs to other sites"};
}

}  // namespace

Result<void> engine_suits(const Chain& chain, const Capabilities& engine) {
  for (const Module* module : kModules) {
    for (const EngineNeed& need : module->engine) {
      const Ability asked = ability(need.what);
      if (!need.needed(chain.knobs()) || engine.*asked.there) continue;
      return fail(
          "policy {} cannot run here: its knob {} needs an engine that can {}, and this one cannot. {} a policy "
          "without that knob.",
          chain.text(), need.knob, asked.words,
          need.what == Capability::power && !engine.why_no_power.empty() ? engine.why_no_power + " Or take" : "Take");
    }
  }
  return {};
}

}  // namespace rota

#include "serve/processor_use.h"

#include <algorithm>

namespace rota::serve {

ProcessorUse processor_use(const Machine& machine, const View& view) {
  ProcessorUse use;
  use.free = std::max<std::int64_t>(0, view.free());
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    const NodeId node{n};
    const std::int64_t unused = std::max<std::int64_t>(0, view.nodes().free_on(node));
    if (view.power().health(node) != Health::up) {
      use.out_of_service += unused;
    } else if (view.power().state(node) != PowerState::on) {
      use.asleep += unused;
    }
  }
  use.busy = std::max<std::int64_t>(0, machine.processors - use.free - use.out_of_service - use.asleep);
  return use;
}

}  // namespace rota::serve

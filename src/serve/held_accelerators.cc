#include "serve/held_accelerators.h"

#include <algorithm>

namespace rota::serve {

HeldAccelerators held_accelerators(const Machine& machine, const std::vector<std::uint32_t>& numbers) {
  HeldAccelerators held;
  if (numbers.empty()) return held;
  std::uint32_t first = 0;
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    const std::uint32_t next = first + machine.nodes[n].accelerators;
    for (const std::uint32_t number : numbers)
      if (number >= first && number < next) held[NodeId{n}].push_back(number);
    first = next;
  }
  for (auto& [node, those] : held) std::ranges::sort(those);
  return held;
}

}  // namespace rota::serve

// What tests of NodeSpace are made of.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/node_space.h"

namespace rota::test_nodes {

inline constexpr std::int64_t kGiB = std::int64_t{1} << 30U;

inline Machine machine_of(const std::vector<std::pair<std::uint32_t, std::int64_t>>& shapes) {
  Machine machine;
  for (const auto& [processors, memory] : shapes) {
    machine.nodes.push_back({"n" + std::to_string(machine.nodes.size()), processors, memory, {}});
    machine.processors += processors;
  }
  return machine;
}

inline Machine alike(std::size_t nodes, std::uint32_t processors) {
  return machine_of(std::vector<std::pair<std::uint32_t, std::int64_t>>(nodes, {processors, 0}));
}

inline JobSpec asks(std::uint32_t processors, std::uint32_t nodes = 0, std::int64_t memory = 0) {
  JobSpec spec;
  spec.processors = processors;
  spec.nodes = nodes;
  spec.memory = memory;
  return spec;
}

using Where = std::map<std::uint32_t, std::uint32_t>;  // processors by node; empty: no room

inline Where found(const NodeSpace& space, const JobSpec& spec) {
  Placement where;
  if (!space.find(spec, where)) return {};
  Where by_node;
  for (const Share& s : where.shares) by_node[s.node.value] += s.processors;
  return by_node;
}

inline Placement occupy(NodeSpace& space, const JobSpec& spec) {
  Placement where;
  if (!space.find(spec, where)) throw std::logic_error("the job has no room");
  space.occupy(where);
  return where;
}

inline JobSpec with_accelerators(JobSpec spec, std::uint8_t count, AcceleratorTypeId type = {}) {
  spec.accelerators = count;
  spec.accelerator_type = type;
  return spec;
}

}  // namespace rota::test_nodes

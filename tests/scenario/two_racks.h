// For tests: a site on which every mechanism has something to do, and workloads and chains for it: nodes in two racks
// with different CPU factors, memory, accelerators, partitions, licences and boots that may fail.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace rota::scenario {

inline constexpr std::uint32_t kLicences = 3;  // solvers
inline constexpr std::uint32_t kMeshers = 2;

inline Machine two_racks(std::int32_t boots_that_fail, std::int64_t seed) {
  Machine machine = Machine::counted(0);
  machine.racks = {"old", "new"};
  machine.accelerator_types = {"slow", "fast"};
  machine.features = {"odd", "ib"};
  machine.partitions.resize(2);
  machine.partitions[0].name = "0";
  machine.partitions[1].name = "1";
  machine.default_partition = PartitionId{0};
  for (std::uint32_t i = 0; i < 6; ++i) {
    Node& node = machine.nodes.emplace_back();
    const bool fast = i >= 3;
    node.name = "n" + std::to_string(i);
    node.processors = fast ? 4 : 2;
    node.memory = fast ? 0 : 8;
    node.accelerators = i >= 2 && i <= 4 ? 2 : 0;
    if (node.accelerators > 0) node.accelerator_type = AcceleratorTypeId{static_cast<std::uint8_t>(fast ? 1 : 0)};
    node.features = (i % 2 == 1 ? 1U : 0U) | (i >= 2 ? 2U : 0U);
    node.cpu_factor = fast ? 2000 : 1000;
    node.rack = RackId{fast ? 1U : 0U};
    node.partitions = {PartitionId{0}};
    if (i >= 2) node.partitions.push_back(PartitionId{1});
    node.power.boot = seconds(fast ? 150 : 250);
    node.power.shutdown = seconds(50);
    node.power.idle = 1000;
    node.power.boot_fails = boots_that_fail;
    for (const PartitionId p : node.partitions) {
      machine.partitions[p.value].nodes.push_back(NodeId{i});
      machine.partitions[p.value].processors += node.processors;
    }
    machine.processors += node.processors;
  }
  machine.licences = {{"solver", kLicences}, {"mesher", kMeshers}};
  machine.boot_seed = seed;
  return machine;
}

// Units of 100 s, so that moves are worth while.
inline std::vector<Row> any_rows() {
  auto rows = *random_rows({.processors = 12, .overruns = true, .priorities = true, .unit = 100});
  for (Row& r : rows) {
    r.restart = *rc::gen::element(Restart::never, Restart::checkpoint, Restart::from_start);
    r.restart_cost = r.restart == Restart::never ? 0 : *rc::gen::element(0, 7, 50);
    r.nodes = *rc::gen::element(0U, 0U, 1U, std::min(r.processors, 3U));
    r.licences = *rc::gen::element(0U, 0U, 0U, 1U, 3U);
    r.second_licences = *rc::gen::element(0U, 0U, 0U, 1U, 2U);
    r.memory = *rc::gen::element(0, 0, 3, 8);
    r.accelerators = *rc::gen::element<std::uint8_t>(0, 0, 0, 1, 2);
    if (r.accelerators > 0) r.accelerator_type.value = *rc::gen::element<std::uint8_t>(0, 1, UINT8_MAX);
    r.partition = *rc::gen::element(0U, 0U, 1U);
    r.wish = any_wish(6, r.processors, r.nodes);
  }
  return rows;
}

// Knobs that would have no effect, or that do not go together, are left out.
inline std::string any_chain() {
  std::string chain = *rc::gen::element<std::string>("fcfs", "fcfs-skip", "easy", "easy+beside=no+fixed=yes",
                                                     "easy+depth=3", "conservative");
  const auto maybe = [&](const std::string& knob) {
    if (Chain::parse(fmt::format("{}+{}", chain, knob))) chain += "+" + knob;
  };
  maybe(*rc::gen::element<std::string>("overrun=run-on", "overrun=kill", "overrun=grace", "overrun=200"));
  maybe(*rc::gen::element<std::string>("nodes=fullest", "nodes=fullest", "nodes=least-loaded"));
  maybe(*rc::gen::element<std::string>("preempt=suspend", "preempt=requeue", "preempt=checkpoint+checkpoint=0",
                                       "preempt=checkpoint+checkpoint=150"));
  maybe(*rc::gen::element<std::string>("migrate=no", "migrate=gain", "migrate=gain+margin=0",
                                       "migrate=cpu-factor+poll=100+threshold=50"));
  maybe(*rc::gen::element<std::string>("power=always-on", "power=demand+power-wait=0+power-idle=300",
                                       "power=demand+power-wait=400+power-idle=100",
                                       "power=idle-timeout+power-idle=200", "power=load-factor+power-interval=600",
                                       "power=load-factor+power-interval=60+power-close=0.9"));
  return chain;
}

}  // namespace rota::scenario

#include "engine/local/places.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/text.h"

namespace rota::local {
namespace {

std::int64_t processors_of(const Machine& machine) {
  if (machine.nodes.empty()) return machine.processors;
  return std::accumulate(machine.nodes.begin(), machine.nodes.end(), std::int64_t{0},
                         [](std::int64_t sum, const Node& node) { return sum + node.processors; });
}

// Marks as taken, and lists, the first `count` that are free within the range, consecutive ones if there are.
std::vector<std::uint32_t> take_free(std::vector<bool>& taken, std::uint32_t first, std::uint32_t size,
                                     std::uint32_t count) {
  std::vector<std::uint32_t> free;
  for (std::uint32_t i = first; i < first + size; ++i) {
    if (!taken[i]) free.push_back(i);
  }
  count = std::min(count, static_cast<std::uint32_t>(free.size()));
  std::uint32_t begin = 0;
  for (std::uint32_t i = 0; i + count <= free.size(); ++i) {
    if (count > 0 && free[i + count - 1] - free[i] == count - 1) {
      begin = i;
      break;
    }
  }
  free = {free.begin() + begin, free.begin() + begin + count};
  for (const std::uint32_t i : free) taken[i] = true;
  return free;
}

}  // namespace

Places::Places(const Machine& machine, bool pins)
    : Places(machine, pins, pins ? processor_units(processors_of(machine)) : ProcessorUnits{}) {}

Places::Places(const Machine& machine, bool pins, ProcessorUnits units)
    : units_(std::move(units.units)), warning_(std::move(units.warning)) {
  std::uint32_t devices = 0;
  std::uint32_t processors = 0;
  for (const Node& node : machine.nodes) {
    node_units_.push_back({processors, node.processors});
    node_devices_.push_back({devices, node.accelerators});
    processors += node.processors;
    devices += node.accelerators;
  }
  if (machine.nodes.empty()) {
    processors = static_cast<std::uint32_t>(machine.processors);
    node_units_.push_back({0, processors});
    node_devices_.push_back({0, 0});
  }
  if (pins && processors > units_.size()) {
    warning_ = fmt::format("The cluster file counts {}, and this machine has {}, so jobs are not pinned to cores.",
                           amount(processors, "processor"), units_.size());
    units_.clear();
  }
  unit_taken_.resize(units_.size());
  device_taken_.resize(devices);
}

bool Places::are_free(const std::vector<std::uint32_t>& devices) const {
  return std::ranges::none_of(devices, [&](std::uint32_t d) { return d < device_taken_.size() && device_taken_[d]; });
}

std::vector<std::uint32_t> Places::take_devices(const Range& of_node, std::uint32_t count,
                                                const std::vector<std::uint32_t>& avoided) {
  std::vector<bool> passed_over = device_taken_;
  for (const std::uint32_t device : avoided) {
    if (device < passed_over.size()) passed_over[device] = true;
  }
  std::vector<std::uint32_t> found = take_free(passed_over, of_node.first, of_node.count, count);
  if (found.size() < count) return take_free(device_taken_, of_node.first, of_node.count, count);
  for (const std::uint32_t device : found) device_taken_[device] = true;
  return found;
}

Place Places::occupy(const Placement& where, std::uint32_t processors, const std::vector<std::uint32_t>& avoided) {
  Place place;
  const auto take_on = [&](std::uint32_t node, std::uint32_t count) {
    const Range& units = node_units_[node];
    if (pins()) {
      for (const std::uint32_t unit : take_free(unit_taken_, units.first, units.count, count)) {
        place.cores.insert(place.cores.end(), units_[unit].begin(), units_[unit].end());
      }
    }
    const auto wanted = static_cast<std::uint32_t>(std::max(where.per_node.accelerators, 0));
    const auto found = take_devices(node_devices_[node], wanted, avoided);
    place.devices.insert(place.devices.end(), found.begin(), found.end());
  };
  if (where.shares.empty()) take_on(0, processors);
  for (const Share& share : where.shares) {
    if (share.node.value < node_units_.size()) take_on(share.node.value, share.processors);
  }
  return place;
}

void Places::mark(const Place& place, bool taken) {
  for (std::size_t unit = 0; unit < units_.size(); ++unit) {
    if (std::ranges::find(place.cores, units_[unit].front()) != place.cores.end()) unit_taken_[unit] = taken;
  }
  for (const std::uint32_t device : place.devices) {
    if (device < device_taken_.size()) device_taken_[device] = taken;
  }
}

}  // namespace rota::local

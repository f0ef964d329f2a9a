// Runs every bind/*.sched file: nodes that are bound step by step.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bind_file.h"

namespace rota::golden {
namespace {

std::string folder() { return std::string(ROTA_SOURCE_DIR) + "/tests/golden/bind"; }

std::vector<std::string> every_file() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() == ".sched") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// "1: 10 12; 2: 11; unbound: 13", in order of the accelerator nodes.
std::string stacks_of(const NodeBinding& binding, const std::set<std::uint32_t>& there) {
  std::string out;
  std::string unbound;
  for (const std::uint32_t node : there) {
    const NodeId id{node};
    if (!binding.bound_to(id).valid()) unbound += " " + std::to_string(node);
    if (!binding.has_accelerator(id)) continue;
    out += fmt::format("{}{}:", out.empty() ? "" : "; ", node);
    for (const NodeId bound : binding.stack(id)) out += " " + std::to_string(bound.value);
  }
  if (!unbound.empty()) out += (out.empty() ? "unbound:" : "; unbound:") + unbound;
  return out;
}

std::string numbers(std::span<const SlotId> slots) {
  std::string out;
  for (const SlotId slot : slots) out += " " + std::to_string(slot.value);
  return out;
}

void run_slots(const BindFile& file) {
  SlotBinding binding;
  std::set<NodeId> hosts;
  std::set<SlotId> open;
  for (const BindStep& step : file.steps) {
    if (step.of_slots && step.joins) {
      binding.open(step.slots.at(0), step.node, step.rack);
      open.insert(step.slots.at(0));
    } else if (step.of_slots) {
      binding.close(step.slots);
      for (const SlotId slot : step.slots) open.erase(slot);
    } else if (step.joins) {
      binding.join(step.node, step.rack);
      hosts.insert(step.node);
    } else {
      binding.leave(step.node);
      hosts.erase(step.node);
    }
    std::vector<std::string> parts;
    for (const NodeId host : hosts) parts.push_back(fmt::format("{}:{}", host.value, numbers(binding.stack(host))));
    std::vector<SlotId> unbound;
    for (const SlotId slot : open) {
      if (!binding.bound_to(slot).valid()) unbound.push_back(slot);
    }
    if (!unbound.empty()) parts.push_back("unbound:" + numbers(unbound));
    std::string found;
    for (const std::string& part : parts) found += (found.empty() ? "" : "; ") + part;
    EXPECT_EQ(found, step.expected) << "after: " << step.text << "\nlesson: " << file.lesson;
  }
}

class BindSched : public testing::TestWithParam<std::string> {};

TEST_P(BindSched, ComesToWhatItSays) {
  const BindFile file = BindReader::read(fmt::format("{}/{}.sched", folder(), GetParam()));
  if (file.slots) return run_slots(file);
  NodeBinding binding(file.stop);
  std::set<std::uint32_t> there;
  for (const BindStep& step : file.steps) {
    if (step.joins) {
      binding.join(step.node, step.rack, step.accelerators * step.speed);
      there.insert(step.node.value);
    } else {
      binding.leave(step.node);
      there.erase(step.node.value);
    }
    EXPECT_EQ(stacks_of(binding, there), step.expected) << "after: " << step.text << "\nlesson: " << file.lesson;
  }
}

std::string name_of_case(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, BindSched, testing::ValuesIn(every_file()), name_of_case);

TEST(BindFiles, EachTeachALessonOfTheirOwn) {
  std::set<std::string> lessons;
  for (const std::string& name : every_file()) {
    EXPECT_TRUE(lessons.insert(BindReader::read(fmt::format("{}/{}.sched", folder(), name)).lesson).second) << name;
  }
  EXPECT_GE(lessons.size(), 17U);
}

}  // namespace
}  // namespace rota::golden

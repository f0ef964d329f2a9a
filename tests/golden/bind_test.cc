// Runs every bind/*.sched file: nodes bound step by step, or an application's tasks and who computes them.
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
    out += (out.empty() ? "" : "; ") + std::to_string(node) + ":";
    for (const NodeId bound : binding.stack(id)) out += " " + std::to_string(bound.value);
  }
  if (!unbound.empty()) out += (out.empty() ? "unbound:" : "; unbound:") + unbound;
  return out;
}

void expect_steps(const BindFile& file) {
  const bool literal = file.offload.bind == Bind::node_literal;
  NodeBinding binding(literal ? NodeBinding::Stop::literal : NodeBinding::Stop::balanced);
  std::set<std::uint32_t> there;
  for (const BindStep& step : file.steps) {
    if (step.joins) {
      binding.join(step.node, step.rack, step.accelerator);
      there.insert(step.node.value);
    } else {
      binding.leave(step.node);
      there.erase(step.node.value);
    }
    EXPECT_EQ(stacks_of(binding, there), step.expected) << "after: " << step.said << "\nlesson: " << file.lesson;
  }
}

// The same lines as in the file, in order of the nodes.
std::vector<std::string> lines_of(const sim::Offload& offload, const sim::OffloadOutcome& outcome) {
  std::vector<std::string> lines{"end " +
                                 std::to_string(std::chrono::ceil<std::chrono::seconds>(outcome.makespan).count())};
  for (std::size_t i = 0; i < offload.nodes.size(); ++i) {
    if (outcome.on_cpu[i] > 0)
      lines.push_back("cpu " + std::to_string(i + 1) + " " + std::to_string(outcome.on_cpu[i]));
  }
  // containers are numbered in order of joining
  std::vector<std::size_t> joined(offload.nodes.size());
  for (std::size_t i = 0; i < joined.size(); ++i) joined[i] = i;
  std::ranges::stable_sort(joined, {}, [&](std::size_t i) { return offload.nodes[i].joins; });
  std::map<std::size_t, std::string> accelerators;
  std::size_t container = 0;
  for (const std::size_t i : joined) {
    if (offload.nodes[i].speeds.empty() || container == outcome.in_container.size()) continue;
    std::string& line = accelerators[i] = "accelerator " + std::to_string(i + 1);
    for (std::size_t k = 0; k < offload.nodes[i].speeds.size(); ++k) {
      line += " " + std::to_string(outcome.in_container[container++]);
    }
  }
  for (const auto& [node, line] : accelerators) lines.push_back(line);
  return lines;
}

class BindSched : public testing::TestWithParam<std::string> {};

TEST_P(BindSched, ComesToWhatItSays) {
  const BindFile file = BindReader::read(folder() + "/" + GetParam() + ".sched");
  expect_steps(file);
  if (file.offload.nodes.empty()) return;
  sim::Offload offload = file.offload;
  const auto outcome = sim::run_offload(offload);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(lines_of(offload, *outcome), file.outcome) << "lesson: " << file.lesson;
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
    EXPECT_TRUE(lessons.insert(BindReader::read(folder() + "/" + name + ".sched").lesson).second) << name;
  }
  EXPECT_GE(lessons.size(), 12U);
}

}  // namespace
}  // namespace rota::golden

#include "plan/node_room.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace rota {
namespace {

// One, two or three shapes of nodes; at most as many processors as there are levels in the index, which then is exact.
Machine any_machine() {
  Machine machine;
  const auto shapes = *rc::gen::container<std::vector<std::uint32_t>>(3, rc::gen::inRange(1U, 64U));
  const auto nodes = *rc::gen::inRange<std::size_t>(1, 12);
  for (std::size_t i = 0; i < nodes; ++i) {
    machine.nodes.push_back({"n" + std::to_string(i), *rc::gen::elementOf(shapes), 0, {}});
    machine.nodes.back().accelerators = *rc::gen::inRange(0U, 3U);
    machine.nodes.back().cpu_factor = *rc::gen::element(1000, 1000, 2000);
    machine.processors += machine.nodes.back().processors;
  }
  return machine;
}

JobSpec any_job() {
  JobSpec spec;
  spec.processors = *rc::gen::inRange(1U, 150U);
  spec.nodes = *rc::gen::inRange(0U, 5U);
  spec.accelerators = *rc::gen::element<std::uint8_t>(0, 0, 1, 2);
  return spec;
}

// What is planned for later is where a start would go if that were now: also where others have overfilled some nodes.
RC_GTEST_PROP(NodeRoom, finds_what_a_start_would_find, ()) {
  const Machine machine = any_machine();
  NodeSpace space(&machine, *rc::gen::element(IdleOrder::file, IdleOrder::latest_first),
                  *rc::gen::element(NodeOrder::fullest, NodeOrder::least_loaded));
  std::vector<Placement> taken;
  for (int i = 0; i < 30; ++i) {
    const JobSpec spec = any_job();
    if (*rc::gen::inRange(0, 8) == 0) {
      const Placement theirs{{{NodeId{*rc::gen::inRange(0U, static_cast<std::uint32_t>(space.size()))}, 40}},
                             {0, *rc::gen::inRange(0, 3)}};
      space.take_unasked(theirs);
      taken.push_back(theirs);
    }
    const NodeRoom room(space);
    Placement now;
    Placement later;
    const bool fits = space.find(spec, now);
    RC_ASSERT(fits == room.find_as_for_a_start(spec, later));
    if (fits) {
      const auto by_node = [](const Placement& where) {
        std::map<std::uint32_t, std::uint32_t> all;
        for (const Share& s : where.shares) all[s.node.value] += s.processors;
        return all;
      };
      RC_ASSERT(by_node(now) == by_node(later));
      space.occupy(now);
      taken.push_back(now);
    } else if (!taken.empty()) {
      const auto one = *rc::gen::inRange<std::size_t>(0, taken.size());
      space.give(taken[one], at_seconds(i));
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(one));
    }
  }
}

TEST(NodeRoom, sets_the_least_loaded_nodes_aside_where_it_is_told_to) {
  Machine machine;
  machine.processors = 12;
  machine.nodes = {{"a", 4, 0, {}}, {"b", 4, 0, {}}, {"c", 4, 0, {}}};
  JobSpec spec;
  spec.nodes = 2;
  spec.processors = 2;
  for (const auto order : {NodeOrder::fullest, NodeOrder::least_loaded}) {
    NodeSpace space(&machine, IdleOrder::file, order);
    space.occupy({{{NodeId{0}, 3}}, {}});
    space.occupy({{{NodeId{1}, 1}}, {}});
    const NodeRoom room(space);
    Placement where;
    ASSERT_TRUE(room.find_busy_first(spec, where));
    const bool least = order == NodeOrder::least_loaded;
    EXPECT_EQ(where.shares[0].node, NodeId{least ? 2U : 0U});
    EXPECT_EQ(where.shares[1].node, NodeId{1});
  }
}

}  // namespace
}  // namespace rota

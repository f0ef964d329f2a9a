#include "model/node_space.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/node_space_test.h"

namespace rota {
namespace {

using namespace test_nodes;  // NOLINT(google-build-using-namespace)

TEST(NodeSpace, gives_whole_nodes_to_a_job_that_fills_them) {
  const Machine machine = alike(4, 8);
  NodeSpace space(&machine);
  occupy(space, asks(3));
  EXPECT_EQ(found(space, asks(16)), (Where{{1, 8}, {2, 8}}));
  EXPECT_EQ(found(space, asks(19)), (Where{{0, 3}, {1, 8}, {2, 8}})) << "and the rest to one that is used already";
}

TEST(NodeSpace, fills_the_fullest_node_that_has_room_first) {
  const Machine machine = alike(4, 8);
  NodeSpace space(&machine);
  for (const std::uint32_t node : {0U, 1U, 2U}) space.occupy({{{NodeId{node}, 2 + 2 * node}}, {}});
  EXPECT_EQ(found(space, asks(2)), (Where{{2, 2}}));
  EXPECT_EQ(found(space, asks(3)), (Where{{1, 3}}));
  EXPECT_EQ(found(space, asks(7)), (Where{{3, 7}}));
}

TEST(NodeSpace, takes_the_least_loaded_node_first_where_it_is_told_to) {
  const Machine machine = machine_of({{8, 0}, {4, 0}, {8, 0}});
  NodeSpace space(&machine, IdleOrder::file, NodeOrder::least_loaded);
  EXPECT_EQ(found(space, asks(1)), (Where{{1, 1}})) << "of idle nodes the smallest";
  space.occupy({{{NodeId{0}, 6}}, {}});
  space.occupy({{{NodeId{1}, 2}}, {}});
  EXPECT_EQ(found(space, asks(3)), (Where{{2, 3}})) << "an idle one before those that are used";
  EXPECT_EQ(found(space, asks(9)), (Where{{2, 8}, {1, 1}}));
  space.occupy({{{NodeId{2}, 5}}, {}});
  EXPECT_EQ(found(space, asks(1)), (Where{{1, 1}})) << "2 of 4 are in use there, 5 of 8 and 6 of 8 elsewhere";
  EXPECT_EQ(found(space, asks(3)), (Where{{2, 3}}));
  EXPECT_EQ(found(space, asks(2, 2)), (Where{{1, 1}, {2, 1}}));
  EXPECT_EQ(found(space, asks(5, 3)), (Where{{0, 1}, {1, 2}, {2, 2}}));
  EXPECT_EQ(found(space, asks(6)), (Where{{0, 2}, {1, 1}, {2, 3}})) << "over what is left, the emptiest first";
}

TEST(NodeSpace, spreads_a_job_over_what_is_left_if_it_must) {
  const Machine machine = alike(3, 4);
  NodeSpace space(&machine);
  for (const std::uint32_t node : {0U, 1U, 2U}) space.occupy({{{NodeId{node}, 1 + node}}, {}});
  EXPECT_EQ(found(space, asks(6)), (Where{{0, 3}, {1, 2}, {2, 1}}));
  EXPECT_EQ(found(space, asks(7)), Where{});
}

TEST(NodeSpace, spreads_evenly_where_nodes_are_asked_for) {
  const Machine machine = machine_of({{2, 0}, {4, 0}, {4, 0}, {4, 0}});
  NodeSpace space(&machine);
  EXPECT_EQ(found(space, asks(8, 3)), (Where{{1, 3}, {2, 3}, {0, 2}}));
  EXPECT_EQ(found(space, asks(9, 3)), (Where{{1, 3}, {2, 3}, {3, 3}}));
  EXPECT_EQ(found(space, asks(14, 4)), Where{}) << "four processors on two nodes and three on two; one has two";
  EXPECT_EQ(found(space, asks(2, 4)), (Where{{0, 1}, {1, 1}})) << "a share is one processor at least";
}

TEST(NodeSpace, looks_at_memory_where_a_node_says_what_it_has) {
  const Machine machine = machine_of({{4, 8 * kGiB}, {4, 32 * kGiB}, {4, 0}});
  NodeSpace space(&machine);
  EXPECT_EQ(found(space, asks(1, 0, 16 * kGiB)), (Where{{1, 1}}));
  occupy(space, asks(1, 1, 20 * kGiB));
  EXPECT_EQ(found(space, asks(1, 1, 16 * kGiB)), (Where{{2, 1}}));
  EXPECT_EQ(found(space, asks(2, 2, 8 * kGiB)), (Where{{0, 1}, {1, 1}}));
}

// Nodes of four processors with so many accelerators of such a type.
Machine accelerated(const std::vector<std::pair<std::uint32_t, std::uint8_t>>& nodes) {
  Machine machine = alike(nodes.size(), 4);
  machine.accelerator_types = {"gpu", "fpga"};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    machine.nodes[i].accelerators = nodes[i].first;
    if (nodes[i].first > 0) machine.nodes[i].accelerator_type = AcceleratorTypeId{nodes[i].second};
  }
  return machine;
}

TEST(NodeSpace, holds_accelerators_for_the_job_that_has_them) {
  const Machine machine = accelerated({{0, 0}, {2, 0}, {4, 0}});
  NodeSpace space(&machine);
  const JobSpec two = with_accelerators(asks(1), 2);
  EXPECT_EQ(space.needs_of(two), Needs::places);
  EXPECT_EQ(space.needs_of(asks(1)), Needs::processors);
  const Placement first = occupy(space, two);
  EXPECT_EQ(first.shares[0].node, NodeId{1});
  EXPECT_EQ(space.per_node_on(NodeId{1}).accelerators, 0);
  occupy(space, two);
  occupy(space, two);
  EXPECT_EQ(found(space, with_accelerators(asks(1), 1)), Where{}) << "processors are free, accelerators are not";
  EXPECT_EQ(found(space, asks(1)), (Where{{2, 1}}));
  space.give(first, at_seconds(5));
  EXPECT_EQ(found(space, with_accelerators(asks(1), 1)), (Where{{1, 1}}));
}

TEST(NodeSpace, takes_accelerators_of_each_node_of_a_job) {
  const Machine machine = accelerated({{1, 0}, {1, 0}, {2, 0}, {0, 0}});
  NodeSpace space(&machine);
  EXPECT_EQ(found(space, with_accelerators(asks(3, 3), 1)), (Where{{0, 1}, {1, 1}, {2, 1}}));
  EXPECT_EQ(found(space, with_accelerators(asks(4, 4), 1)), Where{});
  EXPECT_EQ(found(space, with_accelerators(asks(2, 2), 2)), Where{});
  EXPECT_EQ(found(space, with_accelerators(asks(9), 1)), (Where{{0, 4}, {1, 4}, {2, 1}})) << "any spread will do";
  const Placement where = occupy(space, with_accelerators(asks(9), 1));
  EXPECT_EQ(space.per_node_on(NodeId{2}).accelerators, 1);
  space.give(where, at_seconds(1));
  EXPECT_EQ(space.per_node_on(NodeId{2}).accelerators, 2);
}

TEST(NodeSpace, gives_accelerators_of_the_type_that_is_asked_for) {
  const Machine machine = accelerated({{1, 0}, {1, 1}});
  NodeSpace space(&machine);
  const AcceleratorTypeId fpga{1};
  EXPECT_EQ(found(space, with_accelerators(asks(1), 1)), (Where{{0, 1}}));
  EXPECT_EQ(found(space, with_accelerators(asks(1), 1, fpga)), (Where{{1, 1}}));
  EXPECT_FALSE(space.admits(NodeId{0}, with_accelerators(asks(1), 1, fpga)));
  EXPECT_EQ(found(space, with_accelerators(asks(2, 2), 1, fpga)), Where{});
}

JobSpec wishing(JobSpec spec, NodeWish wish) {
  spec.node_wish = std::make_shared<const NodeWish>(std::move(wish));
  return spec;
}

TEST(NodeSpace, finds_nodes_as_a_job_wishes_them) {
  Machine machine = alike(4, 4);
  for (std::uint32_t n = 0; n < 4; ++n) machine.nodes[n].features = n;
  const NodeSpace space(&machine);
  const JobSpec both = wishing(asks(2), {.features = {3}, .among = {}, .without = {}});
  EXPECT_EQ(found(space, both), (Where{{3, 2}}));
  EXPECT_EQ(space.needs_of(both), Needs::places);
  EXPECT_FALSE(space.admits(NodeId{2}, both));
  EXPECT_EQ(found(space, wishing(asks(9, 3), {.features = {1, 2}, .among = {}, .without = {}})),
            (Where{{1, 3}, {2, 3}, {3, 3}}));
  EXPECT_EQ(found(space, wishing(asks(5), {.features = {3}, .among = {}, .without = {}})), Where{});
  EXPECT_EQ(found(space, wishing(asks(2), {.features = {}, .among = {}, .without = {NodeId{0}, NodeId{1}}})),
            (Where{{2, 2}}));
  EXPECT_EQ(found(space, wishing(asks(5, 2), {.features = {}, .among = {NodeId{1}, NodeId{3}}, .without = {}})),
            (Where{{1, 3}, {3, 2}}));
}

// Nodes of one group, of which the first is not the one that the job names.
TEST(NodeSpace, decides_by_name_node_by_node) {
  const Machine machine = alike(6, 4);
  NodeSpace space(&machine, IdleOrder::latest_first);
  const JobSpec last = wishing(asks(4, 1), {.features = {}, .among = {NodeId{5}}, .without = {}});
  const Placement where = occupy(space, last);
  EXPECT_EQ(where.shares.front().node, NodeId{5});
  EXPECT_EQ(found(space, last), Where{});
  EXPECT_EQ(found(space, wishing(asks(4), {.features = {}, .among = {}, .without = {NodeId{0}}})), (Where{{1, 4}}));
}

TEST(NodeSpace, finds_nodes_of_the_partition_only) {
  Machine machine = alike(3, 4);
  machine.partitions.resize(2);
  machine.partitions[0].nodes = {NodeId{0}, NodeId{1}, NodeId{2}};
  machine.partitions[1].nodes = {NodeId{2}};
  for (Node& node : machine.nodes) node.partitions = {PartitionId{0}};
  machine.nodes[2].partitions.push_back(PartitionId{1});
  const NodeSpace space(&machine);
  JobSpec spec = asks(2);
  spec.partition = PartitionId{1};
  EXPECT_EQ(found(space, spec), (Where{{2, 2}}));
  EXPECT_EQ(space.needs_of(spec), Needs::places);
  spec.partition = PartitionId{0};
  EXPECT_EQ(space.needs_of(spec), Needs::processors) << "the partition has every node";
}

TEST(NodeSpace, has_room_where_licences_of_every_kind_are_free) {
  Machine machine = alike(2, 8);
  machine.licences = {{"solver", 4}, {"mesher", 2}, {"viewer", 1}};
  NodeSpace space(&machine);
  JobSpec both = asks(1);
  set_licences(both, {{LicenceId{1}, 1}, {LicenceId{0}, 2}});
  EXPECT_EQ(space.needs_of(both), Needs::places);
  const Placement first = occupy(space, both);
  const Placement second = occupy(space, both);
  EXPECT_EQ(space.licences(), (std::vector<std::int64_t>{0, 0, 1}));
  EXPECT_TRUE(found(space, both).empty());
  space.give(first, kEpoch);
  EXPECT_FALSE(found(space, both).empty());
  JobSpec meshers = asks(1);
  set_licences(meshers, {{LicenceId{1}, 1}, {LicenceId{2}, 1}});
  const Placement third = occupy(space, meshers);
  EXPECT_TRUE(found(space, both).empty()) << "of solvers there are enough";
  EXPECT_FALSE(space.fits(first));
  space.give(second, kEpoch);
  space.give(third, kEpoch);
  EXPECT_EQ(space.licences(), (std::vector<std::int64_t>{4, 2, 1}));
}

TEST(NodeSpace, never_finds_a_node_that_is_not_available) {
  const Machine machine = alike(3, 4);
  NodeSpace space(&machine);
  space.set_available(NodeId{0}, false);
  EXPECT_EQ(found(space, asks(4)), (Where{{1, 4}}));
  EXPECT_EQ(space.free(), 8);
  EXPECT_EQ(space.withheld(), 4);
  EXPECT_EQ(found(space, asks(9)), Where{});
  const Placement where = occupy(space, asks(4));
  space.set_available(NodeId{1}, false);  // it drains
  EXPECT_EQ(space.withheld(), 4);
  space.give(where, at_seconds(7));
  EXPECT_EQ(space.withheld(), 8) << "what a job gives back on a node that drains is withheld";
  space.set_available(NodeId{1}, true);
  EXPECT_EQ(found(space, asks(8)), (Where{{1, 4}, {2, 4}}));
}

TEST(NodeSpace, counts_parts_on_nodes_that_are_full_too) {
  const Machine machine = alike(2, 4);
  NodeSpace space(&machine);
  const Placement small = occupy(space, asks(1));
  const Placement large = occupy(space, asks(3));
  occupy(space, asks(4));
  EXPECT_EQ(space.free(), 0);
  EXPECT_EQ(space.parts_held(), 2) << "what comes free there is no whole node";
  space.give(small, at_seconds(1));
  EXPECT_EQ(space.parts_held(), 1);
  space.give(large, at_seconds(1));
  EXPECT_EQ(space.parts_held(), 0);
}

TEST(NodeSpace, knows_which_nodes_are_idle_and_since_when) {
  const Machine machine = alike(4, 4);
  NodeSpace space(&machine);
  const Placement first = occupy(space, asks(4));
  const Placement second = occupy(space, asks(6));
  EXPECT_EQ(space.busy_count(), 3U);
  EXPECT_EQ(space.parts_held(), 1);
  space.give(first, at_seconds(9));
  EXPECT_TRUE(space.idle(NodeId{0}));
  EXPECT_EQ(space.idle_since(NodeId{0}), at_seconds(9));
  EXPECT_EQ(space.idle_since(NodeId{3}), kEpoch);
  std::vector<std::uint32_t> idle;
  space.for_each_idle([&](NodeId node) {
    idle.push_back(node.value);
    return true;
  });
  EXPECT_EQ(idle, (std::vector<std::uint32_t>{0, 3}));
}

TEST(NodeSpace, latest_first_leaves_those_alone_that_have_been_idle_for_long) {
  const Machine machine = alike(4, 4);
  NodeSpace space(&machine, IdleOrder::latest_first);
  EXPECT_EQ(found(space, asks(4)), (Where{{0, 4}})) << "in file order at first";
  const Placement a = occupy(space, asks(4));
  const Placement b = occupy(space, asks(8));
  space.give(b, at_seconds(1));
  space.give(a, at_seconds(2));
  EXPECT_EQ(found(space, asks(4)), (Where{{0, 4}}));
  EXPECT_EQ(found(space, asks(12)), (Where{{0, 4}, {2, 4}, {1, 4}}));
  space.occupy({{{NodeId{2}, 4}}, {}});
  EXPECT_EQ(found(space, asks(12)), (Where{{0, 4}, {1, 4}, {3, 4}}));
}

TEST(NodeSpace, whole_nodes_are_a_matter_of_counting_where_they_are_alike) {
  const Machine uniform = alike(4, 8);
  const Machine mixed = machine_of({{8, 0}, {4, 0}});
  EXPECT_EQ(NodeSpace(&uniform).needs_of(asks(5)), Needs::processors);
  EXPECT_EQ(NodeSpace(&uniform).needs_of(asks(16, 2)), Needs::whole_nodes);
  EXPECT_EQ(NodeSpace(&uniform).needs_of(asks(8, 2)), Needs::places);
  EXPECT_EQ(NodeSpace(&mixed).needs_of(asks(8, 1)), Needs::places);
  EXPECT_EQ(NodeSpace(&uniform).needs_of(asks(5, 0, kGiB)), Needs::processors) << "no node says what memory it has";
}

// What a follower does to itself is undone by following.
RC_GTEST_PROP(NodeSpace, a_follower_forgets_what_it_tried, ()) {
  const Machine machine = alike(70, 4);
  NodeSpace space(&machine, *rc::gen::element(IdleOrder::file, IdleOrder::latest_first));
  NodeSpace follower(nullptr);
  std::vector<Placement> taken;
  for (int i = 0; i < 50; ++i) {
    follower.follow(space);
    RC_ASSERT(follower.free() == space.free());
    RC_ASSERT(found(follower, asks(9)) == found(space, asks(9)));
    Placement where;
    for (int tries = *rc::gen::inRange(0, 4); tries > 0; --tries) {
      if (follower.find(asks(*rc::gen::inRange(1U, 60U)), where)) follower.occupy(where);
    }
    if (!taken.empty() && *rc::gen::arbitrary<bool>()) {
      space.give(taken.back(), at_seconds(i));
      taken.pop_back();
    } else if (space.find(asks(*rc::gen::inRange(1U, 60U)), where)) {
      space.occupy(where);
      taken.push_back(where);
    }
  }
}

// Two partitions and two types of accelerators on nodes of one shape, mixed.
Machine mixed(std::size_t nodes) {
  Machine machine = alike(nodes, 4);
  machine.partitions.resize(2);
  machine.accelerator_types = {"red", "blue"};
  for (std::uint32_t i = 0; i < nodes; ++i) {
    Node& node = machine.nodes[i];
    if (i % 2 == 0) node.partitions.push_back(PartitionId{0});
    if (i % 3 == 0) node.partitions.push_back(PartitionId{1});
    for (const PartitionId p : node.partitions) machine.partitions[p.value].nodes.push_back(NodeId{i});
    node.accelerators = i % 5 == 0 ? 2 : 0;
    if (i % 5 == 0) node.accelerator_type = AcceleratorTypeId{static_cast<std::uint8_t>(i % 2)};
  }
  return machine;
}

JobSpec picky() {
  JobSpec spec = asks(*rc::gen::inRange(1U, 24U), *rc::gen::inRange(0U, 5U));
  if (*rc::gen::arbitrary<bool>()) spec.partition = PartitionId{*rc::gen::inRange(0U, 2U)};
  if (*rc::gen::inRange(0, 3) == 0) {
    spec.accelerators = static_cast<std::uint8_t>(*rc::gen::inRange(1, 3));
    if (*rc::gen::arbitrary<bool>()) spec.accelerator_type = AcceleratorTypeId{*rc::gen::element<std::uint8_t>(0, 1)};
  }
  return spec;
}

// What is passed over as a group would not have suited, and nothing else is passed over: a job that names a partition
// finds what it would find if the other nodes were not there.
RC_GTEST_PROP(NodeSpace, passes_over_what_can_never_suit, ()) {
  const Machine machine = mixed(*rc::gen::inRange<std::size_t>(1, 90));
  const auto order = *rc::gen::element(IdleOrder::file, IdleOrder::latest_first);
  NodeSpace space(&machine, order);
  std::vector<Placement> taken;
  for (int i = 0; i < 60; ++i) {
    const JobSpec spec = picky();
    NodeSpace narrowed(nullptr);
    narrowed.follow(space);
    for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
      const NodeId node{n};
      if (!space.admits(node, spec) || machine.nodes[n].accelerators < spec.accelerators)
        narrowed.set_available(node, false);
    }
    JobSpec anywhere = spec;
    anywhere.partition = {};
    anywhere.accelerator_type = {};
    Placement where;
    const bool fits = space.find(spec, where);
    RC_ASSERT(found(space, spec) == found(narrowed, anywhere));
    if (fits) {
      RC_ASSERT(space.fits(where));
      space.occupy(where);
      taken.push_back(where);
    }
    if (!taken.empty() && *rc::gen::inRange(0, 3) == 0) {
      const auto which = *rc::gen::inRange<std::size_t>(0, taken.size());
      space.give(taken[which], at_seconds(i));
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
}

TEST(NodeSpace, gives_the_nodes_that_fell_idle_last_first_whatever_their_group) {
  const Machine machine = mixed(12);
  NodeSpace space(&machine, IdleOrder::latest_first);
  const Placement all = occupy(space, asks(48, 12));
  std::vector<std::uint32_t> back{7, 0, 4, 11, 3, 10, 1, 6, 9, 2, 8, 5};
  for (const std::uint32_t node : back) space.give({{{NodeId{node}, 4}}}, at_seconds(node));
  std::vector<std::uint32_t> longest_first;
  space.for_each_longest_idle([&](NodeId node) {
    longest_first.push_back(node.value);
    return true;
  });
  EXPECT_EQ(longest_first, back);
  EXPECT_EQ(found(space, asks(12)), (Where{{5, 4}, {8, 4}, {2, 4}}));
  JobSpec spec = asks(12);
  spec.partition = PartitionId{1};
  EXPECT_EQ(found(space, spec), (Where{{9, 4}, {6, 4}, {3, 4}}));
}

TEST(NodeSpace, is_put_back_in_the_order_in_which_nodes_fell_idle) {
  const Machine machine = alike(4, 2);
  NodeSpace space(&machine, IdleOrder::latest_first);
  std::vector<Placement> places;
  for (int i = 0; i < 4; ++i) places.push_back(occupy(space, asks(2)));
  for (const std::size_t i : {2U, 0U, 3U, 1U}) space.give(places[i], at_seconds(static_cast<std::int64_t>(i)));
  space.wake(NodeId{2}, at_seconds(9));

  NodeSpace same(&machine, IdleOrder::latest_first);
  for (std::uint32_t i = 0; i < 4; ++i)
    same.put_back(NodeId{i}, space.fell_idle(NodeId{i}), space.idle_since(NodeId{i}));
  const auto order = [](const NodeSpace& of) {
    std::vector<NodeId> nodes;
    of.for_each_longest_idle([&](NodeId node) {
      nodes.push_back(node);
      return true;
    });
    return nodes;
  };
  EXPECT_EQ(order(same), order(space));
  EXPECT_EQ(order(same).back(), NodeId{2});
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(same.idle_since(NodeId{i}), space.idle_since(NodeId{i}));
  const Placement one = occupy(space, asks(2));
  const Placement other = occupy(same, asks(2));
  EXPECT_EQ(one.shares[0].node, other.shares[0].node);
  space.give(one, at_seconds(10));
  same.give(other, at_seconds(10));
  EXPECT_EQ(same.fell_idle(NodeId{2}), space.fell_idle(NodeId{2}));  // the clock goes on from where it was
}

}  // namespace
}  // namespace rota

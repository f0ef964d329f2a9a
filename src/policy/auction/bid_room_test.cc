#include "policy/auction/bid_room.h"

#include <gtest/gtest.h>

#include "model/world_test.h"
#include "policy/auction/bid.h"

namespace rota {
namespace {

// A site of two nodes with four processors each; the first has two accelerators. Two licences.
class RoomForBids : public testing::Test {
 protected:
  static Machine site() {
    Machine machine = Machine::counted(8);
    machine.racks = {""};
    machine.accelerator_types = {"gpu"};
    machine.licences = {{"solver", 2}, {"mesher", 1}};
    machine.nodes = {{"with", 4, 8, {}}, {"without", 4, 8, {}}};
    machine.nodes[0].accelerators = 2;
    machine.nodes[0].accelerator_type = AcceleratorTypeId{0};
    for (Node& node : machine.nodes) node.power.boot = seconds(30);
    return machine;
  }
  static ClusterOptions options(const Machine& machine) {
    ClusterOptions options = World::counted(8);
    options.machine = &machine;
    options.by_priority = true;
    options.wakes_for_promises = true;
    return options;
  }

  JobSpec asks(std::int64_t limit, std::uint8_t accelerators, std::int32_t priority = 1) {
    JobSpec spec;
    spec.number = ++numbers_;
    spec.limit = seconds(limit);
    spec.accelerators = accelerators;
    spec.priority = priority;
    return spec;
  }
  JobSpec licensed(std::int64_t limit, std::uint32_t licences) {
    JobSpec spec = asks(limit, 0);
    spec.licence = LicenceId{0};
    spec.licences = licences;
    return spec;
  }
  JobId waits(const JobSpec& spec) { return submit(cluster_, spec); }
  void runs(const JobSpec& spec, std::uint32_t node) {
    Placement where{{{NodeId{node}, spec.processors}}, spec.per_node()};
    copy_licences(spec, where);
    fold(cluster_, Started{waits(spec), false, where});
  }
  void promises(JobId id, std::int64_t second, std::uint32_t node) {
    const JobSpec& spec = cluster_.job(id).spec;
    fold(cluster_, Promised{id, at_seconds(second), {{{NodeId{node}, spec.processors}}, spec.per_node(), {}, 0}});
  }
  // How long until the job starts, as the site bids by its plan.
  Duration bid(const JobSpec& spec, const Haul& haul = {}) { return bid_for(rules_, cluster_, spec, haul)->start; }
  bool offers(const JobSpec& spec) {
    rules_.valuation = Valuation::published;
    return bid_for(rules_, cluster_, spec, {}).has_value();
  }

  Machine machine_ = site();
  Cluster cluster_{options(machine_)};
  BidRules rules_{.valuation = Valuation::by_plan};
  std::int64_t numbers_ = 0;
};

TEST_F(RoomForBids, waits_for_accelerators_though_processors_are_free) {
  runs(asks(50, 2), 0);
  EXPECT_EQ(bid(asks(10, 0)), seconds(0));
  EXPECT_EQ(bid(asks(10, 1)), seconds(50));
  EXPECT_EQ(bid(asks(10, 1), {seconds(20), {}, {}}), seconds(50)) << "its input comes meanwhile";
  EXPECT_EQ(bid(asks(10, 1), {seconds(70), {}, {}}), seconds(70));
}

TEST_F(RoomForBids, waits_for_licences_wherever_they_are_held) {
  runs(licensed(50, 1), 0);
  runs(licensed(80, 1), 1);
  EXPECT_EQ(bid(licensed(10, 1)), seconds(50));
  EXPECT_EQ(bid(licensed(10, 2)), seconds(80));
}

TEST_F(RoomForBids, waits_for_licences_of_every_kind) {
  JobSpec both = licensed(50, 1);
  both.more_licences = {{LicenceId{1}, 1}};
  runs(both, 0);
  EXPECT_EQ(bid(licensed(10, 1)), seconds(0));
  both.limit = seconds(10);
  EXPECT_EQ(bid(both), seconds(50));
}

TEST_F(RoomForBids, waits_for_memory_of_one_node) {
  JobSpec large = asks(40, 0);
  large.memory = 6;
  runs(large, 0);
  runs(large, 1);
  EXPECT_EQ(bid(large), seconds(40));
  large.memory = 2;
  EXPECT_EQ(bid(large), seconds(0));
}

TEST_F(RoomForBids, leaves_what_is_promised_to_jobs_that_go_first) {
  runs(asks(50, 2), 0);
  promises(waits(asks(100, 2)), 50, 0);
  EXPECT_EQ(bid(asks(10, 1)), seconds(150));
  EXPECT_EQ(bid(asks(10, 1, 2)), seconds(0)) << "a higher priority does not, and those who run give way to it";
}

TEST_F(RoomForBids, goes_before_a_promise_if_it_is_over_by_then) {
  runs(asks(50, 1), 0);
  promises(waits(asks(100, 2)), 50, 0);
  EXPECT_EQ(bid(asks(50, 1)), seconds(0));
  EXPECT_EQ(bid(asks(51, 1)), seconds(150));
}

TEST_F(RoomForBids, counts_the_boot_of_the_node_that_has_the_accelerators) {
  fold(cluster_, PowerChanged{NodeId{0}, PowerState::off});
  EXPECT_EQ(bid(asks(10, 0)), seconds(0));
  EXPECT_EQ(bid(asks(10, 1)), seconds(30));
  EXPECT_EQ(bid(asks(10, 1), {seconds(5), {}, {}}), seconds(35)) << "woken when the input has come";
}

TEST_F(RoomForBids, of_jobs_that_would_give_way_is_there_at_once) {
  runs(asks(50, 2, 0), 0);
  EXPECT_EQ(bid(asks(10, 1, 1)), seconds(0));
  EXPECT_EQ(bid(asks(10, 1, 0)), seconds(50));
}

TEST_F(RoomForBids, is_needed_for_an_offer_as_published_too) {
  EXPECT_TRUE(offers(asks(10, 2)));
  runs(asks(50, 2), 0);
  EXPECT_TRUE(offers(asks(10, 0)));
  EXPECT_FALSE(offers(asks(10, 1)));
  EXPECT_TRUE(offers(asks(10, 1, 2))) << "who holds them would give way";
}

TEST_F(RoomForBids, counts_as_ending_soon_what_is_overdue) {
  runs(asks(50, 2), 0);
  const Outlook later{at_seconds(60), {}};
  EXPECT_EQ(expected_wait(rules_, cluster_, asks(10, 1), {}, later), Duration{1});
}

}  // namespace
}  // namespace rota

// What policy slurm is made of; what it comes to is in tests/golden/slurm-*.sched and real_slurm_test.cc.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "model/world_test.h"
#include "plan/plan.h"
#include "policy/chain.h"
#include "policy/slurm/consecutive.h"
#include "policy/slurm/node_set.h"
#include "policy/slurm/slurm_room.h"

namespace rota {
namespace {

TEST(Slurm, BothEndsOfAReservationAreRoundedDown) {
  const SlurmKnobs knobs;
  const SlurmSlot rounded = slot_of(at_seconds(70), seconds(120), knobs);
  EXPECT_EQ(rounded.from, at_seconds(60));
  EXPECT_EQ(rounded.until, at_seconds(180));
  const SlurmSlot within = slot_of(at_seconds(70), seconds(30), knobs);
  EXPECT_EQ(within.from, at_seconds(60));
  EXPECT_EQ(within.until, at_seconds(120));
  const SlurmSlot exact = slot_of(at_seconds(60), seconds(60), knobs);
  EXPECT_EQ(exact.from, at_seconds(60));
  EXPECT_EQ(exact.until, at_seconds(120));
  SlurmKnobs by_clock;
  by_clock.clock = seconds(45);
  const SlurmSlot of_clock = slot_of(at_seconds(70), seconds(120), by_clock);
  EXPECT_EQ(of_clock.from, at_seconds(15)) << "115 s by the clock";
  EXPECT_EQ(of_clock.until, at_seconds(135));
}

TEST(Slurm, SetsOfNodesAreFullAtFirst) {
  NodeSet all(70);
  EXPECT_EQ(all.size(), 70U);
  NodeSet fewer = all;
  fewer.erase(NodeId{69});
  EXPECT_FALSE(fewer.contains(NodeId{69}));
  EXPECT_TRUE(all.includes(fewer));
  EXPECT_FALSE(fewer.includes(all));
  all &= fewer;
  EXPECT_EQ(all.size(), 69U);
  all.clear();
  EXPECT_TRUE(all.empty());
}

// One service, called at these instants, and what it starts.
class Called {
 public:
  explicit Called(const std::string& policy) : chain_(*Chain::parse(policy)) {}

  JobId submits(Instant at) {
    world_.cluster().open_cycle(at);
    return world_.waiting({.processors = 2, .limit = 60});
  }
  bool starts(JobId job, Instant at) {
    world_.cluster().open_cycle(at);
    Plan plan;
    plan.open(world_.cluster());
    chain_.decide(world_.cluster(), plan);
    world_.close_cycle();
    if (plan.replans()) world_.fold(plan.replan());
    if (!plan.starts(job)) return false;
    world_.fold(Started{job, false});
    return true;
  }
  Instant wakes() { return chain_.next_wakeup(world_.cluster()); }

 private:
  Chain chain_;
  World world_{4};
};

TEST(Slurm, AServiceThatIsCalledALittleLateStartsJobsAtThatLook) {
  Called service("slurm+batch-sched-delay=0");
  const JobId job = service.submits(at_seconds(10) + Duration{300});
  EXPECT_FALSE(service.starts(job, at_seconds(10) + Duration{300}));
  EXPECT_EQ(service.wakes(), at_seconds(11));
  EXPECT_FALSE(service.starts(job, at_seconds(10) + Duration{900})) << "that look has not come";
  EXPECT_TRUE(service.starts(job, at_seconds(11) + Duration{7}));
}

TEST(Slurm, LooksThatComeLateDoNotPutOffTheNextPass) {
  constexpr Duration kLate{4};
  Called service("slurm+bf-interval=30s+batch-sched-delay=0");
  const JobId first = service.submits(at_seconds(10));
  EXPECT_FALSE(service.starts(first, at_seconds(10) + kLate)) << "nothing had happened at that look";
  EXPECT_TRUE(service.starts(first, at_seconds(11) + kLate)) << "and the first backfill pass has come";
  const JobId other = service.submits(at_seconds(12) + kLate);
  EXPECT_FALSE(service.starts(other, at_seconds(12) + kLate));
  EXPECT_FALSE(service.starts(other, at_seconds(12) + 2 * kLate));
  EXPECT_TRUE(service.starts(other, at_seconds(13) + kLate));
  EXPECT_EQ(service.wakes(), at_seconds(41));
}

// Nodes that have so many of their 8 processors free.
std::string places(const std::vector<std::int32_t>& free, std::uint32_t processors,
                   const std::vector<std::int64_t>& weights = {}, std::uint32_t nodes = 0) {
  Machine machine;
  for (std::size_t i = 0; i < free.size(); ++i) machine.nodes.push_back({"n" + std::to_string(i + 1), 8, 0, {}});
  for (std::size_t i = 0; i < weights.size(); ++i) machine.nodes[i].weight = weights[i];
  machine.processors = static_cast<std::int64_t>(8 * free.size());
  const NodeSpace space(&machine);
  NodeRoom room(space);
  for (std::uint32_t i = 0; i < free.size(); ++i) room.set(NodeId{i}, {.processors = free[i], .there = true});
  JobSpec spec;
  spec.processors = processors;
  spec.nodes = nodes;
  Placement where;
  if (!find_consecutive(room, machine.nodes, spec, where)) return "nowhere";
  std::string text;
  for (const Share& share : where.shares) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", machine.nodes[share.node.value].name, share.processors);
  }
  return text;
}

TEST(Slurm, FillsNodesAsSlurmDoes) {
  EXPECT_EQ(places({8, 8, 8}, 6), "n1:6");
  EXPECT_EQ(places({8, 4, 8}, 3), "n2:3") << "the one with the fewest that has enough";
  EXPECT_EQ(places({8, 8, 8}, 12), "n1:8 n2:4") << "in their order, where none has";
  EXPECT_EQ(places({8, 4, 0, 3, 4}, 4), "n5:4") << "n4 and n5 have 7 together, n1 and n2 12";
  EXPECT_EQ(places({8, 4, 0, 3, 4}, 6), "n4:3 n5:3") << "though n1 alone has enough";
  EXPECT_EQ(places({8, 4, 0, 3, 4}, 9), "n1:8 n2:1");
  EXPECT_EQ(places({4, 0, 8, 8, 0, 6}, 20), "n3:8 n4:8 n1:4") << "the most first, and then the fewest that suffice";
  EXPECT_EQ(places({4, 0, 4}, 2), "n1:2") << "of equal ones the first";
  EXPECT_EQ(places({4, 0, 4}, 9), "nowhere");
}

TEST(Slurm, FillsNodesOfTheLeastWeightFirst) {
  EXPECT_EQ(places({2, 8, 8, 4}, 4, {1, 5, 5, 10}), "n1:2 n2:2");
  EXPECT_EQ(places({2, 8, 8, 4}, 2, {1, 5, 5, 10}), "n1:2");
  EXPECT_EQ(places({2, 4, 8, 3}, 12, {1, 5, 5, 10}), "n1:2 n2:4 n3:6");
  EXPECT_EQ(places({2, 0, 0, 2}, 5, {1, 5, 5, 10}), "nowhere");
}

TEST(Slurm, PutsAJobForOneNodeWhereItFitsBest) {
  EXPECT_EQ(places({3, 8, 0, 4, 6}, 4, {}, 1), "n2:4") << "a block of one node with the fewest is n2";
  EXPECT_EQ(places({8, 6, 0, 0, 7}, 5, {}, 1), "n5:5");
  EXPECT_EQ(places({8, 6, 0, 8, 7}, 5, {}, 1), "n2:5");
  EXPECT_EQ(places({3, 3, 3}, 4, {}, 1), "nowhere");
  EXPECT_EQ(places({8, 5, 5, 4}, 4, {1, 5, 5, 10}, 1), "n1:4");
}

TEST(Slurm, RefusesWhatItWouldNotFollow) {
  const auto sentence = [](const std::string& text) {
    const auto chain = Chain::parse(text);
    return chain ? "" : chain.error().message;
  };
  EXPECT_EQ(sentence("slurm+bf-interval=1m+bf-window=2d+default-queue-depth=500"), "");
  EXPECT_EQ(sentence("slurm+priority=multifactor+weight-age=1000+weight-fairshare=10+fair-half-life=14d"), "");
  EXPECT_EQ(sentence("slurm+priority=multifactor+weight-age=1000+order=sjf"), "");
  EXPECT_EQ(
      sentence("slurm+depth=1"),
      "policy slurm has a depth of its own, and one order. Leave candidates, depth and skip out; bf-max-job-test and "
      "bf-job-part-count-reserve are its knobs for that.");
  EXPECT_EQ(sentence("slurm+preempt=suspend"),
            "policy slurm knows no jobs that go on later where they were. Take preempt=requeue or preempt=cancel, or "
            "leave preempt out.");
  EXPECT_EQ(sentence("slurm+preempt=requeue+preempt-by=qos+priority=multifactor+weight-fairshare=10"), "");
  EXPECT_EQ(sentence("easy+preempt=cancel"),
            "preempt=cancel is for policy slurm: take preempt=suspend, requeue or checkpoint, or that policy.");
  EXPECT_EQ(
      sentence("slurm+preempt=cancel+requeue-delay=5"),
      "policy knob requeue-delay would have no effect here: it is for policy slurm with preempt=requeue. Leave it "
      "out.");
  EXPECT_EQ(sentence("slurm+weight-age=10"),
            "policy knob weight-age would have no effect here: it is for policy slurm with priority=multifactor. "
            "Leave it out.");
  EXPECT_EQ(sentence("easy+bf-window=1d"),
            "policy knob bf-window would have no effect here: it is for policy slurm. Leave it out.");
  EXPECT_EQ(sentence("slurm+bf-interval=no+bf-window=1d"),
            "policy knob bf-window would have no effect here: with bf-interval=no there is no backfill pass. "
            "Leave it out.");
}

}  // namespace
}  // namespace rota

// Equal hashes, equal decisions: each test changes one thing that a plan decides and sees another hash.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "model/world_test.h"
#include "plan/plan.h"

namespace rota {
namespace {

constexpr Reason kTurn{};

Machine three_nodes() {
  Machine machine;
  machine.processors = 12;
  for (const char* name : {"a", "b", "c"}) {
    Node node;
    node.name = name;
    node.processors = 4;
    node.accelerators = 2;
    node.memory = 1000;
    machine.nodes.push_back(node);
  }
  machine.licences = {{"solver", 5}, {"mesher", 5}};
  return machine;
}

Placement on(std::uint32_t node, std::uint32_t processors = 2) {
  Placement where;
  where.shares.push_back({NodeId{node}, processors});
  return where;
}

class PlanHashTest : public testing::Test {
 protected:
  static ClusterOptions on_nodes(const Machine& machine) {
    ClusterOptions options = World::counted(12);
    options.machine = &machine;
    return options;
  }

  // The hash of what is drafted at this second, over jobs 0 and 1, which wait, and 2 and 3, which run.
  std::uint64_t hash_of(const std::function<void(Plan&)>& draft, std::int64_t second = 5) {
    World world(on_nodes(machine_));
    world.waiting({2, 10});
    world.waiting({2, 10});
    for (const std::uint32_t node : {0U, 1U}) {
      const JobId id = world.waiting({2, 10});
      world.fold(Started{id, false, on(node)});
    }
    world.at(second);
    Plan plan;
    plan.open(world.cluster());
    draft(plan);
    return plan.hash();
  }

  // All of these differ from each other, and each is the same again.
  void expect_all_different(const std::vector<std::function<void(Plan&)>>& drafts) {
    std::set<std::uint64_t> hashes;
    for (const auto& draft : drafts) {
      EXPECT_EQ(hash_of(draft), hash_of(draft));
      hashes.insert(hash_of(draft));
    }
    EXPECT_EQ(hashes.size(), drafts.size());
  }

  Machine machine_ = three_nodes();
};

TEST_F(PlanHashTest, TellsWhenItIsDecided) {
  const auto start = [](Plan& p) { p.start_at(JobId{0}, on(2), kTurn, false); };
  EXPECT_NE(hash_of(start, 5), hash_of(start, 6));
}

TEST_F(PlanHashTest, TellsWhichJobsStartWhereAndWhetherTheyOvertake) {
  Placement memory = on(2);
  memory.per_node.memory = 10;
  Placement accelerators = on(2);
  accelerators.per_node.accelerators = 1;
  Placement licences = on(2);
  licences.licence = LicenceId{0};
  licences.licences = 1;
  Placement more_licences = licences;
  more_licences.licences = 2;
  Placement two_kinds = licences;
  two_kinds.more_licences = {{LicenceId{1}, 1}};
  Placement more_of_the_other = licences;
  more_of_the_other.more_licences = {{LicenceId{1}, 2}};
  Placement two_nodes;
  two_nodes.shares = {{NodeId{1}, 1}, {NodeId{2}, 1}};
  std::vector<std::function<void(Plan&)>> drafts;
  for (const Placement& where : {on(1), on(2), on(2, 1), memory, accelerators, licences, more_licences, two_kinds,
                                 more_of_the_other, two_nodes}) {
    drafts.emplace_back([where](Plan& p) { p.start_at(JobId{0}, where, kTurn, false); });
  }
  drafts.emplace_back([](Plan& p) { p.start_at(JobId{1}, on(2), kTurn, false); });
  drafts.emplace_back([](Plan& p) { p.start_at(JobId{0}, on(2), kTurn, true); });
  drafts.emplace_back([](Plan& p) {
    p.start_at(JobId{0}, on(1), kTurn, false);
    p.start_at(JobId{1}, on(2), kTurn, false);
  });
  drafts.emplace_back([](Plan& p) {
    p.start_at(JobId{0}, on(2), kTurn, false);
    p.start_at(JobId{1}, on(1), kTurn, false);
  });
  drafts.emplace_back([](Plan&) {});
  expect_all_different(drafts);
}

TEST_F(PlanHashTest, TellsWhichJobsAreStoppedLetGoOnOrMoved) {
  Reason for_first;
  for_first.promised = JobId{0};
  Reason for_second;
  for_second.promised = JobId{1};
  expect_all_different({
      [](Plan& p) { p.kill(JobId{2}, kTurn); },
      [](Plan& p) { p.kill(JobId{3}, kTurn); },
      [](Plan& p) { p.extend(JobId{2}, at_seconds(20), kTurn); },
      [](Plan& p) { p.extend(JobId{2}, at_seconds(21), kTurn); },
      [=](Plan& p) { p.preempt(JobId{2}, for_first); },
      [=](Plan& p) { p.preempt(JobId{2}, for_second); },
      [=](Plan& p) { p.preempt(JobId{2}, for_first, at_seconds(20)); },
      [](Plan& p) { p.migrate(JobId{2}, on(1), kTurn); },
      [](Plan& p) { p.migrate(JobId{2}, on(2), kTurn); },
  });
}

TEST_F(PlanHashTest, TellsWhatIsPromisedAndWhere) {
  expect_all_different({
      [](Plan& p) { p.promise(JobId{0}, at_seconds(20)); },
      [](Plan& p) { p.promise(JobId{0}, at_seconds(21)); },
      [](Plan& p) { p.promise(JobId{1}, at_seconds(20)); },
      [](Plan& p) { p.promise_at(JobId{0}, at_seconds(20), on(0)); },
      [](Plan& p) { p.promise_at(JobId{0}, at_seconds(20), on(1)); },
      [](Plan& p) { p.promise_at(JobId{0}, at_seconds(20), on(1, 1)); },
  });
}

TEST_F(PlanHashTest, TellsWhichNodesAreSwitchedAndWhenToLookAgain) {
  expect_all_different({
      [](Plan& p) { p.power_on(NodeId{2}, kTurn); },
      [](Plan& p) { p.power_off(NodeId{2}, kTurn); },
      [](Plan& p) { p.power_on(NodeId{1}, kTurn); },
      [](Plan& p) { p.power_reviewed(at_seconds(30)); },
      [](Plan& p) { p.power_reviewed(at_seconds(31)); },
      [](Plan& p) { p.replanned({at_seconds(30), at_seconds(30), at_seconds(30), false, false}); },
      [](Plan& p) { p.replanned({at_seconds(31), at_seconds(30), at_seconds(30), false, false}); },
      [](Plan& p) { p.replanned({at_seconds(30), at_seconds(31), at_seconds(30), false, false}); },
      [](Plan& p) { p.replanned({at_seconds(30), at_seconds(30), at_seconds(31), false, false}); },
      [](Plan& p) { p.replanned({at_seconds(30), at_seconds(30), at_seconds(30), true, false}); },
      [](Plan& p) { p.replanned({at_seconds(30), at_seconds(30), at_seconds(30), false, true}); },
  });
}

}  // namespace
}  // namespace rota

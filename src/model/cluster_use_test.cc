// When what users have used counts.
#include <gtest/gtest.h>

#include "model/fact_text_test.h"
#include "model/snapshot.h"
#include "model/world_test.h"

namespace rota {
namespace {

constexpr Duration kDay = seconds(86'400);

// Use is reckoned at 7, 67, 127, ... seconds.
ClusterOptions by_minutes() {
  ClusterOptions options = World::counted(100);
  options.use.half_life = 1000 * kDay;  // so that hardly anything is forgotten
  options.use.period = seconds(60);
  options.use.phase = seconds(7);
  return options;
}

// Processor-seconds, beside one user who has used 100 of them at the beginning.
double used(const Cluster& cluster, std::uint32_t user) {
  RecentUse hundred(1000 * kDay);
  hundred.add(1, 1, seconds(100), kEpoch);
  return 100 * cluster.use().recent().beside(cluster.use().recent().spent_at(user), hundred.spent_at(1));
}

TEST(ClusterUse, OfARunningJobCountsAtTheEndOfEachPeriod) {
  World world(by_minutes());
  world.at(10);
  const JobId job = world.running({.processors = 2, .limit = 1000, .user = 1});
  world.at(66);
  EXPECT_EQ(used(world.cluster(), 1), 0.0);
  world.at(70);
  EXPECT_NEAR(used(world.cluster(), 1), 2 * 57, 0.01);
  world.at(130);
  EXPECT_NEAR(used(world.cluster(), 1), 2 * 117, 0.01);
  world.at(140);
  world.ends(job);
  EXPECT_NEAR(used(world.cluster(), 1), 2 * 117, 0.01) << "the rest is reckoned later";
  world.at(187);
  EXPECT_NEAR(used(world.cluster(), 1), 2 * 130, 0.01);
  world.at(1000);
  EXPECT_NEAR(used(world.cluster(), 1), 2 * 130, 0.01);
}

TEST(ClusterUse, DoesNotDependOnHowOftenTimeMoves) {
  ClusterOptions options = by_minutes();
  options.use.half_life = seconds(600);
  World often(options), seldom(options);
  for (World* world : {&often, &seldom}) {
    world->running({.processors = 3, .limit = 10'000, .user = 1});
    world->running({.processors = 1, .limit = 10'000, .user = 2});
  }
  for (std::int64_t second = 0; second < 700; second += 13) often.at(second);
  for (World* world : {&often, &seldom}) world->at(700);
  for (const std::uint32_t user : {1U, 2U})
    EXPECT_EQ(often.cluster().use().recent().spent_at(user), seldom.cluster().use().recent().spent_at(user));
}

TEST(ClusterUse, IsKeptInASnapshotWithWhatIsYetToBeReckoned) {
  World world(by_minutes());
  const JobId job = world.running({.processors = 2, .limit = 1000, .user = 1});
  world.running({.processors = 5, .limit = 1000, .user = 2});
  world.at(90);
  world.ends(job);
  Cluster again(world.cluster().options());
  for (const Fact& fact : Snapshot::facts_of(world.cluster())) again.fold(fact);
  EXPECT_EQ(text_of_all(Snapshot::facts_of(again)), text_of_all(Snapshot::facts_of(world.cluster())));
  world.at(127);
  again.open_cycle(at_seconds(127));
  for (const std::uint32_t user : {1U, 2U})
    EXPECT_EQ(again.use().recent().spent_at(user), world.cluster().use().recent().spent_at(user));
  EXPECT_NEAR(used(again, 1), 2 * 90, 0.01);
  EXPECT_NEAR(used(again, 2), 5 * 127, 0.01);
}

TEST(ClusterUse, CountsByTheBillingOfThePartition) {
  Machine machine;
  machine.partitions.resize(2);
  machine.partitions[1].billing = {.processor = 500, .node = 1000, .memory = 250, .accelerator = 4000};
  ClusterOptions options = by_minutes();
  options.use.weighed = true;
  options.machine = &machine;
  World world(options);
  JobSpec spec;
  spec.limit = seconds(1000);
  spec.memory = std::int64_t{2} << 30U;
  spec.processors = 4;
  spec.nodes = 2;
  spec.accelerators = 1;
  for (const std::uint32_t partition : {0U, 1U}) {
    spec.user = partition;
    spec.partition = PartitionId{partition};
    const JobId job = submit(world.cluster(), spec);
    fold(world.cluster(), Started{job});
  }
  world.at(67);
  EXPECT_NEAR(used(world.cluster(), 0), 4 * 67, 0.1) << "of one without weights, its processors";
  EXPECT_NEAR(used(world.cluster(), 1), (4 * 0.5 + 2 * 1 + 2 * 2 * 0.25 + 2 * 4) * 67, 0.1);
  machine.partitions[1].billing.most = true;
  world.at(127);
  EXPECT_NEAR(used(world.cluster(), 1), 13 * 67 + 8 * 60, 0.1) << "the accelerators alone";
}

TEST(ClusterUse, WithoutPeriodsCountsWhenAJobEnds) {
  ClusterOptions options = by_minutes();
  options.use.period = Duration{0};
  World world(options);
  const JobId job = world.running({.processors = 2, .limit = 1000, .user = 1});
  world.at(300);
  EXPECT_EQ(used(world.cluster(), 1), 0.0);
  world.ends(job);
  EXPECT_NEAR(used(world.cluster(), 1), 600, 0.01);
}

}  // namespace
}  // namespace rota

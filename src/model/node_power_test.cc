#include "model/node_power.h"

#include <gtest/gtest.h>

#include "model/work_history.h"

namespace rota {
namespace {

Machine machine(int nodes) {
  Machine m;
  for (int i = 0; i < nodes; ++i) {
    Node node;
    node.name = std::to_string(i);
    node.processors = 4;
    node.power.boot = seconds(30);
    node.power.shutdown = seconds(5);
    m.nodes.push_back(node);
  }
  m.processors = std::int64_t{4} * nodes;
  return m;
}

using Returns = std::vector<std::pair<Instant, std::int64_t>>;
Returns returns_of(const NodePower& power, std::int64_t now, bool obtainable) {
  Returns all;
  power.for_each_return(at_seconds(now), obtainable,
                        [&](Instant at, std::int64_t processors) { all.emplace_back(at, processors); });
  return all;
}

TEST(NodePower, counts_nodes_and_processors_by_state) {
  const Machine m = machine(3);
  NodePower power(&m);
  EXPECT_TRUE(power.all_on());
  power.changed(NodeId{1}, PowerState::shutting_down, at_seconds(10), at_seconds(15));
  EXPECT_EQ(power.count(PowerState::on), 2);
  EXPECT_EQ(power.processors(PowerState::shutting_down), 4);
  power.changed(NodeId{1}, PowerState::off, at_seconds(15), kNever);
  power.changed(NodeId{1}, PowerState::booting, at_seconds(20), at_seconds(50));
  power.changed(NodeId{1}, PowerState::on, at_seconds(50), kNever);
  EXPECT_TRUE(power.all_on());
  EXPECT_EQ(power.cycles(NodeId{1}), 1);
  EXPECT_EQ(power.since(NodeId{1}), at_seconds(50));
}

TEST(NodePower, knows_when_nodes_can_be_back) {
  const Machine m = machine(3);
  NodePower power(&m);
  power.changed(NodeId{0}, PowerState::shutting_down, at_seconds(0), at_seconds(5));
  power.changed(NodeId{1}, PowerState::shutting_down, at_seconds(0), at_seconds(5));
  power.changed(NodeId{1}, PowerState::off, at_seconds(5), kNever);
  power.changed(NodeId{2}, PowerState::shutting_down, at_seconds(0), at_seconds(5));
  power.changed(NodeId{2}, PowerState::off, at_seconds(5), kNever);
  power.changed(NodeId{2}, PowerState::booting, at_seconds(6), at_seconds(36));
  EXPECT_EQ(power.back_at(NodeId{0}, at_seconds(4)), at_seconds(35));
  EXPECT_EQ(power.back_at(NodeId{1}, at_seconds(10)), at_seconds(40));
  EXPECT_EQ(power.back_at(NodeId{2}, at_seconds(10)), at_seconds(36));
  EXPECT_EQ(returns_of(power, 10, false), (Returns{{at_seconds(36), 4}}));
  EXPECT_EQ(returns_of(power, 10, true), (Returns{{at_seconds(36), 4}, {at_seconds(40), 4}, {at_seconds(40), 4}}));
  EXPECT_EQ(power.booted_by(at_seconds(36), at_seconds(10)), 4);
  EXPECT_EQ(power.booted_by(at_seconds(35), at_seconds(10)), 0);
}

TEST(NodePower, a_boot_that_is_late_is_expected_a_moment_from_now) {
  const Machine m = machine(1);
  NodePower power(&m);
  power.changed(NodeId{0}, PowerState::off, at_seconds(0), kNever);
  power.changed(NodeId{0}, PowerState::booting, at_seconds(0), at_seconds(30));
  EXPECT_EQ(power.back_at(NodeId{0}, at_seconds(60)), at_seconds(60) + Duration{1});
}

TEST(NodePower, leaves_a_node_alone_longer_with_each_boot_that_fails) {
  const Machine m = machine(1);
  NodePower power(&m);
  power.changed(NodeId{0}, PowerState::off, at_seconds(0), kNever);
  std::int64_t now = 0;
  for (const std::int64_t shunned : {60, 120, 240, 480, 960, 1920, 3600, 3600}) {
    power.changed(NodeId{0}, PowerState::booting, at_seconds(now), at_seconds(now + 30));
    now += 30;
    power.changed(NodeId{0}, PowerState::off, at_seconds(now), kNever);
    EXPECT_EQ(power.shunned_until(NodeId{0}), at_seconds(now + shunned));
  }
  power.changed(NodeId{0}, PowerState::booting, at_seconds(now), at_seconds(now + 30));
  power.changed(NodeId{0}, PowerState::on, at_seconds(now + 30), kNever);
  EXPECT_EQ(power.shunned_until(NodeId{0}), kEpoch);
}

TEST(NodePower, leaves_a_node_alone_as_long_as_it_is_described) {
  Machine m = machine(1);
  m.nodes[0].power.boot_retry = seconds(1);
  NodePower power(&m);
  power.changed(NodeId{0}, PowerState::off, at_seconds(0), kNever);
  for (const std::int64_t shunned : {1, 2, 4}) {
    power.changed(NodeId{0}, PowerState::booting, at_seconds(10), at_seconds(20));
    power.changed(NodeId{0}, PowerState::off, at_seconds(20), kNever);
    EXPECT_EQ(power.shunned_until(NodeId{0}), at_seconds(20 + shunned));
  }
}

TEST(NodePower, wakes_those_first_that_draw_the_least) {
  Machine m = machine(3);
  m.nodes[0].power.busy = 30'000;
  m.nodes[1].power.busy = 10'000;
  m.nodes[2].power.busy = 20'000;
  NodePower power(&m);
  for (std::uint32_t i = 0; i < 3; ++i) power.changed(NodeId{i}, PowerState::off, at_seconds(0), kNever);
  std::vector<std::uint32_t> order;
  power.for_each_asleep([&](NodeId node) {
    order.push_back(node.value);
    return true;
  });
  EXPECT_EQ(order, (std::vector<std::uint32_t>{1, 2, 0}));
}

TEST(WorkHistory, tells_the_mean_and_the_deviation_of_each_size_class) {
  WorkHistory history(nullptr);
  JobSpec job;
  job.processors = 2;
  for (const std::int64_t run : {10, 20, 30}) history.add(job, seconds(run));
  const auto uses = history.uses(1);
  const auto& use = uses[WorkHistory::class_of(2)];
  EXPECT_EQ(use.jobs, 3);
  EXPECT_DOUBLE_EQ(use.mean, 40'000);       // node-milliseconds
  EXPECT_DOUBLE_EQ(use.deviation, 20'000);  // of 20, 40 and 60 s
}

TEST(WorkHistory, takes_small_classes_together_with_a_neighbour) {
  WorkHistory history(nullptr);
  JobSpec job;
  job.processors = 1;
  history.add(job, seconds(10));
  job.processors = 2;
  for (int i = 0; i < 3; ++i) history.add(job, seconds(10));
  job.processors = 16;
  history.add(job, seconds(1));
  const auto uses = history.uses(3);
  EXPECT_EQ(uses[WorkHistory::class_of(1)].jobs, 5);  // with that of 2, and the lonely one of 16
  EXPECT_EQ(uses[WorkHistory::class_of(16)].jobs, 5);
}

// 1,000 jobs run for 1 to 1,000 s; the latest ten are those of 991 to 1,000 s. The drawn ones are from all of them, and
// the same in a history that was kept and put back.
TEST(WorkHistory, traces_past_jobs_back_or_draws_them) {
  WorkHistory history(nullptr);
  JobSpec job;
  job.processors = 1;
  for (int run = 1; run <= 1'000; ++run) history.add(job, seconds(run));
  EXPECT_DOUBLE_EQ(history.uses(1)[0].mean, 500'500);
  const auto latest = history.uses(1, WorkSample::latest, 10)[0];
  EXPECT_EQ(latest.jobs, 10);
  EXPECT_DOUBLE_EQ(latest.mean, 995'500);
  const auto drawn = history.uses(1, WorkSample::drawn, 256)[0];
  EXPECT_EQ(drawn.jobs, 256);
  EXPECT_NEAR(drawn.mean, 500'500, 3 * 288'700 / 16.0) << "a mean of 256 lies so near to that of all, as a rule";
  EXPECT_NEAR(history.uses(1, WorkSample::drawn, 100)[0].mean, 500'500, 3 * 288'700 / 10.0);
  WorkHistory again(nullptr);
  for (const WorkKept& kept : history.kept()) again.put_back(kept);
  for (const WorkSample sample : {WorkSample::latest, WorkSample::drawn})
    EXPECT_DOUBLE_EQ(again.uses(1, sample, 50)[0].mean, history.uses(1, sample, 50)[0].mean);
  job.processors = 2;
  again.add(job, seconds(7));
  EXPECT_DOUBLE_EQ(again.uses(1, WorkSample::latest, 10)[1].mean, 14'000) << "each class has a window of its own";
}

TEST(WorkHistory, AStateOfAnOlderVersionHasTheMeanInPlaceOfSamples) {
  WorkHistory history(nullptr);
  history.put_back(
      {.size_class = 0, .jobs = 300, .use = 300 * 5'000.0, .squares = 300 * 2.6e7, .longest_limit = seconds(9)});
  EXPECT_DOUBLE_EQ(history.uses(1, WorkSample::latest, 10)[0].mean, 5'000);
  JobSpec job;
  job.processors = 1;
  for (int i = 0; i < 5; ++i) history.add(job, seconds(15));
  EXPECT_DOUBLE_EQ(history.uses(1, WorkSample::latest, 10)[0].mean, 10'000);
}

TEST(NodePower, ANodeThatIsNotUpIsInNoCount) {
  const Machine m = machine(3);
  NodePower power(&m);
  power.set_health(NodeId{1}, Health::draining);
  EXPECT_EQ(power.health(NodeId{1}), Health::draining);
  EXPECT_EQ(power.health(NodeId{0}), Health::up);
  EXPECT_EQ(power.count(PowerState::on), 2);
  EXPECT_EQ(power.processors(PowerState::on), 8);
  EXPECT_FALSE(power.all_on());
  power.set_health(NodeId{1}, Health::draining);  // said twice
  EXPECT_EQ(power.count(PowerState::on), 2);
  power.set_health(NodeId{1}, Health::down);
  EXPECT_EQ(power.count(PowerState::on), 2);
  power.set_health(NodeId{1}, Health::up);
  EXPECT_TRUE(power.all_on());
  EXPECT_EQ(power.processors(PowerState::on), 12);
}

TEST(NodePower, ANodeThatIsNotUpIsNotExpectedBack) {
  const Machine m = machine(3);
  NodePower power(&m);
  for (const NodeId node : {NodeId{0}, NodeId{1}}) {
    power.changed(node, PowerState::shutting_down, at_seconds(0), at_seconds(5));
    power.changed(node, PowerState::off, at_seconds(5), kNever);
    power.changed(node, PowerState::booting, at_seconds(10), at_seconds(40));
  }
  power.set_health(NodeId{0}, Health::down);
  EXPECT_EQ(returns_of(power, 10, true), (Returns{{at_seconds(40), 4}}));
  EXPECT_EQ(power.booted_by(at_seconds(40), at_seconds(10)), 4);
  power.changed(NodeId{0}, PowerState::off, at_seconds(20), kNever);  // its boot has failed meanwhile
  EXPECT_EQ(returns_of(power, 20, true), (Returns{{at_seconds(40), 4}}));
  power.set_health(NodeId{0}, Health::up);
  EXPECT_EQ(returns_of(power, 20, true), (Returns{{at_seconds(40), 4}, {at_seconds(110), 4}}));
  int asleep = 0;
  power.for_each_asleep([&](NodeId node) {
    asleep += 1 + static_cast<int>(node.value);
    return true;
  });
  EXPECT_EQ(asleep, 1);
}

TEST(NodePower, IsPutBackAsItStood) {
  const Machine m = machine(2);
  NodePower power(&m);
  power.changed(NodeId{1}, PowerState::shutting_down, at_seconds(0), at_seconds(5));
  power.changed(NodeId{1}, PowerState::off, at_seconds(5), kNever);
  power.changed(NodeId{1}, PowerState::booting, at_seconds(10), at_seconds(40));
  power.changed(NodeId{1}, PowerState::off, at_seconds(41), kNever);
  power.commanded(NodeId{1}, 17);
  power.reviewed(at_seconds(42), at_seconds(60));
  NodePower same(&m);
  same.put_back(power.counters());
  same.put_back(NodeId{1}, power.row(NodeId{1}));
  same.set_health(NodeId{1}, Health::up);
  EXPECT_TRUE(same.row(NodeId{1}) == power.row(NodeId{1}));
  EXPECT_EQ(same.cycles(), power.cycles());
  EXPECT_EQ(same.count(PowerState::off), 1);
  EXPECT_EQ(same.woken_in_minute(at_seconds(50)), power.woken_in_minute(at_seconds(50)));
  EXPECT_EQ(same.slept_in_minute(at_seconds(50)), power.slept_in_minute(at_seconds(50)));
  EXPECT_EQ(same.next_review(), at_seconds(60));
  EXPECT_EQ(returns_of(same, 50, true), returns_of(power, 50, true));
}

}  // namespace
}  // namespace rota

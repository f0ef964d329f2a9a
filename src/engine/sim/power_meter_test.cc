#include "engine/sim/power_meter.h"

#include <gtest/gtest.h>

namespace rota::sim {
namespace {

// Two nodes of 4 processors: 5 W off, 100 W idle, 20 W more for each busy processor; a boot takes 10 s and 3,000 J.
Machine machine() {
  Machine m;
  for (int i = 0; i < 2; ++i) {
    Node node;
    node.name = std::to_string(i);
    node.processors = 4;
    node.power = {.off = 5'000,
                  .idle = 100'000,
                  .busy = 20'000,
                  .boot = seconds(10),
                  .shutdown = seconds(4),
                  .boot_energy = 3'000'000'000,
                  .shutdown_energy = -1};
    m.nodes.push_back(node);
  }
  m.processors = 8;
  return m;
}

constexpr NodeId kFirst{0};
constexpr NodeId kSecond{1};
constexpr std::int64_t kJoule = 1'000'000;  // microjoules

Placement on(std::vector<Share> shares) { return {std::move(shares), 0}; }

TEST(PowerMeter, an_idle_node_draws_its_idle_watts) {
  const Machine m = machine();
  PowerMeter meter(&m);
  meter.open(at_seconds(0));
  EXPECT_EQ(meter.energy_of(kFirst, at_seconds(60)), 6'000 * kJoule);
  const Consumption all = meter.read(at_seconds(60));
  EXPECT_EQ(all.energy, 12'000'000);  // millijoules, both nodes
  EXPECT_EQ(all.idle, 8 * 60'000);
  EXPECT_EQ(all.work + all.off, 0);
}

TEST(PowerMeter, each_busy_processor_adds_its_watts) {
  const Machine m = machine();
  PowerMeter meter(&m);
  meter.open(at_seconds(0));
  meter.start(JobId{0}, on({{kFirst, 3}, {kSecond, 1}}), at_seconds(10));
  meter.end(JobId{0}, at_seconds(30), false);
  EXPECT_EQ(meter.energy_of(kFirst, at_seconds(40)), (40 * 100 + 20 * 3 * 20) * kJoule);
  EXPECT_EQ(meter.energy_of(kSecond, at_seconds(40)), (40 * 100 + 20 * 1 * 20) * kJoule);
  EXPECT_EQ(meter.read(at_seconds(40)).work, 4 * 20'000);
}

TEST(PowerMeter, jobs_on_a_shared_node_account_for_their_parts_of_it) {
  const Machine m = machine();
  PowerMeter meter(&m);
  meter.open(at_seconds(0));
  meter.start(JobId{0}, on({{kFirst, 3}}), at_seconds(0));
  meter.start(JobId{1}, on({{kFirst, 1}}), at_seconds(0));
  const std::int64_t larger = meter.energy_of(JobId{0}, at_seconds(10));
  const std::int64_t smaller = meter.energy_of(JobId{1}, at_seconds(10));
  EXPECT_EQ(larger, 10 * (3 * 20 + 75) * kJoule);
  EXPECT_EQ(smaller, 10 * (1 * 20 + 25) * kJoule);
  EXPECT_EQ(larger + smaller, meter.energy_of(kFirst, at_seconds(10)));  // a full node is all accounted for
}

TEST(PowerMeter, keeps_what_each_job_drew_in_all_its_dispatches_where_asked) {
  const Machine m = machine();
  PowerMeter meter(&m, true);
  meter.open(at_seconds(0));
  meter.start(JobId{1}, on({{kFirst, 4}}), at_seconds(0));
  meter.end(JobId{1}, at_seconds(5), true);
  meter.start(JobId{1}, on({{kSecond, 4}}), at_seconds(10));
  meter.end(JobId{1}, at_seconds(12), false);
  EXPECT_EQ(meter.of_jobs(), (std::vector<std::int64_t>{0, 7 * 180 * kJoule}));
}

TEST(PowerMeter, what_a_killed_dispatch_drew_stays_with_its_job_and_is_lost) {
  const Machine m = machine();
  PowerMeter meter(&m);
  meter.open(at_seconds(0));
  meter.start(JobId{0}, on({{kFirst, 4}}), at_seconds(0));
  meter.end(JobId{0}, at_seconds(5), true);
  EXPECT_EQ(meter.energy_of(JobId{0}, at_seconds(9)), 5 * 180 * kJoule);
  meter.start(JobId{0}, on({{kSecond, 4}}), at_seconds(10));
  EXPECT_EQ(meter.energy_of(JobId{0}, at_seconds(12)), 7 * 180 * kJoule);
  meter.end(JobId{0}, at_seconds(12), false);
  const Consumption all = meter.read(at_seconds(20));
  EXPECT_EQ(all.lost, 5 * 180 * 1000);
  EXPECT_EQ(all.jobs, 7 * 180 * 1000);
}

TEST(PowerMeter, a_power_cycle_draws_shutdown_sleep_and_boot) {
  const Machine m = machine();
  PowerMeter meter(&m);
  meter.open(at_seconds(0));
  meter.switched(kFirst, PowerState::shutting_down, at_seconds(100));
  meter.switched(kFirst, PowerState::off, at_seconds(104));
  meter.switched(kFirst, PowerState::booting, at_seconds(604));
  meter.switched(kFirst, PowerState::on, at_seconds(614));
  EXPECT_EQ(meter.energy_of(kFirst, at_seconds(700)), (104 * 100 + 500 * 5 + 3'000 + 86 * 100) * kJoule);
  const Consumption all = meter.read(at_seconds(700));
  EXPECT_EQ(all.off, 4 * 500'000);
  EXPECT_EQ(all.cycles, 1);
  EXPECT_EQ(all.always_on, 2 * 700 * 100 * 1000);
}

TEST(PowerMeter, what_was_before_it_opened_does_not_count) {
  const Machine m = machine();
  PowerMeter meter(&m);
  meter.open(at_seconds(1'000));
  EXPECT_EQ(meter.read(at_seconds(1'000)).energy, 0);
  EXPECT_EQ(meter.read(at_seconds(1'001)).energy, 200 * 1000);
}

TEST(PowerMeter, the_shortest_sleep_that_pays_follows_from_the_watts) {
  PowerDraw draw{.off = 5'000,
                 .idle = 100'000,
                 .busy = 0,
                 .boot = seconds(10),
                 .shutdown = seconds(4),
                 .boot_energy = 3'000'000'000,
                 .shutdown_energy = -1};
  // (3,000 J + 4 s x 100 W - 14 s x 5 W) / 95 W
  EXPECT_EQ(draw.break_even(), Duration{35'053});
  draw.boot_energy = 0;
  EXPECT_EQ(draw.break_even(), seconds(14));  // never less than it takes
  draw.off = draw.idle;
  EXPECT_EQ(draw.break_even(), kLongest);  // sleep saves nothing
}

}  // namespace
}  // namespace rota::sim

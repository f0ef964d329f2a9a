#include "engine/sim/power_meter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

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

Placement on(std::vector<Share> shares) { return {std::move(shares), {}}; }

// Both begin to shut down within one minute: the draw of a shutdown is that of an idle node, and 95 W less once each is
// off. In a later minute one wakes.
TEST(PowerMeter, CountsWhatSwitchingDoesWithinAMinute) {
  const Machine m = machine();
  PowerMeter meter(&m);
  meter.open(at_seconds(0));
  meter.switched(kFirst, PowerState::shutting_down, at_seconds(1));
  meter.switched(kSecond, PowerState::shutting_down, at_seconds(59));
  EXPECT_EQ(meter.read(at_seconds(59)).most_switched, 2);
  const std::int64_t shutting = m.nodes[0].power.shutting_down();
  EXPECT_EQ(meter.read(at_seconds(59)).largest_step, 2 * std::abs(shutting - 100'000));
  meter.switched(kFirst, PowerState::off, at_seconds(61));
  meter.switched(kSecond, PowerState::off, at_seconds(62));
  meter.switched(kFirst, PowerState::booting, at_seconds(200));
  const Consumption all = meter.read(at_seconds(200));
  EXPECT_EQ(all.most_switched, 2);
  EXPECT_EQ(all.largest_step, std::max({2 * std::abs(shutting - 100'000), 2 * std::abs(5'000 - shutting),
                                        std::abs(m.nodes[0].power.booting() - 5'000)}));
}

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

// The first node with 4 accelerators of 250 W, the second with 2 of 400 W.
Machine accelerated() {
  Machine m = machine();
  m.nodes[0].accelerators = 4;
  m.nodes[0].power.accelerator = 250'000;
  m.nodes[1].accelerators = 2;
  m.nodes[1].power.accelerator = 400'000;
  return m;
}

Placement with_accelerators(std::vector<Share> shares, std::int32_t accelerators) {
  return {std::move(shares), {0, accelerators}};
}

TEST(PowerMeter, accelerators_that_a_job_holds_add_their_watts_on_each_of_its_nodes) {
  const Machine m = accelerated();
  PowerMeter meter(&m, {.by_job = true});
  meter.open(at_seconds(0));
  meter.start(JobId{0}, with_accelerators({{kFirst, 1}, {kSecond, 2}}, 2), at_seconds(10));
  meter.end(JobId{0}, at_seconds(30), false);
  EXPECT_EQ(meter.energy_of(kFirst, at_seconds(40)), (40 * 100 + 20 * (20 + 2 * 250)) * kJoule);
  EXPECT_EQ(meter.energy_of(kSecond, at_seconds(40)), (40 * 100 + 20 * (2 * 20 + 2 * 400)) * kJoule);
  EXPECT_EQ(meter.of_jobs()[0], 20 * (20 + 2 * 250 + 25 + 2 * 20 + 2 * 400 + 50) * kJoule);
  const Consumption all = meter.read(at_seconds(40));
  EXPECT_EQ(all.always_on, all.energy);
  EXPECT_EQ(all.work, 3 * 20'000) << "time is of processors";
}

TEST(PowerMeter, jobs_with_different_accelerators_share_a_node_that_is_all_accounted_for) {
  const Machine m = accelerated();
  PowerMeter meter(&m);
  meter.open(at_seconds(0));
  meter.start(JobId{0}, with_accelerators({{kFirst, 3}}, 1), at_seconds(0));
  meter.start(JobId{1}, with_accelerators({{kFirst, 1}}, 3), at_seconds(0));
  const std::int64_t one = meter.energy_of(JobId{0}, at_seconds(10));
  const std::int64_t three = meter.energy_of(JobId{1}, at_seconds(10));
  EXPECT_EQ(one, 10 * (3 * 20 + 250 + 75) * kJoule);
  EXPECT_EQ(three, 10 * (20 + 3 * 250 + 25) * kJoule);
  EXPECT_EQ(one + three, meter.energy_of(kFirst, at_seconds(10)));
}

TEST(PowerMeter, what_the_accelerators_of_a_killed_dispatch_drew_is_lost) {
  const Machine m = accelerated();
  PowerMeter meter(&m, {.by_job = true});
  meter.open(at_seconds(0));
  meter.start(JobId{0}, with_accelerators({{kFirst, 4}}, 4), at_seconds(0));
  meter.end(JobId{0}, at_seconds(5), true);
  meter.start(JobId{0}, with_accelerators({{kSecond, 4}}, 2), at_seconds(10));
  meter.end(JobId{0}, at_seconds(12), false);
  EXPECT_EQ(meter.of_jobs()[0], (5 * (180 + 1000) + 2 * (180 + 800)) * kJoule);
  EXPECT_EQ(meter.read(at_seconds(20)).lost, 5 * 1'180 * 1000);
  EXPECT_EQ(meter.energy_of(kFirst, at_seconds(20)), (20 * 100 + 5 * (80 + 1000)) * kJoule);
}

TEST(PowerMeter, an_accelerator_adds_its_watts_for_as_long_as_it_computes_a_task) {
  const Machine m = accelerated();
  PowerMeter meter(&m, {.by_job = true});
  meter.open(at_seconds(0));
  meter.start(JobId{0}, on({{kFirst, 4}}), at_seconds(0));
  meter.computed(JobId{0}, kSecond, at_seconds(1), at_seconds(4));
  meter.computed(JobId{}, kSecond, at_seconds(4), at_seconds(6));  // of a job that has gone
  meter.end(JobId{0}, at_seconds(10), false);
  EXPECT_EQ(meter.of_jobs()[0], (10 * 180 + 3 * 400) * kJoule);
  EXPECT_EQ(meter.energy_of(kSecond, at_seconds(10)), (10 * 100 + 5 * 400) * kJoule);
  const Consumption all = meter.read(at_seconds(10));
  EXPECT_EQ(all.always_on, all.energy);
}

TEST(PowerMeter, keeps_what_each_job_drew_in_all_its_dispatches_where_asked) {
  const Machine m = machine();
  PowerMeter meter(&m, {.by_job = true});
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

// The same nodes where electricity costs 0.10 at night and 0.40 from 8:00 until 20:00.
Machine by_time_of_day() {
  Machine m = machine();
  m.tariff = Tariff({{seconds(8 * 3600), 400}, {seconds(20 * 3600), 100}});
  return m;
}

constexpr Instant at_hours(std::int64_t hours) { return at_seconds(hours * 3600); }

TEST(PowerMeter, an_idle_node_pays_what_each_step_of_the_day_asks) {
  const Machine m = by_time_of_day();
  PowerMeter meter(&m);
  meter.open(at_hours(0));
  EXPECT_DOUBLE_EQ(meter.read(at_hours(11)).cost.value(), 2 * 0.1 * (8 * 0.10 + 3 * 0.40)) << "over one step";
  EXPECT_DOUBLE_EQ(meter.read(at_hours(21)).cost.value(), 2 * 0.1 * (9 * 0.10 + 12 * 0.40)) << "over two";
  EXPECT_DOUBLE_EQ(meter.read(at_hours(24 * 30 + 9)).cost.value(), 2 * 0.1 * (30 * (12 * 0.50) + 8 * 0.10 + 0.40))
      << "over a month";
  EXPECT_EQ(meter.read(at_hours(11)).cost, meter.read(at_hours(11)).always_on_cost);
}

TEST(PowerMeter, accelerators_pay_the_prices_of_the_times_at_which_they_are_held_or_compute) {
  Machine m = accelerated();
  m.tariff = by_time_of_day().tariff;
  PowerMeter meter(&m, {.states = true, .by_job = true});
  meter.open(at_hours(0));
  meter.start(JobId{0}, with_accelerators({{kFirst, 2}}, 4), at_hours(7));
  meter.computed(JobId{0}, kSecond, at_hours(7), at_hours(9));
  meter.end(JobId{0}, at_hours(10), false);
  meter.computed(JobId{}, kSecond, at_hours(9), at_hours(10));
  constexpr double kHeld = (2 * 0.02 + 4 * 0.25) * (0.10 + 2 * 0.40);
  EXPECT_DOUBLE_EQ(meter.costs_of_jobs()[0].value(), kHeld + 0.05 * (0.10 + 2 * 0.40) + 0.4 * 0.50);
  const Consumption all = meter.read(at_hours(10));
  EXPECT_DOUBLE_EQ(all.cost.value(), 2 * 0.1 * (8 * 0.10 + 2 * 0.40) + kHeld + 0.4 * (0.50 + 0.40));
  EXPECT_EQ(all.cost, all.always_on_cost);
  std::int64_t drawn = 0;
  for (const NodeStates::Bin& bin : meter.states(at_hours(10)).bins) drawn += bin.energy;
  EXPECT_EQ(drawn / 1000, all.energy) << "the picture over time has it too";
}

TEST(PowerMeter, goes_by_the_wall_clock_of_the_workload) {
  Machine m = by_time_of_day();
  constexpr std::int64_t kEvening = 1'296'756'000;  // 2011-02-03 18:00 UTC
  PowerMeter meter(&m, {.unix_start = kEvening});
  meter.open(at_hours(0));
  EXPECT_DOUBLE_EQ(meter.read(at_hours(12)).cost.value(), 2 * 0.1 * (2 * 0.40 + 10 * 0.10)) << "across midnight";
  m.tariff = Tariff(m.tariff.steps(), seconds(3600));
  PowerMeter ahead(&m, {.unix_start = kEvening});
  ahead.open(at_hours(0));
  EXPECT_DOUBLE_EQ(ahead.read(at_hours(12)).cost.value(), 2 * 0.1 * (0.40 + 11 * 0.10));
}

TEST(PowerMeter, a_job_over_a_step_pays_both_prices) {
  const Machine m = by_time_of_day();
  PowerMeter meter(&m, {.by_job = true});
  meter.open(at_hours(6));
  meter.start(JobId{0}, on({{kFirst, 3}}), at_hours(7));
  meter.start(JobId{1}, on({{kFirst, 1}}), at_hours(7));
  meter.end(JobId{0}, at_hours(10), false);
  meter.end(JobId{1}, at_hours(10), true);
  meter.start(JobId{1}, on({{kSecond, 4}}), at_hours(21));
  meter.end(JobId{1}, at_hours(22), false);
  constexpr double kBothPrices = 0.10 + 2 * 0.40;  // of a kilowatt from 7:00 until 10:00
  ASSERT_EQ(meter.costs_of_jobs().size(), 2U);
  EXPECT_DOUBLE_EQ(meter.costs_of_jobs()[0].value(), (3 * 0.02 + 0.075) * kBothPrices);
  EXPECT_DOUBLE_EQ(meter.costs_of_jobs()[1].value(), (0.02 + 0.025) * kBothPrices + 0.18 * 0.10);
  const Consumption all = meter.read(at_hours(22));
  const double idle = 2 * 0.1 * (2 * 0.10 + 12 * 0.40 + 2 * 0.10);
  EXPECT_DOUBLE_EQ(all.cost.value(), idle + 4 * 0.02 * (kBothPrices + 0.10));
  EXPECT_EQ(all.cost, all.always_on_cost);
}

TEST(PowerMeter, a_power_cycle_pays_for_shutdown_sleep_and_boot_when_they_are) {
  const Machine m = by_time_of_day();
  PowerMeter meter(&m);
  meter.open(at_hours(0));
  meter.switched(kFirst, PowerState::shutting_down, at_seconds(8 * 3600 - 2));  // a second of each two steps
  meter.switched(kFirst, PowerState::off, at_seconds(8 * 3600 + 2));
  meter.switched(kFirst, PowerState::booting, at_seconds(20 * 3600 - 5));
  meter.switched(kFirst, PowerState::on, at_seconds(20 * 3600 + 5));
  const Consumption all = meter.read(at_hours(24));
  const double at_night = 0.1 * (8 + 4) * 3600 - 0.1 * 5;   // kilowatt-seconds: idle and shutting down
  const double asleep = 0.005 * (12 * 3600 - 7) + 0.1 * 2;  // by day, with the rest of the shutdown
  const double boot = 0.3 * 5;                              // on each side of 20:00
  const double first = ((at_night + boot) * 0.10 + (asleep + boot) * 0.40) / 3600;
  const double second = 0.1 * (12 * 0.10 + 12 * 0.40);
  EXPECT_NEAR(all.cost.value(), first + second, 1e-12);
  EXPECT_DOUBLE_EQ(all.always_on_cost.value(), 2 * second);
}

TEST(PowerMeter, one_price_at_all_times_makes_the_cost_of_the_energy) {
  Machine m = machine();
  m.tariff = Tariff({{seconds(0), 240}});
  PowerMeter meter(&m);
  meter.open(at_seconds(17));
  meter.start(JobId{0}, on({{kFirst, 3}}), at_seconds(1'234));
  meter.end(JobId{0}, at_seconds(98'765), false);
  meter.switched(kSecond, PowerState::shutting_down, at_seconds(100'000));
  const Consumption all = meter.read(at_seconds(100'003));
  Cost cost;
  cost.add(240, all.energy * 1000);
  EXPECT_EQ(all.cost, cost);
}

RC_GTEST_PROP(PowerMeter, costs_what_a_count_second_by_second_does, ()) {
  const Machine m = by_time_of_day();
  PowerMeter meter(&m);
  meter.open(at_seconds(0));
  std::int64_t sum = 0;  // milliwatts x thousandths x milliseconds
  std::int64_t t = *rc::gen::inRange(0, 86'400);
  auto pay_until = [&, paid = std::int64_t{0}](std::int64_t until) mutable {
    const std::int64_t before = meter.energy_of(kFirst, at_seconds(paid));
    const std::int64_t watts = until > paid ? meter.energy_of(kFirst, at_seconds(paid + 1)) - before : 0;
    for (; paid < until; ++paid) {
      const std::int64_t hour = paid / 3600 % 24;
      sum += watts * (hour >= 8 && hour < 20 ? 400 : 100);
    }
  };
  for (std::uint32_t job = 0; job < 3; ++job) {
    pay_until(t);
    meter.start(JobId{job}, on({{kFirst, static_cast<std::uint32_t>(*rc::gen::inRange(1, 5))}}), at_seconds(t));
    t += *rc::gen::inRange(1, 90'000);
    pay_until(t);
    meter.end(JobId{job}, at_seconds(t), false);
    t += *rc::gen::inRange(0, 40'000);
    if (job != 1) continue;
    pay_until(t);
    meter.switched(kFirst, PowerState::shutting_down, at_seconds(t));
    pay_until(t += 4);
    meter.switched(kFirst, PowerState::off, at_seconds(t));
    pay_until(t += 50'000);
    meter.switched(kFirst, PowerState::booting, at_seconds(t));
    pay_until(t += 10);
    meter.switched(kFirst, PowerState::on, at_seconds(t));
  }
  pay_until(t);
  Cost second;
  second.add(100'000, m.tariff.until(seconds(t)));
  Cost first;
  first.add(1, sum);
  first += second;
  RC_ASSERT(meter.read(at_seconds(t)).cost == first);
}

TEST(PowerMeter, tells_what_nodes_did_over_time) {
  const Machine m = machine();
  PowerMeter meter(&m, {.states = true});
  EXPECT_TRUE(meter.states(at_seconds(5)).bins.empty()) << "it is not open yet";
  meter.open(at_seconds(10));
  meter.start(JobId{0}, on({{kFirst, 1}}), at_seconds(11));
  meter.start(JobId{1}, on({{kFirst, 2}}), at_seconds(12));  // busy all the same
  meter.end(JobId{0}, at_seconds(13), false);
  meter.switched(kSecond, PowerState::shutting_down, at_seconds(11));
  meter.switched(kSecond, PowerState::off, at_seconds(12));
  meter.switched(kSecond, PowerState::booting, at_seconds(13));
  const NodeStates states = meter.states(at_seconds(14));
  using Times = std::array<std::int64_t, 5>;
  ASSERT_EQ(states.bins.size(), 4U);
  EXPECT_EQ(states.bins[0], (NodeStates::Bin{Times{0, 2000, 0, 0, 0}, 200 * kJoule}));
  EXPECT_EQ(states.bins[1], (NodeStates::Bin{Times{1000, 0, 0, 1000, 0}, 220 * kJoule}));
  EXPECT_EQ(states.bins[2], (NodeStates::Bin{Times{1000, 0, 0, 0, 1000}, 165 * kJoule}));
  EXPECT_EQ(states.bins[3], (NodeStates::Bin{Times{1000, 0, 1000, 0, 0}, 440 * kJoule}));
  EXPECT_TRUE(PowerMeter(&m).states(at_seconds(14)).bins.empty()) << "not asked for";
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

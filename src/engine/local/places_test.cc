#include "engine/local/places.h"

#include <gtest/gtest.h>

#include "engine/local/desk_test.h"

namespace rota::local {
namespace {

using Cores = std::vector<std::uint32_t>;

Node node(const char* name, std::uint32_t processors, std::uint32_t accelerators) {
  Node node;
  node.name = name;
  node.processors = processors;
  node.accelerators = accelerators;
  return node;
}

Machine two_nodes() {
  Machine machine;
  machine.nodes = {node("a", 2, 2), node("b", 3, 1)};
  machine.processors = 5;
  return machine;
}

Placement on(std::vector<Share> shares, std::int32_t accelerators = 0) {
  return {.shares = std::move(shares), .per_node = {.memory = 0, .accelerators = accelerators}};
}

TEST(Places, each_node_has_cores_of_its_own_and_so_has_each_job) {
  Places places(two_nodes(), true, {.units = {{0, 8}, {1, 9}, {2, 10}, {3, 11}, {4, 12}}, .warning = ""});
  const Place first = places.occupy(on({{NodeId{1}, 1}}), 0);
  EXPECT_EQ(first.cores, (Cores{2, 10}));
  const Place second = places.occupy(on({{NodeId{0}, 2}, {NodeId{1}, 2}}), 0);
  EXPECT_EQ(second.cores, (Cores{0, 8, 1, 9, 3, 11, 4, 12}));
  places.give(first);
  EXPECT_EQ(places.occupy(on({{NodeId{1}, 1}}), 0).cores, (Cores{2, 10}));
}

TEST(Places, neighbouring_cores_are_preferred) {
  Places places(Machine::counted(5), true, {.units = {{0}, {1}, {2}, {3}, {4}}, .warning = ""});
  const Place first = places.occupy({}, 1);
  const Place second = places.occupy({}, 1);
  static_cast<void>(second);
  places.give(first);
  EXPECT_EQ(places.occupy({}, 2).cores, (Cores{2, 3}));
  EXPECT_EQ(places.occupy({}, 2).cores, (Cores{0, 4}));
}

TEST(Places, accelerators_are_numbered_over_all_nodes) {
  Places places(two_nodes(), false, {});
  EXPECT_TRUE(places.warning().empty());
  EXPECT_EQ(places.occupy(on({{NodeId{1}, 1}}, 1), 0).devices, Cores{2});
  EXPECT_EQ(places.occupy(on({{NodeId{0}, 1}}, 1), 0).devices, Cores{0});
  EXPECT_EQ(places.occupy(on({{NodeId{0}, 1}}, 1), 0).devices, Cores{1});
}

TEST(Places, accelerators_that_stopped_processes_know_are_handed_out_last) {
  Places places(two_nodes(), false, {});
  EXPECT_EQ(places.occupy(on({{NodeId{0}, 1}}, 1), 0, {0}).devices, Cores{1});
  EXPECT_TRUE(places.are_free({0}));
  EXPECT_FALSE(places.are_free({0, 1}));
  EXPECT_EQ(places.occupy(on({{NodeId{0}, 1}}, 1), 0, {0}).devices, Cores{0});
  EXPECT_FALSE(places.are_free({0}));
}

TEST(Places, what_was_handed_out_in_an_earlier_life_is_not_handed_out_again) {
  Places places(two_nodes(), true, {.units = {{0}, {1}, {2}, {3}, {4}}, .warning = ""});
  places.occupy({.cores = {0, 3}, .devices = {0}});
  const Place place = places.occupy(on({{NodeId{0}, 1}, {NodeId{1}, 2}}, 1), 0);
  EXPECT_EQ(place.cores, (Cores{1, 2, 4}));
  EXPECT_EQ(place.devices, (Cores{1, 2}));
}

TEST(Places, a_machine_with_fewer_processors_than_the_cluster_pins_nothing_and_says_so) {
  Places places(two_nodes(), true, {.units = {{0}, {1}}, .warning = ""});
  EXPECT_FALSE(places.pins());
  EXPECT_NE(places.warning().find("not pinned"), std::string::npos);
  EXPECT_TRUE(places.occupy(on({{NodeId{0}, 1}}), 0).cores.empty());
}

TEST(LocalPlaces, a_job_runs_on_its_cores_and_sees_its_accelerators_alone) {
  Desk desk;
  desk.machine().nodes = {node("here", 1, 2)};
  desk.open();
  RunRequest run = desk.shell("grep Cpus_allowed_list /proc/self/status | cut -f2; echo $CUDA_VISIBLE_DEVICES");
  run.output = "out";
  Command start = desk.start(1, run);
  start.where = on({{NodeId{0}, 1}}, 2);
  desk.engine().dispatch(start);
  EXPECT_EQ(desk.outcome(1), Outcome::completed);
  EXPECT_EQ(desk.file("out"), "0\n0,1\n");
}

TEST(LocalPlaces, a_job_that_takes_more_memory_than_it_has_is_told_from_one_that_is_killed) {
  Desk desk;
  desk.options().cgroups = true;
  desk.open();
  for (const std::string& warning : desk.engine().warnings()) {
    if (warning.find("control group") != std::string::npos) GTEST_SKIP() << warning;
  }
  RunRequest run = desk.shell("exec dd if=/dev/zero of=/dev/null bs=200M count=1");
  run.memory = std::int64_t{32} << 20U;
  desk.launch(1, run);
  EXPECT_EQ(desk.outcome(1), Outcome::out_of_memory);
  RunRequest killed = desk.shell("kill -KILL $$");
  killed.memory = std::int64_t{32} << 20U;
  desk.launch(2, killed);
  EXPECT_EQ(desk.outcome(2), Outcome::failed);
  EXPECT_EQ(desk.told_of(1) + desk.told_of(2), "");
}

TEST(LocalPlaces, what_processes_of_a_job_use_together_is_counted) {
  Desk desk;
  desk.options().cgroups = true;
  desk.open();
  for (const std::string& warning : desk.engine().warnings()) {
    if (warning.find("control group") != std::string::npos) GTEST_SKIP() << warning;
  }
  // Whose first byte is read has filled its 24 MB, and holds them until the rest is read, too.
  RunRequest run = desk.shell(
      "for i in 1 2; do dd if=/dev/zero bs=24M count=1 | { dd bs=1 count=1 of=/dev/null; echo > up$i; "
      "until [ -e up1 ] && [ -e up2 ]; do sleep 0.01; done; } & done; wait");
  run.memory = std::int64_t{128} << 20U;
  desk.launch(1, run);
  EXPECT_EQ(desk.outcome(1), Outcome::completed);
  EXPECT_GE(desk.use_of(1).memory, std::int64_t{48} << 20U);
  EXPECT_LE(desk.use_of(1).memory, run.memory);
}

TEST(LocalPlaces, a_job_is_born_in_the_group_that_the_one_before_had_on_its_cores) {
  Desk desk;
  desk.options().cgroups = true;
  desk.machine().nodes = {node("here", 1, 0)};
  desk.open();
  const auto told_by = [&](std::uint32_t job) {
    RunRequest run =
        desk.shell("sed -n 's/.*:cpuset://p' /proc/self/cgroup; grep Cpus_allowed_list /proc/self/status; echo $PPID");
    run.output = "out" + std::to_string(job);
    Command start = desk.start(job, run);
    start.where = on({{NodeId{0}, 1}}, 0);
    desk.engine().dispatch(start);
    EXPECT_EQ(desk.outcome(job), Outcome::completed);
    return desk.file(run.output);
  };
  const std::string first = told_by(1);
  if (first.find("/1.1\n") == std::string::npos) GTEST_SKIP() << "there is no group of version 1 for cores";
  EXPECT_EQ(told_by(2), first);
  EXPECT_EQ(told_by(3), first);
  const std::string group = "/sys/fs/cgroup/cpuset" + first.substr(0, first.find('\n'));
  desk.close();
  const std::filesystem::path base = std::filesystem::path(group).parent_path();
  EXPECT_FALSE(std::filesystem::exists(base)) << "nothing is left of the service";
  std::filesystem::create_directories(base / "7.1");  // as a supervisor that was killed with the service leaves it
  desk.open();
  EXPECT_FALSE(std::filesystem::exists(base / "7.1"));
}

TEST(LocalPlaces, a_group_of_version_1_that_counts_memory_too_is_not_handed_on) {
  Desk desk;
  const std::filesystem::path group = desk.work();
  std::ofstream(group / "cpuset.memory_migrate") << "0";
  EXPECT_TRUE(only_fences(group.string()));
  std::ofstream(group / "memory.limit_in_bytes") << "0";
  EXPECT_FALSE(only_fences(group.string()));
}

}  // namespace
}  // namespace rota::local

#include "site/cluster_file.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>

namespace rota::site {
namespace {

constexpr const char* kKea = R"(name = "kea"

[[nodes]]
names = "n[01-04]"
processors = 16
memory = "64G"

[[nodes]]
names = "big"
processors = 64

[[partitions]]
name = "debug"
nodes = "n[01-02]"
max_time = "30m"
priority = 10

[[partitions]]
name = "batch"
default = true
max_time = "2d"
default_time = 3600
min_nodes = 2
max_nodes = 3
max_processors = 40
)";

// The sentence about a text that must not be taken.
std::string complaint(const std::string& text) {
  const auto machine = parse_cluster(text, "kea.toml");
  return machine ? "taken" : machine.error().message;
}

// kea with one piece of it replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = kKea;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ClusterFile, tells_watts_boots_and_what_electricity_costs) {
  const auto machine = parse_cluster(
      "electricity_price = 0.25\nco2 = 380\n[[nodes]]\nnames = \"a\"\nwatts_off = 4.5\nwatts_idle = 90\n"
      "watts_busy = 12\nboot_time = \"2m\"\nshutdown_time = 0\nboot_energy = 15000\n[[nodes]]\nnames = \"b\"\n",
      "power.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->price, 250);
  EXPECT_EQ(machine->co2, 380'000);
  const PowerDraw& told = machine->nodes[0].power;
  EXPECT_EQ(told.off, 4'500);
  EXPECT_EQ(told.idle, 90'000);
  EXPECT_EQ(told.busy, 12'000);
  EXPECT_EQ(told.boot, seconds(120));
  EXPECT_EQ(told.shutdown, seconds(0));
  EXPECT_EQ(told.boot_energy, 15'000'000'000);
  EXPECT_EQ(told.booting(), 125'000);  // 15 kJ in 120 s
  EXPECT_TRUE(machine->tells_watts());
  const PowerDraw& silent = machine->nodes[1].power;
  EXPECT_EQ(silent.boot, seconds(300));
  EXPECT_EQ(silent.boot_energy, -1);
}

TEST(ClusterFile, says_how_nodes_are_switched) {
  const auto machine = parse_cluster(
      "[[nodes]]\nnames = \"a[1-2]\"\nsuspend_command = \"plug off\"\nresume_command = \"plug on\"\n"
      "probe_command = \"ping -c 1 $ROTA_NODE\"\nboot_time = \"2m\"\nboot_retry = 5\n[[nodes]]\nnames = \"b\"\n",
      "plugs.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  const auto& commands = machine->nodes[1].commands;
  ASSERT_TRUE(commands);
  EXPECT_EQ(commands->suspend, "plug off");
  EXPECT_EQ(commands->resume, "plug on");
  EXPECT_EQ(commands->probe, "ping -c 1 $ROTA_NODE");
  EXPECT_EQ(commands->timeout, seconds(240));
  EXPECT_EQ(commands->tries, 3);
  EXPECT_EQ(machine->nodes[1].power.boot_retry, seconds(5));
  EXPECT_FALSE(machine->nodes[2].commands);
  EXPECT_EQ(complaint("[[nodes]]\nnames = \"a\"\nsuspend_command = \"plug off\"\n"),
            "kea.toml:3: `suspend_command` is for nodes that can be switched off and on. It takes both "
            "`suspend_command` and `resume_command` for that; add what is missing, or remove the key.");
  EXPECT_NE(complaint("[[nodes]]\nnames = \"a\"\npower_tries = 5\n").find("kea.toml:3: `power_tries` is for nodes"),
            std::string::npos);
}

TEST(ClusterFile, describes_racks_and_accelerators) {
  const auto machine = parse_cluster(R"(
[[nodes]]
names = "a[1-2]"
rack = "left"
accelerators = 2
accelerator_speed = 0.5
[[nodes]]
names = "b1"
rack = "right"
accelerators = 1
watts_accelerator = 75.5
accelerator_type = "fpga"
accelerator_speed = 2
[[nodes]]
names = "c1"
rack = "left"
[[nodes]]
names = "d1"
)",
                                     "kea.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->racks, (std::vector<std::string>{"left", "right", ""}));
  EXPECT_EQ(machine->nodes[0].rack, machine->nodes[3].rack);
  EXPECT_EQ(machine->nodes[4].rack, RackId{2});
  EXPECT_EQ(machine->nodes[1].accelerators, 2U);
  EXPECT_EQ(machine->nodes[1].accelerator_type, AcceleratorTypeId{0});
  EXPECT_EQ(machine->nodes[1].accelerator_speed, 500);
  EXPECT_EQ(machine->nodes[2].accelerator_type, AcceleratorTypeId{1});
  EXPECT_EQ(machine->nodes[2].accelerator_speed, 2000);
  EXPECT_EQ(machine->nodes[2].power.accelerator, 75'500);
  EXPECT_EQ(machine->nodes[1].power.accelerator, 0);
  EXPECT_EQ(machine->nodes[3].accelerators, 0U);
  EXPECT_FALSE(machine->nodes[3].accelerator_type.valid());
  EXPECT_EQ(machine->accelerator_types, (std::vector<std::string>{"gpu", "fpga"}));
  EXPECT_TRUE(machine->has_accelerators());
}

TEST(ClusterFile, reads_features_of_nodes) {
  const auto machine = parse_cluster(
      "[[nodes]]\nnames = \"a[1-2]\"\nfeatures = \"avx512, rack1\"\n[[nodes]]\nnames = \"b\"\nfeatures = "
      "\"rack2,avx512\"\n"
      "[[nodes]]\nnames = \"c\"\n",
      "kea.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->features, (std::vector<std::string>{"avx512", "rack1", "rack2"}));
  EXPECT_EQ(machine->nodes[1].features, 0b011U);
  EXPECT_EQ(machine->nodes[2].features, 0b101U);
  EXPECT_EQ(machine->nodes[3].features, 0U);
  EXPECT_EQ(complaint(changed("memory = \"64G\"", "features = \"avx512,\"")),
            "kea.toml:6: the name of a feature is missing in \"avx512,\".");
  EXPECT_EQ(complaint(changed("memory = \"64G\"", "features = \"a|b\"")),
            "kea.toml:6: \"a|b\" is no name of a feature: leave out blanks and &|,()[]*{}.");
  std::string many = "f0";
  for (int i = 1; i <= 64; ++i) many += ",f" + std::to_string(i);
  EXPECT_EQ(complaint(changed("memory = \"64G\"", "features = \"" + many + "\"")),
            "kea.toml:6: with \"f64\" there are more than 64 features, which are the most that Rota can tell apart.");
}

TEST(ClusterFile, says_what_is_wrong_with_accelerators) {
  const std::string speed =
      "kea.toml:6: `accelerator_speed` in [[nodes]] takes a number from 0.001 to 100, to three "
      "decimals, not ";
  EXPECT_EQ(complaint(changed("memory = \"64G\"", "accelerator_speed = 0")), speed + "0.");
  EXPECT_EQ(complaint(changed("memory = \"64G\"", "accelerator_speed = -1.5")), speed + "-1.5.");
  EXPECT_EQ(complaint(changed("memory = \"64G\"", "accelerator_speed = nan")), speed + "nan.");
  EXPECT_EQ(complaint(changed("memory = \"64G\"", "accelerator_speed = \"fast\"")), speed + "\"fast\".");
  EXPECT_EQ(complaint(changed("memory = \"64G\"", "accelerator_speed = 1.5")),
            "kea.toml:6: `accelerator_speed` speaks of accelerators, and these nodes have none. Say how many with "
            "`accelerators`, or remove the key.");
}

TEST(ClusterFile, describes_nodes_and_partitions) {
  const auto machine = parse_cluster(kKea, "kea.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->name, "kea");
  EXPECT_EQ(machine->processors, 4 * 16 + 64);
  ASSERT_EQ(machine->nodes.size(), 5U);
  EXPECT_EQ(machine->nodes[3].name, "n04");
  EXPECT_EQ(machine->nodes[3].processors, 16U);
  EXPECT_EQ(machine->nodes[3].memory, std::int64_t{64} << 30U);
  EXPECT_EQ(machine->nodes[4].memory, 0);
  EXPECT_EQ(machine->nodes[0].partitions, (std::vector{PartitionId{0}, PartitionId{1}}));
  EXPECT_EQ(machine->nodes[4].partitions, std::vector{PartitionId{1}});
  EXPECT_EQ(machine->default_partition, PartitionId{1});
}

TEST(ClusterFile, gives_each_partition_its_limits) {
  const auto machine = parse_cluster(kKea, "kea.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  const Partition& debug = machine->partitions[0];
  EXPECT_EQ(debug.name, "debug");
  EXPECT_EQ(debug.nodes, (std::vector{NodeId{0}, NodeId{1}}));
  EXPECT_EQ(debug.processors, 32);
  EXPECT_EQ(debug.max_time, seconds(1800));
  EXPECT_EQ(debug.default_time, seconds(1800));
  EXPECT_EQ(debug.max_nodes, 0U);
  EXPECT_EQ(debug.priority, 10);
  const Partition& batch = machine->partitions[1];
  EXPECT_EQ(batch.nodes.size(), 5U);
  EXPECT_EQ(batch.processors, 128);
  EXPECT_EQ(batch.max_time, seconds(172'800));
  EXPECT_EQ(batch.default_time, seconds(3600));
  EXPECT_EQ(batch.min_nodes, 2U);
  EXPECT_EQ(batch.max_nodes, 3U);
  EXPECT_EQ(batch.max_processors, 40U);
}

TEST(ClusterFile, may_only_count_processors) {
  const auto machine = parse_cluster("processors = 256", "kea.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->processors, Machine::counted(256).processors);
  EXPECT_TRUE(machine->nodes.empty());
  EXPECT_FALSE(machine->default_partition.valid());
  const auto queues =
      parse_cluster("processors = 8\n[[partitions]]\nname = 'a'\n[[partitions]]\nname = 'b'\n", "kea.toml");
  ASSERT_TRUE(queues) << queues.error().message;
  EXPECT_EQ(queues->partitions[1].processors, 8);
  EXPECT_EQ(queues->default_partition, PartitionId{0});
}

TEST(ClusterFile, names_an_unknown_key_and_the_nearest_known_one) {
  EXPECT_EQ(complaint(changed("max_time = \"30m\"", "max_tme = \"30m\"")),
            "kea.toml:15: the key \"max_tme\" in [[partitions]] is not known. Did you mean `max_time`?");
  EXPECT_EQ(complaint("mane = 3\nage = 4").substr(0, 33), "kea.toml:1: the key \"mane\" is not");
  EXPECT_EQ(complaint("node = 3"), "kea.toml:1: the key \"node\" is not known. Did you mean `nodes`?");
  EXPECT_EQ(complaint(changed("memory", "colour_of_the_case")),
            "kea.toml:6: the key \"colour_of_the_case\" in [[nodes]] is not known. There are `names`, `processors`, "
            "`memory`, `rack`, `site`, `accelerators`, `accelerator_type`, `accelerator_speed`, `accelerator_link`, "
            "`features`, `weight`, `watts_off`, `watts_idle`, `watts_busy`, `watts_accelerator`, `boot_time`, "
            "`shutdown_time`, "
            "`boot_energy`, "
            "`shutdown_energy`, `cpu_factor`, `boot_fails`, `boot_retry`, `suspend_command`, `resume_command`, "
            "`probe_command`, `power_timeout`, `power_tries`.");
}

TEST(ClusterFile, says_what_a_key_takes_when_given_another_type_or_too_much) {
  const std::string whole = "kea.toml:5: `processors` in [[nodes]] takes a whole number from 1 to 1000000, not ";
  EXPECT_EQ(complaint(changed("processors = 16", "processors = \"sixteen\"")), whole + "\"sixteen\".");
  EXPECT_EQ(complaint(changed("processors = 16", "processors = 0")), whole + "0.");
  EXPECT_EQ(complaint(changed("processors = 16", "processors = -16")), whole + "-16.");
  EXPECT_EQ(complaint(changed("processors = 16", "processors = 9223372036854775807")), whole + "9223372036854775807.");
  EXPECT_EQ(complaint(changed("processors = 16", "processors = 1.5")), whole + "1.5.");
  EXPECT_EQ(complaint(changed("processors = 16", "processors = 1e9")), whole + "1e+09.");
  EXPECT_EQ(complaint(changed("processors = 16", "processors = 2.0")), whole + "2.0.");
  EXPECT_EQ(complaint(changed("processors = 16", "processors = -inf")), whole + "-inf.");
  EXPECT_EQ(complaint(changed("processors = 16", "processors = [16]")), whole + "a list.");
  EXPECT_EQ(complaint(changed("processors = 16", "processors = {n = 16}")), whole + "a table.");
  EXPECT_EQ(complaint(changed("processors = 16", "processors = 2024-01-01")), whole + "a date or time of day.");
  EXPECT_EQ(complaint(changed("\"64G\"", "\"64 apples\"")),
            "kea.toml:6: `memory` in [[nodes]] takes a size, in bytes such as 68719476736 or as text such as \"64G\" "
            "(at most 1E), "
            "not \"64 apples\".");
  EXPECT_EQ(complaint(changed("\"30m\"", "0")),
            "kea.toml:15: `max_time` in [[partitions]] takes a time of at least a second, in seconds such as 3600 or "
            "as text such "
            "as \"1h\", \"2d\" or \"1-12:00:00\", not 0.");
  EXPECT_EQ(complaint(changed("default = true", "default = 1")),
            "kea.toml:20: `default` in [[partitions]] takes true or false, not 1.");
  EXPECT_EQ(complaint(changed("\"kea\"", "\"\"")),
            "kea.toml:1: `name` takes text in quotes, of 1 to 200 bytes, not \"\".");
  EXPECT_EQ(complaint(changed("\"kea\"", "\"a\\nb\"")).substr(0, 18), "kea.toml:1: `name`");
}

TEST(ClusterFile, lacks_nothing_that_it_needs) {
  EXPECT_EQ(complaint(changed("names = \"big\"", "")),
            "kea.toml:8: [[nodes]] lacks `names`: nodes of one kind, each named once in the file.");
  EXPECT_EQ(complaint(changed("name = \"debug\"", "")),
            "kea.toml:12: [[partitions]] lacks `name`: what jobs call the partition; unique.");
  EXPECT_EQ(complaint("name = 'kea'"),
            "kea.toml: the cluster has no processors. Describe its nodes in [[nodes]] tables, or write `processors = "
            "64` at the top.");
  EXPECT_EQ(complaint("nodes = 5"),
            "kea.toml:1: `nodes` is written as [[nodes]] tables, one for each; see docs/cluster-file.md.");
  EXPECT_EQ(complaint("[nodes]\nnames = 'a'").substr(0, 30), "kea.toml:1: `nodes` is written");
}

TEST(ClusterFile, names_each_node_once) {
  EXPECT_EQ(complaint(changed("\"big\"", "\"big,n03\"")),
            "kea.toml:9: node \"n03\" is described twice; the first time in line 4.");
  EXPECT_EQ(complaint(changed("\"n[01-02]\"", "\"n01,n[01-02]\"")),
            "kea.toml:14: the partition names node \"n01\" twice; name it once.");
  EXPECT_EQ(complaint(changed("\"n[01-02]\"", "\"n[01-05]\"")),
            "kea.toml:14: the partition names node \"n05\", which no [[nodes]] table describes. Did you mean \"n01\"?");
  EXPECT_EQ(complaint(changed("\"n[01-04]\"", "\"n[04-01]\"")).substr(0, 12), "kea.toml:4: ");
  EXPECT_EQ(complaint("[[nodes]]\nnames = 'a,b'\n[[partitions]]\nname = 'p'\nnodes = 'a'"),
            "kea.toml: node \"b\", described in line 2, is in no partition, so that no job could ever run there. Name "
            "it in one, or "
            "leave it out.");
}

TEST(ClusterFile, has_one_default_and_partitions_of_different_names) {
  EXPECT_EQ(complaint(changed("priority = 10", "default = true")),
            "kea.toml:20: partition \"debug\" is the default already, in line 16. Only one can be.");
  EXPECT_EQ(complaint(changed("\"batch\"", "\"debug\"")),
            "kea.toml:19: partition \"debug\" is described twice; the first time in line 13.");
}

TEST(ClusterFile, has_limits_under_which_jobs_can_run) {
  EXPECT_EQ(complaint(changed("default_time = 3600", "default_time = \"3d\"")),
            "kea.toml:22: `default_time` is longer than `max_time`, so that no job could go without a limit of its "
            "own. Lower it to "
            "at most 2d 00:00:00.");
  EXPECT_EQ(complaint(changed("min_nodes = 2", "min_nodes = 4")),
            "kea.toml:23: `min_nodes` is above `max_nodes`, so that no job could run. Lower it to at most 3.");
  EXPECT_EQ(complaint(changed("priority = 10", "min_nodes = 3")),
            "kea.toml:16: `min_nodes` is 3, but the partition has 2 nodes, so that no job could run.");
}

TEST(ClusterFile, counts_processors_or_describes_nodes_but_not_both) {
  EXPECT_EQ(
      complaint(changed("name = \"kea\"", "processors = 4")),
      "kea.toml:1: `processors` counts interchangeable processors and there are [[nodes]] too. Remove one of the two.");
  EXPECT_EQ(complaint("processors = 4\n[[partitions]]\nname = 'p'\nmax_nodes = 2"),
            "kea.toml:4: `max_nodes` speaks of nodes, and this cluster only counts processors. Describe nodes in "
            "[[nodes]] tables, "
            "or remove the key.");
}

TEST(ClusterFile, is_text_in_utf8_and_toml) {
  EXPECT_EQ(complaint(""), "kea.toml is empty: there is nothing in it to be read.");
  EXPECT_EQ(complaint(" \n\t\n").substr(0, 18), "kea.toml is empty:");
  EXPECT_EQ(complaint("name = 'kea'\n# caf\xe9\n"),
            "kea.toml:2: \"# caf\\xe9\" is not UTF-8 text. Save the file as UTF-8.");
  EXPECT_EQ(complaint(std::string("\x7f"
                                  "ELF\0\1\1",
                                  7)),
            "kea.toml:1: this is binary, not text in TOML.");
  EXPECT_EQ(complaint("name = 'a'\nname = 'b'").substr(0, 39), "kea.toml:2: this is not valid TOML: Err");
  EXPECT_EQ(complaint("processors = 99999999999999999999").substr(0, 34), "kea.toml:1: this is not valid TOML");
  EXPECT_EQ(complaint("[[nodes]\nnames = 'a'").substr(0, 34), "kea.toml:1: this is not valid TOML");
  EXPECT_EQ(complaint("°name = 'a'"),
            "kea.toml:1: this is not valid TOML: a character beyond ASCII stands outside quotes.");
  EXPECT_EQ(
      complaint("'né' = 1"),
      "kea.toml:1: the key \"né\" is not known. There are `nodes`, `partitions`, `qos`, `accounts`, `limits`, `sites`, "
      "`reservations`, `service`, `federation`, `slurm`, "
      "`name`, `processors`, "
      "`electricity_price`, `electricity_prices`, `electricity_zone`, `co2`, `licences`, `boot_seed`.");
  const auto greek = parse_cluster("\xEF\xBB\xBFname = 'κέα'  # °\r\nprocessors = 3\r\n", "kea.toml");
  ASSERT_TRUE(greek) << greek.error().message;
  EXPECT_EQ(greek->name, "κέα");
}

TEST(ClusterFile, is_bounded) {
  EXPECT_EQ(complaint("[[nodes]]\nnames = 'n[1-999999999999]'").substr(0, 12), "kea.toml:2: ");
  EXPECT_EQ(
      complaint("[[nodes]]\nnames = 'a[1-600000]'\n[[nodes]]\nnames = 'b[1-600000]'"),
      "kea.toml:4: with these there are more than 1,000,000 nodes, which is more than a cluster file can describe.");
  EXPECT_EQ(complaint("[[nodes]]\nprocessors = 1000000\nnames = 'a[1-3000]'").substr(0, 36),
            "kea.toml:3: with these nodes there a");
  const auto large = parse_cluster("[[nodes]]\nnames = 'n[1-1000000]'\n[[partitions]]\nname = 'p'", "kea.toml");
  ASSERT_TRUE(large) << large.error().message;
  EXPECT_EQ(large->partitions[0].nodes.size(), 1'000'000U);
  std::string many = "[[nodes]]\nnames = 'n[1-1000]'\n";
  for (int i = 0; i < 17; ++i) many += fmt::format("[[partitions]]\nname = 'p{}'\n", i);
  EXPECT_TRUE(parse_cluster(many, "kea.toml"));
  EXPECT_NE(parse_cluster(many, "kea.toml", 1000).error().message.find("more than 16,000 nodes all told"),
            std::string::npos);
  const std::string stem(30'000, 'n');
  EXPECT_EQ(complaint(fmt::format("[[nodes]]\nnames = '{}[1-999999]'", stem)).substr(0, 12), "kea.toml:2: ");
}

TEST(ClusterFile, is_read_from_a_path) {
  for (const char* name : {"kea", "linpack"}) {
    const auto machine = read_cluster_file(fmt::format("{}{}.toml", ROTA_SOURCE_DIR "/examples/", name));
    ASSERT_TRUE(machine) << machine.error().message;
    EXPECT_EQ(machine->name, name);
  }
  const auto missing = read_cluster_file("/nowhere/kea.toml");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("/nowhere/kea.toml"), std::string::npos);
}

TEST(ClusterFile, has_no_more_memory_than_can_be_counted) {
  const auto machine = parse_cluster(
      "[[nodes]]\nnames = 'a[1-9]'\nmemory = 1152921504606846976\n[[partitions]]\nname = 'all'\n", "kea.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->partitions[0].memory, INT64_MAX);
  EXPECT_EQ(machine->memory, INT64_MAX);
}

TEST(ClusterFile, says_what_qos_and_accounts_there_are) {
  const std::string kNodes = "[[nodes]]\nnames = \"a[1-2]\"\nprocessors = 4\nmemory = \"1G\"\naccelerators = 2\n";
  const auto machine = parse_cluster(
      kNodes +
          "[[partitions]]\nname = \"all\"\njob_factor = 7\nbilling_accelerator = 2.5\n[[qos]]\nname = "
          "\"high\"\npriority = 100\n"
          "usage_factor = 0.5\n[[accounts]]\nname = \"physics\"\nshares = 30\n[[accounts]]\nname = \"solid\"\n"
          "parent = \"physics\"\ninherits = true\nusers = \"anna:2, bob,eve:parent\"\n",
      "kea.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_EQ(machine->partitions[0].job_factor, 7);
  EXPECT_EQ(machine->partitions[0].billing, (Billing{.accelerator = 2500}));
  EXPECT_EQ(machine->partitions[0].memory, std::int64_t{2} << 30U);
  EXPECT_EQ(machine->partitions[0].accelerators, 4);
  EXPECT_EQ(machine->memory, std::int64_t{2} << 30U);
  EXPECT_EQ(machine->accelerators, 4);
  EXPECT_EQ(machine->qos[0].priority, 100);
  EXPECT_EQ(machine->qos[0].usage_factor, 500);
  const Account& solid = machine->accounts[1];
  EXPECT_EQ(machine->accounts[0].parent, -1);
  EXPECT_EQ(solid.parent, 0);
  EXPECT_TRUE(solid.inherits);
  ASSERT_EQ(solid.users.size(), 3U);
  EXPECT_EQ(solid.users[0].shares, 2);
  EXPECT_EQ(solid.users[1].shares, 1);
  EXPECT_TRUE(solid.users[2].first);
}

TEST(ClusterFile, finds_parents_and_names_among_ten_thousand_accounts) {
  std::string text = "name = \"kea\"\nprocessors = 4\n";
  const auto add = [&](int i, int parent) {
    text += fmt::format("[[accounts]]\nname = \"a{}\"\n", i);
    if (parent >= 0) text += fmt::format("parent = \"a{}\"\n", parent);
  };
  for (int i = 0; i < 9'999; ++i) add(i, i / 2 - (i < 2 ? 1 : 0));
  const auto machine = parse_cluster(text, "kea.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->accounts.size(), 9'999U);
  EXPECT_EQ(machine->accounts[1].parent, -1);
  for (std::int64_t i = 2; i < 9'999; ++i) EXPECT_EQ(machine->accounts[static_cast<std::size_t>(i)].parent, i / 2);
  const std::string before = text;
  add(3, -1);
  EXPECT_EQ(parse_cluster(text, "kea.toml").error().message,
            fmt::format("kea.toml:{}: account \"a3\" is described twice; the first time in line 11.",
                        std::ranges::count(before, '\n') + 2));
  text = before;
  add(9'999, 9'999);
  EXPECT_NE(parse_cluster(text, "kea.toml").error().message.find("is a part of \"a9999\", which no [[accounts]]"),
            std::string::npos);
}

TEST(ClusterFile, says_what_limits_there_are) {
  const auto machine = parse_cluster(
      "processors = 4\n[[partitions]]\nname = \"batch\"\n[[qos]]\nname = \"low\"\n"
      "[[limits]]\nuser = \"*\"\nqos = \"low\"\njobs = 0\n"
      "[[limits]]\naccount = \"physics\"\npartition = \"batch\"\nexcept_qos = \"low\"\nmemory = \"2G\"\nreason = "
      "\"why\"\n",
      "kea.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  ASSERT_EQ(machine->limits.size(), 2U);
  const Limit& each = machine->limits[0];
  EXPECT_EQ(each.user + each.account + each.qos + each.partition, "*low");
  EXPECT_EQ(each.most.jobs, 0);
  EXPECT_EQ(each.most.processors, Limit::kNone);
  const Limit& group = machine->limits[1];
  EXPECT_EQ(group.account + group.partition + group.except_qos.at(0) + group.reason, "physicsbatchlowwhy");
  EXPECT_EQ(group.most.memory, std::int64_t{2} << 30U);
}

TEST(ClusterFile, says_whose_jobs_give_way) {
  const std::string low = "processors = 4\n[[qos]]\nname = \"high\"\npreempts = \"low,high\"\n";
  const auto machine = parse_cluster(low + "[[qos]]\nname = \"low\"\n", "kea.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  EXPECT_TRUE(machine->gives_way(QosId{1}, QosId{0}));
  EXPECT_TRUE(machine->gives_way(QosId{0}, QosId{0}));
  EXPECT_FALSE(machine->gives_way(QosId{0}, QosId{1}));
  EXPECT_FALSE(machine->gives_way(QosId{}, QosId{0}));
  EXPECT_EQ(parse_cluster(low, "kea.toml").error().message,
            "kea.toml:4: `preempts` names \"low\", which the file does not describe.");
}

TEST(ClusterFile, refuses_limits_of_what_there_is_not) {
  const auto said = [](const std::string& table) {
    const auto machine = parse_cluster("processors = 4\n[[limits]]\n" + table, "kea.toml");
    return machine ? "no error" : machine.error().message;
  };
  EXPECT_EQ(said("user = \"anna\"\n"),
            "kea.toml:2: this [[limits]] table limits nothing. Say how many jobs, processors, nodes, accelerators or "
            "processor_minutes, or how much memory.");
  EXPECT_EQ(said("jobs = 1\nexcept_partitions = \"x\"\n"),
            "kea.toml:4: `except_partitions` names \"x\", which the file does not describe.");
  EXPECT_EQ(said("jobs = 1\naccelerator_type = \"x\"\n"),
            "kea.toml:4: `accelerator_type` names \"x\", which no node has.");
  EXPECT_EQ(said("qos = \"low\"\njobs = 1\n"), "kea.toml:3: `qos` names \"low\", which the file does not describe.");
  EXPECT_EQ(said("jobs = 1\npartition = \"x\"\n"),
            "kea.toml:4: `partition` names \"x\", which the file does not describe.");
  EXPECT_EQ(said("jobs = 1\nexcept_qos = \"a,b\"\n"),
            "kea.toml:4: `except_qos` names \"a\", which the file does not describe.");
  EXPECT_EQ(said("jobs = -1\n"), "kea.toml:3: `jobs` in [[limits]] takes a whole number from 0 to 1000000000, not -1.");
}

TEST(ClusterFile, refuses_accounts_that_contradict_each_other) {
  const auto said = [](const std::string& tables) { return complaint("processors = 4\n" + tables); };
  EXPECT_EQ(said("[[qos]]\nname = \"a\"\n[[qos]]\nname = \"a\"\n"),
            "kea.toml:5: QOS \"a\" is described twice; the first time in line 3.");
  EXPECT_EQ(said("[[accounts]]\nname = \"a\"\nparent = \"b\"\n[[accounts]]\nname = \"b\"\n"),
            "kea.toml:4: account \"a\" is a part of \"b\", which no [[accounts]] table before this one describes.");
  EXPECT_EQ(said("[[accounts]]\nname = \"a\"\nusers = \"anna:many\"\n"),
            "kea.toml:4: `users` takes names with how many shares, such as \"anna:2,bob,eve:parent\", not "
            "\"anna:many\".");
  EXPECT_EQ(said("[[accounts]]\nname = \"a\"\nusers = \"anna,bob,anna:2\"\n"),
            "kea.toml:4: `users` names \"anna\" twice; name him once.");
  EXPECT_EQ(complaint("[[sites]]\nname = \"x\"\nprocessors = 4\n[[qos]]\nname = \"a\"\n"),
            "kea.toml:4: [[qos]] go with a single site. Leave them out where there are [[sites]].");
}

}  // namespace
}  // namespace rota::site

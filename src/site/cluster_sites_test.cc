#include "site/cluster_sites.h"

#include <gtest/gtest.h>

#include "site/cluster_file.h"

namespace rota::site {
namespace {

constexpr const char* kWadden = R"(name = "wadden"
electricity_price = 0.24

[[sites]]
name = "texel"
bandwidth = "100M"
licences = "matlab:8"

[[sites]]
name = "ameland"
licences = "fluent:6,matlab:4"
electricity_price = 0.19

[[nodes]]
names = "a[1-2]"
site = "ameland"
processors = 4
rack = "left"

[[nodes]]
names = "t[1-3]"
site = "texel"
processors = 8
rack = "left"

[[partitions]]
name = "far"
nodes = "a[1-2]"

[[partitions]]
name = "all"
default = true
)";

Machine machine_of(const std::string& text) {
  auto machine = parse_cluster(text, "w.toml");
  EXPECT_TRUE(machine) << machine.error().message;
  return machine ? std::move(*machine) : Machine{};
}

std::string complaint(const std::string& text) {
  const auto machine = parse_cluster(text, "w.toml");
  return machine ? "taken" : machine.error().message;
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kWadden;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(ClusterSites, make_a_machine_for_each_and_one_of_all) {
  const Machine whole = machine_of(kWadden);
  EXPECT_EQ(whole.processors, 32);
  ASSERT_EQ(whole.sites.size(), 2U);
  const Machine& texel = whole.sites[0];
  const Machine& ameland = whole.sites[1];
  EXPECT_EQ(texel.name, "texel");
  EXPECT_EQ(texel.processors, 24);
  EXPECT_EQ(texel.nodes.size(), 3U);
  EXPECT_EQ(texel.nodes[0].name, "t1");
  EXPECT_EQ(texel.bandwidth, 100 << 20U);
  EXPECT_EQ(ameland.processors, 8);
  EXPECT_EQ(ameland.bandwidth, 0);
  EXPECT_EQ(ameland.racks, std::vector<std::string>{"left"}) << "a rack of its own";
  EXPECT_EQ(texel.price, 240);
  EXPECT_EQ(ameland.price, 190);
}

TEST(ClusterSites, count_licences_by_the_same_ids) {
  const Machine whole = machine_of(kWadden);
  ASSERT_EQ(whole.licences.size(), 2U);
  EXPECT_EQ(whole.licences[0].count, 12);
  EXPECT_EQ(whole.sites[0].licences[0].count, 8);
  EXPECT_EQ(whole.sites[0].licences[1].count, 0);
  EXPECT_EQ(whole.sites[1].licences[0].count, 4);
  EXPECT_EQ(whole.sites[1].licences[1].name, "fluent");
}

TEST(ClusterSites, have_of_each_partition_the_nodes_that_are_there) {
  const Machine whole = machine_of(kWadden);
  EXPECT_EQ(whole.sites[0].partitions[0].processors, 0);
  EXPECT_EQ(whole.sites[1].partitions[0].nodes.size(), 2U);
  EXPECT_EQ(whole.sites[0].partitions[1].processors, 24);
  EXPECT_EQ(whole.sites[0].default_partition, PartitionId{1});
  EXPECT_EQ(whole.sites[0].nodes[0].partitions, std::vector<PartitionId>{PartitionId{1}});
  const Machine first = machine_of(changed("default = true", "nodes = \"t[1-3]\"\ndefault = true"));
  EXPECT_EQ(first.sites[1].default_partition, PartitionId{0}) << "the default is not there";
}

TEST(ClusterSites, can_count_processors) {
  const Machine whole =
      machine_of("[[sites]]\nname = \"a\"\nprocessors = 5\n[[sites]]\nname = \"b\"\nprocessors = 7\n");
  EXPECT_EQ(whole.processors, 12);
  EXPECT_EQ(whole.sites[1].processors, 7);
  EXPECT_TRUE(whole.nodes.empty());
}

TEST(ClusterSites, agree_with_the_other_tables) {
  EXPECT_EQ(complaint(changed("site = \"ameland\"", "site = \"amland\"")),
            "w.toml:16: there is no site \"amland\" among the [[sites]]. Did you mean \"ameland\"?");
  EXPECT_EQ(complaint(changed("site = \"ameland\"\n", "")),
            "w.toml:14: these nodes do not say at which site they are. Write `site` with the name of one of the "
            "[[sites]].");
  EXPECT_EQ(complaint(changed("name = \"ameland\"", "name = \"texel\"")),
            "w.toml:10: site \"texel\" is described twice; the first time in line 5.");
  EXPECT_EQ(complaint(changed("bandwidth = \"100M\"", "processors = 4")),
            "w.toml:6: `processors` counts interchangeable processors and there are [[nodes]] too. Describe all sites "
            "in one of the two ways.");
  EXPECT_EQ(complaint(changed("electricity_price = 0.24", "licences = \"matlab:1\"")),
            "w.toml:2: there are [[sites]], so `licences` belongs into one of them.");
  EXPECT_EQ(complaint(changed("matlab:8", "matlab")),
            "w.toml:7: `licences` takes names with how many there are, such as \"matlab:4,fluent:12\", not "
            "\"matlab\".");
  EXPECT_EQ(complaint(changed("[[nodes]]", "[[sites]]\nname = \"urk\"\n[[nodes]]")),
            "w.toml:14: site \"urk\" has no nodes. Name it as `site` in a [[nodes]] table, or leave it out.");
}

TEST(ClusterSites, are_there_where_nodes_name_them_and_have_processors) {
  EXPECT_EQ(complaint("[[nodes]]\nnames = \"a\"\nsite = \"b\"\n"),
            "w.toml:3: there are no [[sites]], so nodes cannot be at one. Describe the site, or remove `site`.");
  EXPECT_EQ(complaint("[[sites]]\nname = \"a\"\n"),
            "w.toml:1: site \"a\" has no processors. Describe its nodes in [[nodes]] tables, or write `processors = "
            "64` here.");
  EXPECT_EQ(complaint("processors = 3\n[[sites]]\nname = \"a\"\nprocessors = 5\n"),
            "w.toml:1: there are [[sites]], so `processors` belongs into one of them.");
}

}  // namespace
}  // namespace rota::site

#include "log/pbs_request.h"

#include <gtest/gtest.h>

namespace rota::log {
namespace {

PbsRequest request(std::initializer_list<std::pair<const char*, const char*>> entries) {
  PbsRequest out;
  for (const auto& [name, value] : entries) EXPECT_TRUE(out.read_resource(name, value)) << name;
  return out;
}

TEST(PbsRequest, ReadsTimes) {
  EXPECT_EQ(parse_pbs_time("96:00:00"), 345'600);
  EXPECT_EQ(parse_pbs_time("1:30"), 90);
  EXPECT_EQ(parse_pbs_time("5400"), 5400);
  EXPECT_EQ(parse_pbs_time("2:01:00:00"), 2 * 86'400 + 3600);
  EXPECT_EQ(parse_pbs_time("00:00:01.50"), 1);
  for (const char* bad : {"", "soon", "1:2:3:4:5", "-1", "1e5"}) EXPECT_FALSE(parse_pbs_time(bad)) << bad;
}

TEST(PbsRequest, ReadsSizes) {
  EXPECT_EQ(parse_pbs_size("10gb"), std::int64_t{10} << 30U);
  EXPECT_EQ(parse_pbs_size("2031040kb"), std::int64_t{2031040} << 10U);
  EXPECT_EQ(parse_pbs_size("10GB"), std::int64_t{10} << 30U);
  EXPECT_EQ(parse_pbs_size("1024"), 1024);
  EXPECT_EQ(parse_pbs_size("2mw"), std::int64_t{16} << 20U);
  for (const char* bad : {"", "gb", "1xb", "1kkb", "99999999pb"}) EXPECT_FALSE(parse_pbs_size(bad)) << bad;
}

TEST(PbsRequest, CountsWhereItRan) {
  EXPECT_EQ(parse_exec_host("n1/0*8+n2/0*8").processors, 16);
  EXPECT_EQ(parse_exec_host("n1/0*8+n2/0*8").hosts, 2);
  EXPECT_EQ(parse_exec_host("n1/0+n1/1+n2/0").processors, 3);
  EXPECT_EQ(parse_exec_host("n1/0-7,9").processors, 9);
  EXPECT_EQ(parse_exec_vnode("(n1:ncpus=8:mem=1gb)+(n2:ncpus=4+n3:ncpus=4)").processors, 16);
  EXPECT_EQ(parse_exec_vnode("(n1:ncpus=8:mem=1gb)+(n2:ncpus=4+n3:ncpus=4)").hosts, 3);
}

TEST(PbsRequest, SpreadsChunksAsTheirPlaceSays) {
  const auto free = request({{"select", "4:ncpus=2:mem=4gb"}, {"place", "free"}});
  EXPECT_EQ(processors_of(free), 8);
  EXPECT_EQ(attributes_of(free, 2)->nodes, 2U);
  EXPECT_EQ(attributes_of(free, 2)->memory, std::int64_t{8} << 30U);
  const auto scattered = request({{"select", "4:ncpus=2:mem=4gb"}, {"place", "scatter:excl"}});
  EXPECT_EQ(attributes_of(scattered, 2)->nodes, 4U);
  EXPECT_EQ(attributes_of(scattered, 2)->memory, std::int64_t{4} << 30U);
  const auto packed = request({{"select", "4:ncpus=2"}, {"place", "pack"}});
  EXPECT_EQ(attributes_of(packed, 3)->nodes, 1U);
  const auto torque = request({{"nodes", "3:ppn=4:gpus=1+n7:ppn=2"}, {"pmem", "1gb"}});
  EXPECT_EQ(processors_of(torque), 14);
  EXPECT_TRUE(torque.uneven);
  EXPECT_EQ(attributes_of(torque, 4)->nodes, 4U);
  EXPECT_EQ(attributes_of(torque, 4)->accelerators, 1);
  EXPECT_EQ(attributes_of(torque, 4)->memory, (std::int64_t{14} << 30U) / 4);
}

TEST(PbsRequest, CountsProcessesOfCrayAndNotTheLoginNode) {
  const auto cray = request({{"mppwidth", "70"},
                             {"mppnppn", "4"},
                             {"mpparch", "XT"},
                             {"mppmem", "1gb"},
                             {"ncpus", "1"},
                             {"place", "pack"},
                             {"select", "1"}});
  EXPECT_EQ(processors_of(cray), 70);
  EXPECT_EQ(attributes_of(cray, 1)->nodes, 18U) << "the last one has two processes";
  EXPECT_EQ(attributes_of(cray, 1)->memory, (std::int64_t{70} << 30U) / 18);
  EXPECT_EQ(cray.other, "");
  const auto threaded = request({{"mppwidth", "6"}, {"mppdepth", "8"}});
  EXPECT_EQ(processors_of(threaded), 48);
  EXPECT_EQ(attributes_of(threaded, 1)->nodes, 0U) << "not told";
  EXPECT_FALSE(PbsRequest().read_resource("mppwidth", "many"));
}

TEST(PbsRequest, ReadsNodesAsTorqueWritesThem) {
  const auto named = request({{"nodes", "n7.site:ppn=2+n9.site:ppn=2"}, {"ncpus", "1"}});
  EXPECT_EQ(processors_of(named), 4) << "ncpus is 1 by itself";
  EXPECT_EQ(attributes_of(named, 2)->nodes, 2U);
  EXPECT_FALSE(named.uneven) << "the names differ, and nothing else";
  const auto alone = request({{"nodes", "3:ppn=8#excl"}});
  EXPECT_EQ(processors_of(alone), 24);
  EXPECT_EQ(attributes_of(alone, 3)->nodes, 3U);
}

TEST(PbsRequest, LosesNothingInSilence) {
  const auto all = request({{"select", "2:ncpus=1:ngpus=2:gpu_model=h100"}, {"place", "scatter"}, {"matlab_lic", "3"}});
  const auto asks = attributes_of(all, 2);
  EXPECT_EQ(asks->accelerators, 2);
  EXPECT_EQ(asks->accelerator_type, "h100");
  EXPECT_EQ(named_licences_text(asks->licences), "matlab:3");
  EXPECT_EQ(named_licences_text(request({{"select", "2:ncpus=1:lic_a=1+3:ncpus=1:lic_a=2"}}).licences), "a:8");
  const auto both = request({{"matlab_lic", "2"}, {"select", "2:lic_a=1:lic_b=3+1:lic_b=1"}, {"license_none", "0"}});
  EXPECT_EQ(named_licences_text(both.licences), "matlab:2,a:2,b:7");
  const auto without_chunks = request({{"ncpus", "16"}, {"mem", "8gb"}});
  EXPECT_EQ(attributes_of(without_chunks, 2)->nodes, 2U);
  EXPECT_EQ(attributes_of(without_chunks, 2)->memory, std::int64_t{4} << 30U);
  const auto torque = request({{"nodes", "1:ppn=4"}, {"gpus", "2"}});
  EXPECT_EQ(attributes_of(torque, 1)->accelerators, 2);
  EXPECT_EQ(torque.other, "");
  EXPECT_EQ(request({{"bigtmp", "5gb"}}).other, "bigtmp");
  EXPECT_EQ(request({{"bigtmp", "0"}}).other, "");
  EXPECT_FALSE(attributes_of(request({{"ngpus", "65"}, {"place", "pack"}}), 1));
}

}  // namespace
}  // namespace rota::log

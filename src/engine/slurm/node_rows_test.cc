// What `scontrol -o show node` of Slurm 22.05.8 printed.
#include "engine/slurm/node_rows.h"

#include <gtest/gtest.h>

#include <string>

namespace rota::slurm {
namespace {

std::string node(const std::string& name, const std::string& state) {
  return "NodeName=" + name +
         " Arch=x86_64 CoresPerSocket=1  CPUAlloc=0 CPUEfctv=4 CPUTot=4 CPULoad=2.21 AvailableFeatures=gpu "
         "ActiveFeatures=gpu Gres=gpu:a100:2 NodeAddr=127.0.0.1 NodeHostName=vm Port=15396 Version=22.05.8 OS=Linux "
         "6.18 #1 SMP  RealMemory=4000 AllocMem=0 FreeMem=19314 Sockets=4 Boards=1 State=" +
         state +
         " ThreadsPerCore=1 TmpDisk=0 Weight=10 Owner=N/A MCS_label=N/A Partitions=main,gpu  "
         "BootTime=2026-11-29T21:37:16 CfgTRES=cpu=4,mem=4000M,billing=4,gres/gpu=2 AllocTRES= CapWatts=n/a \n";
}

TEST(SlurmNodeRows, ALineTellsOfANode) {
  const auto rows = read_nodes(node("g1", "IDLE"));
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 1U);
  const NodeRow& row = rows->front();
  EXPECT_EQ(row.name, "g1");
  EXPECT_EQ(row.processors, 4U);
  EXPECT_EQ(row.memory, std::int64_t{4000} << 20U);
  EXPECT_EQ(row.accelerators, 2U);
  EXPECT_EQ(row.partitions, (std::vector<std::string>{"main", "gpu"}));
  EXPECT_EQ(row.health, Health::up);
  EXPECT_EQ(row.power, PowerState::on);
}

TEST(SlurmNodeRows, StatesAreHealthAndPower) {
  struct Case {
    const char* state;
    Health health;
    PowerState power = PowerState::on;
  };
  for (const auto& [state, health, power] : {Case{"MIXED", Health::up},
                                             {"IDLE+DRAIN", Health::draining},
                                             {"ALLOCATED+DRAIN", Health::draining},
                                             {"DOWN", Health::down},
                                             {"DOWN*+DRAIN", Health::down},
                                             {"IDLE*", Health::down},
                                             {"IDLE+POWERED_DOWN", Health::up, PowerState::off},
                                             {"IDLE+CLOUD+POWERING_DOWN", Health::up, PowerState::off},
                                             {"IDLE+MAINTENANCE", Health::up}}) {
    const auto rows = read_nodes(node("g1", state));
    ASSERT_TRUE(rows) << state;
    EXPECT_EQ(rows->front().health, health) << state;
    EXPECT_EQ(rows->front().power, power) << state;
  }
}

TEST(SlurmNodeRows, ALineThatIsCutOffIsRefused) {
  const std::string text = node("g1", "IDLE") + node("g2", "IDLE");
  EXPECT_FALSE(read_nodes(std::string_view(text).substr(0, text.size() - 20)));
  EXPECT_FALSE(read_nodes(""));
}

}  // namespace
}  // namespace rota::slurm

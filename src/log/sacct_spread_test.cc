// On how many nodes jobs may go where the log does not say it of each.
#include "log/sacct_spread.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "log/sacct.h"

namespace rota::log {
namespace {

constexpr const char* kNames = "JobID|User|Submit|Start|End|State|AllocCPUS|ReqCPUS|NNodes|ReqNodes|ReqMem|AllocTRES\n";
constexpr const char* kTimes = "|2024-03-01T11:00:00|2024-03-01T11:00:10|2024-03-01T11:01:15|COMPLETED|8|";

Result<SacctLog> log_of(const std::string& rows, const SwfOptions& options) {
  return read_sacct_log(LineBlocks::over(kNames + rows, "sacct.txt"), options);
}
std::int64_t found(const ImportReport& report, std::string_view what) {
  for (const auto& finding : report.findings)
    if (finding.what.starts_with(what)) return finding.rows;
  return 0;
}

TEST(SacctSpread, MemoryByProcessorsKeepsTheNodesThatAJobHad) {
  struct Case {
    const char *what, *cells;  // ReqCPUS|NNodes|ReqNodes|ReqMem|AllocTRES
    std::uint32_t nodes, pinned;
  };
  for (const Case& one : {
           Case{"for each processor", "8|2|1|1Gc|cpu=8,mem=8192M,node=2", 2, 1},
           Case{"for each processor, and no AllocTRES", "8|2|1|1Gc|", 2, 1},
           Case{"in all, as newer releases tell it", "8|2|1|8192M|cpu=8,mem=8192M,node=2", 2, 1},
           Case{"with processors and nodes alike", "4|2|1|4G|cpu=8,mem=8G,node=2", 2, 1},
           Case{"for each node", "8|2|1|4Gn|cpu=8,mem=8G,node=2", 0, 0},
           Case{"the same, as newer releases tell it", "8|2|1|4G|cpu=8,mem=8G,node=2", 0, 0},
           Case{"on as many nodes as asked for", "8|2|2|1Gc|cpu=8,mem=8G,node=2", 2, 0},
           Case{"on one", "8|1|1|1Gc|cpu=8,mem=8G,node=1", 1, 0},
           Case{"of no memory", "8|2|1|0|cpu=8,node=2", 0, 0},
       }) {
    for (const bool counts : {true, false}) {
      const auto log = log_of(fmt::format("7|ann{}{}\n", kTimes, one.cells), {.memory_counts = counts});
      ASSERT_TRUE(log) << log.error().message;
      EXPECT_EQ(log->rows[0].nodes, counts || one.pinned == 0 ? one.nodes : 0) << one.what;
      EXPECT_EQ(found(log->report, "would go on any number of nodes, and have memory by their processors"),
                counts ? one.pinned : 0)
          << one.what;
    }
  }
}

// Nodes that jobs 1, 2, ... may go on; AllocCPUS is 8. `memory`: of each processor, in MiB.
std::vector<std::uint32_t> spreads(const std::vector<std::pair<std::string, int>>& jobs, const SwfOptions& options,
                                   ImportReport* report = nullptr) {
  std::string rows;
  int number = 0;
  for (const auto& [cells, memory] : jobs) {  // User, NNodes and ReqNodes
    const auto bar = cells.find('|');
    rows += fmt::format("{}|{}{}8|{}|{}Mc|cpu=8,mem={}M\n", ++number, cells.substr(0, bar), kTimes,
                        cells.substr(bar + 1), memory, 8 * memory);
  }
  const auto log = log_of(rows, options);
  EXPECT_TRUE(log) << log.error().message;
  std::vector<std::uint32_t> nodes;
  for (const SwfRow& row : log->rows) {
    nodes.push_back(row.nodes);
    if (options.memory_beside > 0 && row.nodes == 0) {
      EXPECT_EQ(row.node_memory, 0);
    }
  }
  if (report != nullptr) *report = log->report;
  return nodes;
}

TEST(SacctSpread, OthersLikeItShowWhetherAJobThatAskedForOneNodeAtLeastNeedsOne) {
  using Nodes = std::vector<std::uint32_t>;
  constexpr std::int64_t kGib = std::int64_t{1} << 30U;
  const SwfOptions counted{.memory_counts = true, .memory_beside = kGib};
  ImportReport report;
  EXPECT_EQ(spreads({{"ann|1|1", 1024}, {"ann|2|1", 1024}, {"bob|1|1", 1024}, {"ann|3|3", 1}}, counted, &report),
            (Nodes{0, 0, 1, 3}))
      << "as one of hers was spread; nobody has more memory than lies beside a processor";
  EXPECT_EQ(found(report, "had one node, and asked for one at least"), 1);
  EXPECT_EQ(found(report, "go on any number of nodes, and have memory by their processors: left out"), 2);
  EXPECT_EQ(spreads({{"ann|1|1", 1024}, {"ann|2|1", 1024}, {"bob|1|1", 1025}}, counted, &report), (Nodes{1, 2, 1}))
      << "of bob's memory may be too little beside them";
  EXPECT_EQ(found(report, "would go on any number of nodes, and have memory by their processors: kept"), 1);
  EXPECT_EQ(spreads({{"ann|1|1", 1024}, {"bob|1|1", 1}}, counted), (Nodes{1, 1})) << "none was spread";
  EXPECT_EQ(spreads({{"ann|1|1", 1024}, {"ann|2|1", 1024}}, {.memory_counts = false}), (Nodes{0, 0}));
  EXPECT_EQ(spreads({{"ann|1|1", 1024}, {"ann|2|1", 1024}}, {}), (Nodes{1, 2})) << "of nodes that nobody knows";
}

TEST(SacctSpread, WhatSaysThatItNeedsOneNodeIsHeard) {
  const auto nodes = [](const char* asked, const char* line, const char* user) {
    const std::string names = "JobID|User|Submit|Start|End|State|AllocCPUS|ReqCPUS|NNodes|ReqNodes|SubmitLine\n";
    const std::string first = fmt::format("1|{}{}8|2|1|sbatch -n 8 a.sh\n", user, kTimes);
    const std::string second = fmt::format("2|{}{}{}|1|1|{}\n", user, kTimes, asked, line);
    const auto log = read_sacct_log(LineBlocks::over(names + first + second, "sacct.txt"), {.memory_counts = false});
    EXPECT_TRUE(log) << log.error().message;
    return log->rows[1].nodes;
  };
  EXPECT_EQ(nodes("8", "sbatch -n 8 b.sh", "ann"), 0U);
  EXPECT_EQ(nodes("8", "sbatch b.sh -N 1", "ann"), 0U) << "the script's own";
  EXPECT_EQ(nodes("8", "", "ann"), 0U);
  EXPECT_EQ(nodes("8", "sbatch -N 1 -n 8 b.sh", "ann"), 1U);
  EXPECT_EQ(nodes("8", "sbatch --nodes=1 b.sh", "ann"), 1U);
  EXPECT_EQ(nodes("8", "sbatch -n1 -c8 b.sh", "ann"), 1U);
  EXPECT_EQ(nodes("8", "sbatch --cpus-per-task 4 -n 2 b.sh", "ann"), 1U);
  EXPECT_EQ(nodes("1", "", "ann"), 1U) << "it asked for one processor";
  EXPECT_EQ(nodes("4", "", "ann"), 1U) << "others with as many were not spread";
  EXPECT_EQ(nodes("8", "", ""), 1U) << "nobody knows whose they are";
}

TEST(SacctSpread, MemoryOfANodeCanBeShortWhereAJobIsSpread) {
  const std::string names = "JobID|User|Submit|Start|End|State|AllocCPUS|ReqCPUS|NNodes|ReqNodes|ReqMem|AllocTRES\n";
  const std::string by_processors = fmt::format("1|ann{}8|2|1|1000Mc|cpu=8,mem=8000M\n", kTimes);
  const std::string by_nodes = fmt::format("2|ann{}8|1|1|3600Mn|cpu=8,mem=3600M\n", kTimes);
  const auto log = read_sacct_log(LineBlocks::over(names + by_processors + by_nodes, "sacct.txt"),
                                  {.memory_counts = true, .memory_beside = std::int64_t{1000} << 20U});
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ(log->rows[0].nodes, 2U) << "kept: on any node the other may have 3600 MiB beside one processor";
  EXPECT_EQ(log->rows[1].nodes, 0U);
}

}  // namespace
}  // namespace rota::log

#include "cli/import/import_turnaround.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "log/line_blocks.h"

namespace rota::cli {
namespace {

std::string clock_at(int second) { return fmt::format("2024-06-10T10:{:02}:{:02}", second / 60, second % 60); }

// One job after the other on the same node, each 10 s long and so long after the one before; all were submitted first.
Duration turnaround_of_chain(int jobs, int gap) {
  std::string text = "JobIDRaw|Submit|Start|End|Elapsed|State|AllocCPUS|NodeList\n";
  for (int job = 0; job < jobs; ++job) {
    const int start = 1 + job * (10 + gap);
    text += fmt::format("{}|{}|{}|{}|00:00:10|COMPLETED|8|n1\n", job + 1, clock_at(0), clock_at(start),
                        clock_at(start + 10));
  }
  const auto log = log::read_sacct_log(log::LineBlocks::over(text, "log.txt"), {});
  EXPECT_TRUE(log) << log.error().message;
  return log ? turnaround_of(*log) : Duration{-1};
}

TEST(Turnaround, IsTheLeastTimeBetweenTwoJobsOnANode) {
  EXPECT_EQ(turnaround_of_chain(40, 0), Duration{0});
  EXPECT_EQ(turnaround_of_chain(40, 5), seconds(5));
  EXPECT_EQ(turnaround_of_chain(10, 5), Duration{0}) << "too few tell something";
}

}  // namespace
}  // namespace rota::cli

#include "rehearse/blocks.h"

#include <gtest/gtest.h>

namespace rota {
namespace {

// A job each so many seconds.
log::Workload each(std::int64_t every, std::int64_t jobs) {
  log::Workload workload;
  for (std::int64_t i = 0; i < jobs; ++i) {
    JobSpec spec;
    spec.number = i + 1;
    spec.submit = at_seconds(i * every);
    workload.jobs.push_back(spec);
    workload.run_times.push_back(seconds(1));
  }
  return workload;
}

TEST(LogBlocks, AreWeeksAndTheLastTakesTheRest) {
  const log::Workload workload = each(86'400, 61);
  const LogBlocks blocks = blocks_of(workload, 8);
  EXPECT_EQ(blocks.count, 8U);
  EXPECT_TRUE(blocks.weeks());
  EXPECT_EQ(blocks.of(at_seconds(0)), 0U);
  EXPECT_EQ(blocks.of(blocks.end(0) - Duration{1}), 0U);
  EXPECT_EQ(blocks.of(blocks.end(0)), 1U);
  EXPECT_EQ(blocks.of(workload.jobs.back().submit), 7U);
  EXPECT_EQ(told(blocks, 8), "8 weeks");
}

TEST(LogBlocks, OfAShortLogAreEqualParts) {
  const LogBlocks blocks = blocks_of(each(100, 81), 8);
  EXPECT_EQ(blocks.count, 8U);
  EXPECT_FALSE(blocks.weeks());
  EXPECT_EQ(blocks.length, seconds(1000));
  EXPECT_EQ(told(blocks, 4), "4 parts of 16 min 40 s");
  EXPECT_EQ(blocks_of(each(0, 5), 8).count, 1U) << "all at once";
  EXPECT_EQ(blocks_of(each(100, 1), 8).count, 1U);
}

TEST(LogBlocks, BeginBehindTheWarmUp) {
  log::Workload workload = each(100, 81);
  workload.warm_up = 41;
  const LogBlocks blocks = blocks_of(workload, 4);
  EXPECT_EQ(blocks.begin, at_seconds(4100));
  BlockCollector collector(workload, blocks);
  EXPECT_EQ(collector.readings().front(), blocks.begin) << "what the warm-up drew is none of the first block's";
  Job job;
  job.state = JobState::completed;
  job.spec = workload.jobs[3];
  job.start = job.spec.submit;
  job.end = job.start + seconds(1);
  collector.job_gone(JobId{3}, job);
  for (const report::Block& block : collector.blocks()) EXPECT_TRUE(block.waits.empty());
}

}  // namespace
}  // namespace rota

// Alarms that ring late, as those of a busy computer do.
#include <gtest/gtest.h>

#include "control/controller.h"
#include "control/desk_test.h"

namespace rota {
namespace {

// When each of three jobs has started: one that fits, one that does not, and one that fits beside it.
std::vector<Instant> starts(const std::string& policy, Duration late) {
  Desk desk(policy, on_nodes(3));
  std::vector<JobId> jobs;
  const auto ask = [&](std::int64_t millisecond, std::uint32_t processors, std::int64_t limit) {
    desk.loop().go_to(kEpoch + Duration{millisecond});
    jobs.push_back(desk.run(processors, limit));
  };
  ask(500, 3, 100);
  ask(700, 4, 50);
  ask(900, 1, 10);
  while (desk.loop().next() < at_seconds(60)) {
    desk.loop().go_to(desk.loop().next() + late);
    EXPECT_TRUE(desk.ring());
  }
  std::vector<Instant> all;
  for (const JobId job : jobs) all.push_back(desk.runs(job) ? desk.view().job(job).start : kNever);
  return all;
}

TEST(LateAlarms, PutNoPassOfSlurmOffByMoreThanTheyAreLate) {
  for (const char* policy : {"slurm", "slurm+bf-interval=5s+bf-phase=300ms", "slurm+tick=2s+batch-sched-delay=0",
                             "slurm+tick=0+batch-sched-delay=0+bf-interval=1s"}) {
    const std::vector<Instant> exact = starts(policy, Duration{0});
    EXPECT_NE(exact[0], kNever) << policy;
    EXPECT_EQ(exact[1], kNever) << policy;
    EXPECT_NE(exact[2], kNever) << policy;
    for (const std::int64_t late : {1, 3, 40}) {
      const std::vector<Instant> found = starts(policy, Duration{late});
      for (std::size_t i : {0U, 2U}) {
        EXPECT_GE(found[i], exact[i]) << policy << ", late by " << late;
        EXPECT_LE(found[i], exact[i] + Duration{late}) << policy << ", late by " << late;
      }
      EXPECT_EQ(found[1], kNever) << policy;
    }
  }
}

}  // namespace
}  // namespace rota

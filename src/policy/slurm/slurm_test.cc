// What policy slurm is made of; what it comes to is in tests/golden/slurm-*.sched and real_slurm_test.cc.
#include <gtest/gtest.h>

#include "policy/chain.h"
#include "policy/slurm/node_set.h"
#include "policy/slurm/slurm_room.h"

namespace rota {
namespace {

TEST(Slurm, BothEndsOfAReservationAreRoundedDown) {
  const SlurmSlot rounded = slot_of(at_seconds(70), seconds(120), seconds(60));
  EXPECT_EQ(rounded.from, at_seconds(60));
  EXPECT_EQ(rounded.until, at_seconds(180));
  const SlurmSlot within = slot_of(at_seconds(70), seconds(30), seconds(60));
  EXPECT_EQ(within.from, at_seconds(60));
  EXPECT_EQ(within.until, at_seconds(120));
  const SlurmSlot exact = slot_of(at_seconds(60), seconds(60), seconds(60));
  EXPECT_EQ(exact.from, at_seconds(60));
  EXPECT_EQ(exact.until, at_seconds(120));
}

TEST(Slurm, SetsOfNodesAreFullAtFirst) {
  NodeSet all(70);
  EXPECT_EQ(all.size(), 70U);
  NodeSet fewer = all;
  fewer.erase(NodeId{69});
  EXPECT_FALSE(fewer.contains(NodeId{69}));
  EXPECT_TRUE(all.includes(fewer));
  EXPECT_FALSE(fewer.includes(all));
  all &= fewer;
  EXPECT_EQ(all.size(), 69U);
  all.clear();
  EXPECT_TRUE(all.empty());
}

TEST(Slurm, RefusesWhatItWouldNotFollow) {
  const auto sentence = [](const std::string& text) {
    const auto chain = Chain::parse(text);
    return chain ? "" : chain.error().message;
  };
  EXPECT_EQ(sentence("slurm+bf-interval=1m+bf-window=2d+default-queue-depth=500"), "");
  EXPECT_EQ(sentence("slurm+priority=multifactor+weight-age=1000+weight-fairshare=10+fair-half-life=14d"), "");
  EXPECT_EQ(sentence("slurm+order=sjf"),
            "policy slurm has an order and a depth of its own. Leave order, candidates, depth and skip out; priority, "
            "bf-max-job-test and bf-job-part-count-reserve are its knobs for that.");
  EXPECT_EQ(sentence("slurm+preempt=suspend"), "policy slurm does not know of jobs that give way. Leave preempt out.");
  EXPECT_EQ(sentence("slurm+weight-age=10"),
            "policy knob weight-age would have no effect here: it is for policy slurm with priority=multifactor. "
            "Leave it out.");
  EXPECT_EQ(sentence("easy+bf-window=1d"),
            "policy knob bf-window would have no effect here: it is for policy slurm. Leave it out.");
  EXPECT_EQ(sentence("slurm+bf-interval=no+bf-window=1d"),
            "policy knob bf-window would have no effect here: with bf-interval=no there is no backfill pass. "
            "Leave it out.");
}

}  // namespace
}  // namespace rota

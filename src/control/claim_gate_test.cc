// A gate: what passes at once, what waits for an answer, and what becomes of it.
#include "control/claim_gate.h"

#include <gtest/gtest.h>

#include "control/hand_loop_test.h"

namespace rota {
namespace {

constexpr JobId kLocal{0}, kBrought{1}, kVictim{2};
constexpr std::int64_t kNumber = 77;

class ClaimGateTest : public testing::Test, public Engine, public GateKeeper {
 protected:
  ClaimGateTest() { gate_.expect(kBrought, kNumber); }

  Capabilities capabilities() const override {
    Capabilities can;
    can.confirms_starts = confirms_;
    return can;
  }
  Observation observe() const override { return seen_; }
  void dispatch(const Command& command) override { passed_.push_back(command); }
  StartAnswer claim_to_start(std::int64_t) override {
    ++asked_;
    return answer_;
  }
  StartAnswer claim_to_make_room(std::int64_t) override {
    ++asked_;
    return answer_;
  }
  void starts(JobId, std::int64_t) override { ++starts_; }
  void makes_room(JobId) override { ++rooms_; }
  void not_started(const Command& give_way) override { not_started_.push_back(give_way.job); }
  void lost(JobId id) override { lost_.push_back(id); }

  static Command start(JobId job) {
    return {.key = 1, .job = job, .expected_end = at_seconds(50), .limit_end = at_seconds(100)};
  }
  static Command give_way() {
    Command command{.kind = Command::Kind::preempt, .key = 2, .job = kVictim};
    command.how = Preemption::requeue;
    command.beneficiary = kBrought;
    command.kept = false;
    return command;
  }

  HandLoop loop_;
  StartAnswer answer_ = StartAnswer::ours;
  std::vector<Command> passed_;
  std::vector<JobId> lost_, not_started_;
  bool confirms_ = false;
  Observation seen_;
  int asked_ = 0, starts_ = 0, rooms_ = 0;
  ClaimGate gate_{*this, *this, loop_};
};

TEST_F(ClaimGateTest, DoesNotAskAboutALocalJob) {
  gate_.dispatch(start(kLocal));
  EXPECT_EQ(passed_.size(), 1U);
  EXPECT_EQ(asked_ + starts_, 0);
}

TEST_F(ClaimGateTest, PassesAStartOnAtOnceWhereTheAnswerComesAtOnce) {
  gate_.dispatch(start(kBrought));
  ASSERT_EQ(passed_.size(), 1U);
  EXPECT_EQ(passed_[0].limit_end, at_seconds(100));
  EXPECT_EQ(starts_, 1);
}

TEST_F(ClaimGateTest, StopsAJobAtOnceThatWasToGiveWay) {
  answer_ = StartAnswer::pending;
  gate_.dispatch(give_way());
  EXPECT_TRUE(passed_.empty());
  gate_.dispatch({.kind = Command::Kind::kill, .key = 3, .job = kVictim});
  ASSERT_EQ(passed_.size(), 1U) << "whatever becomes of the claim";
  EXPECT_EQ(passed_[0].kind, Command::Kind::kill);
  gate_.answered(kNumber, true);
  EXPECT_EQ(passed_.size(), 1U);
}

TEST_F(ClaimGateTest, PassesACommandOnceThatIsSentAgainWhileItWaits) {
  answer_ = StartAnswer::pending;
  gate_.dispatch(give_way());
  gate_.dispatch(give_way());
  gate_.answered(kNumber, true);
  EXPECT_EQ(passed_.size(), 1U);
}

TEST_F(ClaimGateTest, ReportsAJobThatIsGone) {
  answer_ = StartAnswer::gone;
  gate_.dispatch(start(kBrought));
  EXPECT_TRUE(passed_.empty());
  EXPECT_EQ(lost_, std::vector<JobId>{kBrought});
  gate_.dispatch(start(kBrought));
  EXPECT_EQ(asked_, 1) << "the controller may not have heard of it yet";
  EXPECT_TRUE(passed_.empty());
}

TEST_F(ClaimGateTest, HoldsAStartAndWhatFollowsBackUntilTheAnswer) {
  answer_ = StartAnswer::pending;
  const Placement place{{{NodeId{3}, 2}}};
  Command command = start(kBrought);
  command.where = place;
  gate_.dispatch(command);
  gate_.dispatch({.kind = Command::Kind::kill, .key = 9, .job = kBrought});
  gate_.dispatch(start(kLocal));
  EXPECT_EQ(passed_.size(), 1U);
  loop_.move_to(at_seconds(7));
  gate_.answered(kNumber, true);
  ASSERT_EQ(passed_.size(), 3U);
  EXPECT_EQ(passed_[1].kind, Command::Kind::start);
  EXPECT_EQ(passed_[1].limit_end, at_seconds(107)) << "the limit is the job's own";
  EXPECT_EQ(passed_[1].expected_end, at_seconds(57));
  EXPECT_EQ(passed_[1].where.shares.size(), 1U) << "the place is kept until then";
  EXPECT_EQ(passed_[2].kind, Command::Kind::kill);
  EXPECT_EQ(asked_, 1);
}

TEST_F(ClaimGateTest, AsksToLookAtAHeldStartOnceAndAsLateAsTheStart) {
  answer_ = StartAnswer::pending;
  gate_.dispatch(start(kBrought));
  for (const std::int64_t at : {3, 6}) {
    loop_.move_to(at_seconds(at));
    gate_.dispatch({.kind = Command::Kind::expect, .key = 9, .job = kBrought, .expected_end = at_seconds(50)});
    ASSERT_EQ(gate_.observe().jobs.size(), 1U);
    EXPECT_TRUE(gate_.observe().jobs[0].held);
  }
  loop_.move_to(at_seconds(7));
  gate_.answered(kNumber, true);
  ASSERT_EQ(passed_.size(), 2U);
  EXPECT_EQ(passed_[1].kind, Command::Kind::expect);
  EXPECT_EQ(passed_[1].expected_end, passed_[0].expected_end);
}

TEST_F(ClaimGateTest, ForgetsWhatItHeldBackOfAJobThatIsGone) {
  answer_ = StartAnswer::pending;
  gate_.dispatch(start(kBrought));
  gate_.answered(kNumber, false);
  EXPECT_TRUE(passed_.empty());
  EXPECT_EQ(lost_, std::vector<JobId>{kBrought});
  gate_.job_gone(kBrought);
  gate_.answered(kNumber, true);
  EXPECT_TRUE(passed_.empty());
}

TEST_F(ClaimGateTest, LetsNoJobGiveWayBeforeTheOtherIsTheSites) {
  answer_ = StartAnswer::pending;
  gate_.dispatch(give_way());
  EXPECT_TRUE(passed_.empty());
  EXPECT_EQ(rooms_, 0);
  gate_.answered(kNumber, true);
  ASSERT_EQ(passed_.size(), 1U);
  EXPECT_EQ(passed_[0].how, Preemption::requeue);
  EXPECT_EQ(rooms_, 1);
}

TEST_F(ClaimGateTest, DoesNotDisturbAJobThatWouldGiveWayInVain) {
  answer_ = StartAnswer::gone;
  gate_.dispatch(give_way());
  ASSERT_EQ(passed_.size(), 1U);
  EXPECT_TRUE(passed_[0].kept) << "the controller hears that it has left, and starts it again with all its work";
  EXPECT_EQ(passed_[0].how, Preemption::suspend);
  EXPECT_EQ(rooms_, 0);
  EXPECT_EQ(lost_, std::vector<JobId>{kBrought});
}

TEST_F(ClaimGateTest, TellsNoJobToGiveWayThatHasEndedMeanwhile) {
  answer_ = StartAnswer::pending;
  gate_.dispatch(give_way());
  gate_.job_gone(kVictim);
  gate_.answered(kNumber, true);
  EXPECT_TRUE(passed_.empty());
}

TEST_F(ClaimGateTest, LetsAJobThatHasNotStartedGiveWayAtOnce) {
  answer_ = StartAnswer::pending;
  gate_.dispatch(start(kBrought));
  Command command = give_way();
  command.job = kBrought;
  command.beneficiary = kLocal;
  gate_.dispatch(command);
  EXPECT_EQ(not_started_, std::vector<JobId>{kBrought});
  gate_.answered(kNumber, true);
  EXPECT_TRUE(passed_.empty()) << "it waits again, and is the site's";
  answer_ = StartAnswer::ours;
  gate_.dispatch(start(kBrought));
  EXPECT_EQ(passed_.size(), 1U);
}

TEST_F(ClaimGateTest, CountsAStartThatIsHeldBackAsDoneWhereStartsAreNotConfirmed) {
  answer_ = StartAnswer::pending;
  seen_.jobs = {{kLocal}, {kBrought, false, Requeued{kBrought}, 0, 3}, {kVictim}};
  Command command = start(kBrought);
  command.dispatch = 4;
  gate_.dispatch(command);
  const Observation seen = gate_.observe();
  ASSERT_EQ(seen.jobs.size(), 3U);
  EXPECT_EQ(seen.jobs[1].job, kBrought);
  EXPECT_TRUE(seen.jobs[1].runs) << "the controller would give it up, and then it would start";
  EXPECT_EQ(seen.jobs[1].dispatch, 4U);
  EXPECT_EQ(seen.jobs[1].key, 1U);
  seen_.jobs = {};
  EXPECT_EQ(gate_.observe().jobs.size(), 1U);
  confirms_ = true;
  EXPECT_TRUE(gate_.observe().jobs.empty()) << "the controller waits until it is confirmed";
}

TEST_F(ClaimGateTest, StartsNothingThatWasRevoked) {
  gate_.revoked(kBrought);
  gate_.dispatch(start(kBrought));
  EXPECT_TRUE(passed_.empty());
  EXPECT_EQ(asked_, 0);
  EXPECT_TRUE(lost_.empty()) << "that is known";
}

}  // namespace
}  // namespace rota

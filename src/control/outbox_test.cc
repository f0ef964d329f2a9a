// What leaves at once, and what waits for the journal.
#include "control/outbox.h"

#include <gtest/gtest.h>

#include "control/hand_loop_test.h"

namespace rota {
namespace {

class OutboxTest : public testing::Test, public Exchange, public Durable {
 protected:
  void send(const Request& request) override { sent_.push_back(request.job); }
  void watch(SiteId, Watcher&, Revision) override {}
  void stop(Watcher&) override {}
  Result<void> commit() override {
    ++commits_;
    sent_at_commit_ = sent_.size();
    return broken_ ? fail("the disk is full.") : Result<void>{};
  }
  static Request about(std::int64_t job) { return {.kind = Request::Kind::end, .token = {}, .site = {}, .job = job}; }

  HandLoop loop_;
  std::vector<std::int64_t> sent_;
  std::size_t sent_at_commit_ = 0;
  int commits_ = 0;
  bool broken_ = false;
};

TEST_F(OutboxTest, LetsARequestLeaveAtOnceWhereNothingWaitsForTheJournal) {
  Outbox outbox(*this, this, loop_);
  outbox.send(about(1));
  EXPECT_EQ(sent_, std::vector<std::int64_t>{1});
  EXPECT_EQ(commits_, 0);
}

TEST_F(OutboxTest, HoldsRequestsUntilTheCommitAndKeepsTheirOrder) {
  Outbox outbox(*this, this, loop_);
  outbox.written();
  outbox.send(about(1));
  outbox.send(about(2));
  EXPECT_TRUE(sent_.empty());
  EXPECT_TRUE(outbox.commit());
  EXPECT_EQ(sent_at_commit_, 0U) << "the journal goes first";
  EXPECT_EQ(sent_, (std::vector<std::int64_t>{1, 2}));
  outbox.send(about(3));
  EXPECT_EQ(sent_.size(), 3U);
}

TEST_F(OutboxTest, AsksForACommitItselfIfNoneComes) {
  Outbox outbox(*this, this, loop_);
  outbox.written();
  outbox.send(about(1));
  loop_.move_to(at_seconds(1));
  EXPECT_EQ(commits_, 1);
  EXPECT_EQ(sent_, std::vector<std::int64_t>{1});
  EXPECT_TRUE(outbox.empty());
}

TEST_F(OutboxTest, WaitsForNothingWithWhatNoRequestRestsOn) {
  Outbox outbox(*this, this, loop_);
  outbox.written();
  loop_.move_to(at_seconds(1));
  EXPECT_EQ(commits_, 0);
}

TEST_F(OutboxTest, LetsNothingLeaveThatTheJournalRefuses) {
  Outbox outbox(*this, this, loop_);
  broken_ = true;
  outbox.written();
  outbox.send(about(1));
  EXPECT_FALSE(outbox.commit());
  loop_.move_to(at_seconds(1));
  outbox.send(about(2));
  EXPECT_TRUE(sent_.empty());
}

TEST_F(OutboxTest, HoldsNothingWhereNothingIsKept) {
  Outbox outbox(*this, nullptr, loop_);
  outbox.written();
  outbox.send(about(1));
  EXPECT_EQ(sent_, std::vector<std::int64_t>{1});
  EXPECT_TRUE(outbox.commit());
}

}  // namespace
}  // namespace rota

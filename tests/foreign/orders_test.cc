// Orders about the queue of somebody else's cluster: what the asker is answered, and what the cluster has then.
#include <gtest/gtest.h>

#include <vector>

#include "foreign/foreign_engine.h"
#include "foreign/foreign_orders.h"
#include "foreign/line.h"
#include "model/world_test.h"

namespace rota::foreign {
namespace {

using Kind = QueueOrders::Answer::Kind;

ClusterOptions options_of(const Machine& machine) {
  ClusterOptions options;
  options.processors = machine.processors;
  options.machine = &machine;
  return options;
}

class Orders : public testing::Test, private Line::End, private Alarm {
 protected:
  Orders() {
    line_.connect(this);
    orders_.open([this]() -> const View& { return state_; });
  }
  // A job that is there and that the state knows.
  JobId known(bool gated) {
    Wish wish;
    wish.gated = gated;
    JobSpec spec;
    spec.number = cluster_.submit(wish);
    spec.limit = wish.limit;
    return submit(state_, spec);
  }
  const JobRow& row(JobId job) { return *cluster_.find(state_.job(job).spec.number); }
  QueueOrders::Request request() {
    QueueOrders::Request request;
    request.spec.processors = 2;
    request.spec.limit = seconds(60);
    return request;
  }
  QueueOrders::Call call() {
    return [this](const QueueOrders::Answer& answer) { answers_.push_back(answer); };
  }
  void pass(Duration time) {
    for (const Instant end = loop_.now() + time; loop_.next() <= end && loop_.step();) {
    }
  }

  sim::VirtualLoop loop_;
  OtherCluster cluster_{{{"n1", 4, 0, NodeState::up}}};
  Machine machine_ = machine_of(cluster_.listing());
  Cluster state_{options_of(machine_)};
  Line line_{cluster_, loop_, {}, 1};
  ForeignOrders orders_{line_, loop_, [this] { loop_.set(*this, orders_.next()); }};
  std::vector<QueueOrders::Answer> answers_;

 private:
  void hear(const Listing&) override {}
  void hear(const Line::Done&) override {}
  void hear(const Line::Reply& reply) override { orders_.hear(reply); }
  void ring() override { orders_.look(); }
};

TEST_F(Orders, OneThatWasLostIsSentAgain) {
  line_.set_faults({.longest = {}, .loses = 1});
  orders_.submit(request(), "a", call());
  line_.set_faults({});
  pass(seconds(100));
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(answers_[0].kind, Kind::done);
  ASSERT_EQ(cluster_.jobs().size(), 1U);
  EXPECT_EQ(cluster_.jobs().begin()->first, answers_[0].number);
}

TEST_F(Orders, UnderOneKeyAJobIsSubmittedOnce) {
  for (int i = 0; i < 2; ++i) {
    orders_.submit(request(), "a", call());
    pass(seconds(1));
  }
  ASSERT_EQ(answers_.size(), 2U);
  EXPECT_EQ(answers_[0].number, answers_[1].number);
  EXPECT_EQ(cluster_.jobs().size(), 1U);
}

TEST_F(Orders, WithoutAnAnswerItIsNotKnownWhatBecame) {
  line_.set_faults({.longest = {}, .loses = 1});
  orders_.submit(request(), "a", call());
  pass(seconds(1'000));
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(answers_[0].kind, Kind::unknown);
  EXPECT_TRUE(cluster_.jobs().empty());
}

TEST_F(Orders, WhatIsRefusedHasChangedNothing) {
  const JobId runs = known(false);
  const JobRow before = row(runs);
  ASSERT_EQ(before.state, State::running);
  orders_.hold(runs, kHeldByUser, "a", call());
  orders_.amend(runs, {.begin = at_seconds(5)}, "b", call());
  EXPECT_TRUE(answers_.empty()) << "never from within";
  pass(seconds(1));
  ASSERT_EQ(answers_.size(), 2U);
  for (const auto& answer : answers_) {
    EXPECT_EQ(answer.kind, Kind::refused);
    EXPECT_NE(answer.why, "");
  }
  EXPECT_EQ(row(runs), before);
}

TEST_F(Orders, AboutOneJobGoOneAfterTheOther) {
  line_.set_faults({.longest = seconds(40), .loses = 0});
  const JobId job = known(true);
  for (int i = 0; i < 10; ++i) {
    orders_.hold(job, kHeldByUser, "hold " + std::to_string(i), call());
    orders_.release(job, kHeldByUser, "release " + std::to_string(i), call());
  }
  orders_.hold(job, kHeldByOperator, "last", call());
  pass(seconds(5'000));
  EXPECT_EQ(answers_.size(), 21U);
  EXPECT_EQ(row(job).hold, Hold::by_operator);
}

}  // namespace
}  // namespace rota::foreign

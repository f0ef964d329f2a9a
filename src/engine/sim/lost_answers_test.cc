// A controller whose commands and answers get lost on the way: what the swarm taught, one by one.
#include <gtest/gtest.h>

#include "engine/sim/faulty_link.h"
#include "engine/sim/rehearsal.h"

namespace rota::sim {
namespace {

class NoJobs final : public Source {
 public:
  bool next(Arrival& /*arrival*/) override { return false; }
};

class Forgetful final : public JobSink {
 public:
  void job_gone(JobId /*id*/, const Job& job) override { states.push_back(job.state); }
  std::vector<JobState> states;
};

class Stop final : public Alarm {
 public:
  void ring() override {}
};

// Four processors under FCFS; the link loses nothing unless it is told to.
class LostAnswersTest : public ::testing::Test {
 protected:
  explicit LostAnswersTest(const LinkFaults& faults = {}, const AnswerRules& rules = {seconds(30), seconds(300), {}})
      : chain_(*Chain::parse("fcfs")),
        engine_({.faults = EngineFaults{}}, no_jobs_, loop_),
        link_(engine_, loop_, faults, 1),
        controller_(options(chain_), chain_, {loop_, link_, sink_}) {
    controller_.set_answer_rules(rules);
    link_.connect(&controller_);
    engine_.open(link_);
  }
  static ClusterOptions options(const Chain& chain) {
    RehearsalOptions rehearsal;
    rehearsal.processors = 4;
    ClusterOptions options = cluster_options(rehearsal, chain);
    options.confirms_starts = true;
    return options;
  }
  JobId submit(std::int64_t run, Restart restart = Restart::never) {
    JobSpec spec;
    spec.number = 1;
    spec.processors = 4;
    spec.limit = seconds(1000);
    spec.restart = restart;
    const JobId id = controller_.view().next_job();
    engine_.will_run(id, seconds(run));
    controller_.submit(spec);
    EXPECT_TRUE(controller_.decide());
    return id;
  }
  void run_until(Instant until) {
    loop_.set(stop_, until);
    while (loop_.now() < until && loop_.step()) {
    }
  }
  const Job& job(JobId id) const { return controller_.view().job(id); }

  Chain chain_;
  VirtualLoop loop_;
  NoJobs no_jobs_;
  Forgetful sink_;
  Stop stop_;
  SimEngine engine_;
  FaultyLink link_;
  Controller controller_;
};

class DeadLinkTest : public LostAnswersTest {
 protected:
  DeadLinkTest() : LostAnswersTest({.loses = 1}) {}
};

TEST_F(DeadLinkTest, a_start_without_an_answer_is_sent_again_until_it_has_one) {
  const JobId id = submit(100);
  run_until(at_seconds(80));
  EXPECT_TRUE(job(id).starting);
  EXPECT_EQ(controller_.resent(), 1) << "after 30 s; then after 60 s more";
  link_.heal();
  run_until(at_seconds(91));
  EXPECT_TRUE(job(id).steady());
  run_until(at_seconds(300));
  EXPECT_EQ(sink_.states, std::vector{JobState::completed});
  EXPECT_EQ(controller_.refusals(), 0);
}

class LooksAloneTest : public LostAnswersTest {
 protected:
  LooksAloneTest() : LostAnswersTest({.loses = 1}, {Duration{0}, seconds(300), {}}) {}
};

TEST_F(LooksAloneTest, a_start_that_got_lost_is_sent_again_at_the_next_look) {
  const JobId id = submit(100);
  link_.heal();
  run_until(at_seconds(299));
  EXPECT_TRUE(job(id).starting);
  run_until(at_seconds(301));
  EXPECT_TRUE(job(id).steady());
  run_until(at_seconds(500));
  EXPECT_EQ(sink_.states, std::vector{JobState::completed});
}

TEST_F(LostAnswersTest, an_end_that_was_not_reported_is_found_at_the_next_look) {
  const JobId id = submit(100);
  run_until(at_seconds(1));
  link_.connect(nullptr);
  run_until(at_seconds(150));
  link_.connect(&controller_);
  EXPECT_EQ(job(id).state, JobState::running);
  run_until(at_seconds(301));
  EXPECT_EQ(sink_.states, std::vector{JobState::completed});
}

TEST_F(LostAnswersTest, an_answer_about_an_earlier_dispatch_is_refused) {
  const JobId id = submit(100, Restart::from_start);
  run_until(at_seconds(1));
  const std::uint32_t first = job(id).dispatch;
  ASSERT_TRUE(controller_.record(Finished{id, Outcome::node_failed, first})) << "lost with its node";
  EXPECT_EQ(job(id).state, JobState::waiting) << "and to be done again";
  ASSERT_TRUE(controller_.decide());
  EXPECT_EQ(job(id).state, JobState::running);
  EXPECT_NE(job(id).dispatch, first);
  EXPECT_FALSE(controller_.record(Finished{id, Outcome::node_failed, first}));
  EXPECT_FALSE(controller_.record(Requeued{id, seconds(10), first}));
  EXPECT_EQ(job(id).state, JobState::running);
}

TEST_F(LostAnswersTest, a_job_that_must_not_be_restarted_ends_with_its_node) {
  const JobId id = submit(100);
  run_until(at_seconds(1));
  ASSERT_TRUE(controller_.record(Finished{id, Outcome::node_failed, job(id).dispatch}));
  ASSERT_TRUE(controller_.decide());
  EXPECT_EQ(sink_.states, std::vector{JobState::node_failed});
}

TEST_F(LostAnswersTest, a_job_that_waits_for_a_start_waits_until_it_is_confirmed) {
  link_.connect(nullptr);
  const JobId first = submit(100);
  JobSpec spec;
  spec.number = 2;
  spec.limit = seconds(10);
  const JobTerms terms{spec.limit, 0, {}, kEpoch, {{first, Dependency::When::started}}};
  const auto second = controller_.submit(spec, terms, kNoBars);
  ASSERT_TRUE(second);
  ASSERT_TRUE(controller_.decide());
  EXPECT_EQ(job(*second).state, JobState::barred);
  ASSERT_TRUE(controller_.record(Launched{first, job(first).dispatch}));
  ASSERT_TRUE(controller_.decide());
  EXPECT_EQ(job(*second).state, JobState::waiting);
}

}  // namespace
}  // namespace rota::sim

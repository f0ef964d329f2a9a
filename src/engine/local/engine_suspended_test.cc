// A job that was suspended to give way, and what becomes of it while it stands: it is lost or ended, or goes on, and
// never runs twice.
#include <algorithm>
#include <csignal>

#include "engine/local/restart_test.h"
#include "process/clock.h"
#include "process/process_table.h"

namespace rota::local {

using process::boot_milliseconds;
using process::look_at;

namespace {

class LocalSuspendedTest : public LocalRestartTest {
 protected:
  enum class Lost : std::uint8_t { supervisor, first };
  // Without a service, and until its supervisor has gone.
  void loses_while_it_stands(Lost process) {
    desk_.launch(1, desk_.shell(kUntilGo));
    ASSERT_TRUE(desk_.wait_for_file("pid"));
    ASSERT_TRUE(desk_.suspend(1));
    const pid_t keeper = supervisor();
    desk_.close();
    ::kill(process == Lost::supervisor ? keeper : job_pid(), SIGKILL);
    ASSERT_TRUE(gone(keeper));
  }
  void a_while() {
    const std::int64_t until = boot_milliseconds() + 200;
    desk_.wait([&] { return boot_milliseconds() >= until; });
  }
};

TEST_F(LocalSuspendedTest, a_suspended_job_is_found_again_and_goes_on) {
  desk_.launch(1, desk_.shell(kUntilGo));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  Command leave = desk_.command(Command::Kind::preempt, 1);
  leave.how = Preemption::suspend;
  desk_.engine().dispatch(leave);
  ASSERT_TRUE(desk_.wait_for<Vacated>(1));
  desk_.close();
  const Observation seen = desk_.open().observe();
  ASSERT_EQ(seen.jobs.size(), 1U);
  EXPECT_FALSE(seen.jobs[0].runs);
  EXPECT_TRUE(std::holds_alternative<Vacated>(seen.jobs[0].end));
  EXPECT_EQ(seen.jobs[0].key, leave.key);
  go();
  desk_.engine().dispatch(desk_.command(Command::Kind::start, 1, 2));
  EXPECT_EQ(desk_.outcome(1, 2), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "end\n");
}

// So do its limit, and the run time of a job that never gave way.
TEST_F(LocalSuspendedTest, what_it_has_kept_counts_from_when_its_start_was_decided) {
  Command start = desk_.start(1, desk_.shell(kUntilGo));
  start.start = desk_.loop().now() - seconds(100);  // not carried out for so long
  desk_.engine().dispatch(start);
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  ASSERT_TRUE(desk_.suspend(1));
  const Duration kept = desk_.heard<Vacated>(1)->kept;
  EXPECT_GE(kept, seconds(100));
  a_while();
  desk_.engine().settled(JobId{1}, 1);
  Command turn = desk_.command(Command::Kind::start, 1, 2);
  turn.start = desk_.loop().now() - seconds(10);
  desk_.engine().dispatch(turn);
  ASSERT_TRUE(desk_.wait_for<Launched>(1, 2));
  Command leave = desk_.command(Command::Kind::preempt, 1, 2);
  leave.how = Preemption::suspend;
  desk_.engine().dispatch(leave);
  ASSERT_TRUE(desk_.wait_for<Vacated>(1, 2));
  const Duration lately = desk_.heard<Vacated>(1, 2)->kept;
  EXPECT_GE(lately, seconds(10)) << "of its latest turn";
  EXPECT_LT(lately, seconds(100));
}

TEST_F(LocalSuspendedTest, what_its_user_lets_go_on_runs_of_its_limit) {
  constexpr Duration kLimit = seconds(3);
  desk_.launch(1, desk_.shell("echo $$ > pid; while :; do :; done"));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  desk_.ends_in(1, kLimit);
  ASSERT_TRUE(desk_.suspend(1));
  const pid_t first = job_pid();
  EXPECT_TRUE(desk_.wait([&] {
    ::kill(first, SIGCONT);
    const auto process = look_at(first);
    return !process || process->zombie;
  }));
  EXPECT_EQ(desk_.heard<Finished>(1), nullptr);
  Command turn = desk_.command(Command::Kind::start, 1, 2);
  turn.expected_end = turn.limit_end = desk_.loop().now() + kLimit;
  desk_.engine().dispatch(turn);
  EXPECT_EQ(desk_.outcome(1, 2), Outcome::timed_out);
}

TEST_F(LocalSuspendedTest, a_suspended_job_whose_supervisor_is_killed_is_lost_when_its_turn_comes) {
  desk_.launch(1, desk_.shell("echo $$ >> pid; while [ ! -e go ]; do sleep 0.01; done; echo end >> out"));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  ASSERT_TRUE(desk_.suspend(1));
  const pid_t first = job_pid();
  ::kill(supervisor(), SIGKILL);
  ASSERT_TRUE(gone(first));
  ASSERT_TRUE(desk_.wait([&] { return !desk_.told_of(1).empty(); }));
  go();
  desk_.engine().settled(JobId{1}, 1);  // that it gave way
  desk_.engine().dispatch(desk_.command(Command::Kind::start, 1, 2));
  EXPECT_EQ(desk_.outcome(1, 2), Outcome::node_failed);
  desk_.engine().settled(JobId{1}, 2);
  EXPECT_EQ(desk_.file("out"), "") << "it ran twice";
  desk_.launch(1, desk_.shell("echo anew >> out"), 3);
  EXPECT_EQ(desk_.outcome(1, 3), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "anew\n");
}

TEST_F(LocalSuspendedTest, a_suspended_job_whose_turn_comes_while_it_is_buried_does_not_run_twice) {
  desk_.launch(1, desk_.shell("echo begun >> out; echo $$ > pid; sleep 1000"));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  ASSERT_TRUE(desk_.suspend(1));
  const pid_t keeper = supervisor();
  const pid_t spawner = desk_.engine().spawner();
  ::kill(spawner, SIGSTOP);
  ::kill(keeper, SIGKILL);
  ASSERT_TRUE(gone(keeper));
  a_while();
  desk_.engine().settled(JobId{1}, 1);
  desk_.engine().dispatch(desk_.command(Command::Kind::start, 1, 2));
  ::kill(spawner, SIGCONT);
  EXPECT_EQ(desk_.outcome(1, 2), Outcome::node_failed);
  EXPECT_EQ(desk_.file("out"), "begun\n");
}

TEST_F(LocalSuspendedTest, what_was_told_of_a_suspended_job_in_its_turn_is_not_told_again) {
  ASSERT_NO_FATAL_FAILURE(loses_while_it_stands(Lost::supervisor));
  desk_.open().dispatch(desk_.command(Command::Kind::start, 1, 2));
  ASSERT_EQ(desk_.outcome(1, 2), Outcome::node_failed);
  desk_.close();  // before it was told that this is settled
  desk_.open();
  go();
  desk_.launch(1, desk_.shell("echo anew >> out"), 3);
  EXPECT_EQ(desk_.outcome(1, 3), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "anew\n");
}

TEST_F(LocalSuspendedTest, a_suspended_job_is_lost_though_its_supervisor_was_killed_without_a_service) {
  ASSERT_NO_FATAL_FAILURE(loses_while_it_stands(Lost::supervisor));
  const Observation seen = desk_.open().observe();
  ASSERT_EQ(seen.jobs.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<Vacated>(seen.jobs[0].end));
  go();
  desk_.engine().dispatch(desk_.command(Command::Kind::start, 1, 2));
  EXPECT_EQ(desk_.outcome(1, 2), Outcome::node_failed);
  EXPECT_EQ(desk_.file("out"), "");
}

TEST_F(LocalSuspendedTest, a_job_that_ended_while_it_was_suspended_has_ended_so) {
  ASSERT_NO_FATAL_FAILURE(loses_while_it_stands(Lost::first));  // by its own user
  desk_.open().dispatch(desk_.command(Command::Kind::start, 1, 2));
  EXPECT_EQ(desk_.outcome(1, 2), Outcome::failed);
  EXPECT_EQ(desk_.file("out"), "");
}

}  // namespace
}  // namespace rota::local

// What comes between two steps that belong together, and must not be lost, begun twice or told otherwise than it was.
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "engine/local/restart_test.h"
#include "process/clock.h"
#include "process/descriptor.h"
#include "process/process_table.h"

namespace rota::local {

using process::boot_milliseconds;
using process::look_at;

namespace {

class LocalBadMomentsTest : public LocalRestartTest {
 protected:
  bool begins_limited(const RunRequest& run) {
    Command start = desk_.start(1, run);
    start.expected_end = start.limit_end = desk_.loop().now() + run.limit;
    desk_.engine().dispatch(start);
    return desk_.wait_for_file("pid");
  }
  void a_while(int ms) {
    const std::int64_t until = boot_milliseconds() + ms;
    desk_.wait([&] { return boot_milliseconds() >= until; });
  }
};

TEST_F(LocalBadMomentsTest, a_start_of_an_earlier_life_has_its_whole_limit_or_is_tried_again) {
  RunRequest run = desk_.shell("echo run >> out");
  run.limit = seconds(100);
  Command start = desk_.start(1, run);
  start.expected_end = start.limit_end = desk_.loop().now() + run.limit;
  start.start = desk_.loop().now();
  Command soon = desk_.start(2, run);
  soon.start = start.start + seconds(200);
  soon.expected_end = soon.limit_end = soon.start + run.limit;
  Command again = desk_.start(3, run);  // of whose work half is kept
  again.start = soon.start;
  again.expected_end = again.limit_end = again.start + run.limit / 2;
  desk_.close();
  desk_.takeover().decided_before = again.key;
  desk_.open();
  desk_.loop().jump(seconds(200));
  desk_.engine().dispatch(start);
  const auto* failed = desk_.wait_for<LaunchFailed>(1);
  ASSERT_NE(failed, nullptr);
  EXPECT_TRUE(failed->again);
  EXPECT_EQ(desk_.file("out"), "");
  desk_.engine().dispatch(soon);
  EXPECT_EQ(desk_.outcome(2), Outcome::completed);
  desk_.engine().dispatch(again);
  EXPECT_EQ(desk_.outcome(3), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "run\nrun\n");
}

TEST_F(LocalBadMomentsTest, a_job_that_had_ended_when_it_was_told_to_be_queued_again_has_ended) {
  desk_.launch(1, desk_.shell(kUntilGo));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  const pid_t keeper = supervisor();
  const pid_t first = job_pid();
  ::kill(keeper, SIGSTOP);
  go();
  ASSERT_TRUE(gone(first));
  desk_.kill(1, false);
  ::kill(keeper, SIGCONT);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
}

TEST_F(LocalBadMomentsTest, one_of_the_two_records_is_always_there) {
  desk_.launch(1, desk_.shell(kUntilGo));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  desk_.close();  // so that its own supervisor waits for no other order
  desk_.open();
  desk_.launch(2, desk_.shell("echo $PPID > spare"));
  ASSERT_EQ(desk_.outcome(2), Outcome::completed);
  const pid_t spare = std::stoi(desk_.file("spare"));
  ::kill(spare, SIGSTOP);
  Command move = desk_.command(Command::Kind::migrate, 1);
  move.kept = false;
  desk_.engine().dispatch(move);
  a_while(2000);
  const bool before = std::filesystem::exists(desk_.runs() / "1.1");
  const bool after = std::filesystem::exists(desk_.runs() / "1.1.1");
  EXPECT_TRUE(before || after);
  ::kill(spare, SIGCONT);
  desk_.close();
  const Observation seen = desk_.open().observe();
  EXPECT_NE(desk_.seen(seen, 1), nullptr) << "the job is lost";
  go();
}

TEST_F(LocalBadMomentsTest, a_move_that_the_next_life_of_the_service_finds_half_ordered_is_still_known) {
  desk_.launch(1, desk_.shell(kUntilGo));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  const pid_t spawner = desk_.engine().spawner();
  ::kill(spawner, SIGSTOP);
  Command move = desk_.command(Command::Kind::migrate, 1);
  move.kept = false;
  desk_.engine().dispatch(move);
  ASSERT_TRUE(gone(job_pid()));
  a_while(500);  // so that what follows from its end is sent
  desk_.close();
  ::kill(spawner, SIGCONT);
  EXPECT_NE(desk_.seen(desk_.open().observe(), 1), nullptr) << "the job is lost";
  go();
}

TEST_F(LocalBadMomentsTest, what_is_left_of_a_suspended_job_is_ended_before_its_turn_comes) {
  desk_.close();
  desk_.options().retry_wait = Duration{200};
  desk_.open();
  desk_.launch(1, desk_.shell(kUntilGo));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  ASSERT_TRUE(desk_.suspend(1));
  const pid_t keeper = supervisor();
  const pid_t job = job_pid();
  desk_.close();
  if (::ptrace(PTRACE_SEIZE, job, nullptr, PTRACE_O_TRACEEXIT) != 0) GTEST_SKIP() << "no process may be traced here";
  ::kill(keeper, SIGKILL);
  desk_.open();
  ::ptrace(PTRACE_CONT, job, nullptr, nullptr);
  EXPECT_TRUE(desk_.wait([&] { return desk_.told_of(1).find("when its turn comes") != std::string::npos; }));
  ::waitpid(job, nullptr, __WALL);
}

TEST_F(LocalBadMomentsTest, a_start_that_waits_for_a_leaving_job_has_its_whole_limit) {
  RunRequest slow = desk_.shell("trap '' TERM; echo up > up; while :; do sleep 0.1; done");
  slow.kill_wait = seconds(6);
  Command first = desk_.start(1, slow);
  first.where.shares = {{.node = NodeId{0}, .processors = 1}};
  desk_.engine().dispatch(first);
  ASSERT_TRUE(desk_.wait_for_file("up"));
  Command move = desk_.command(Command::Kind::migrate, 1);
  move.kept = false;
  desk_.engine().dispatch(move);
  Command second = desk_.start(2, desk_.shell("echo run >> out"));
  second.where.shares = {{.node = NodeId{0}, .processors = 1}};
  second.expected_end = second.limit_end = desk_.loop().now() + seconds(5);
  desk_.engine().dispatch(second);
  EXPECT_EQ(desk_.outcome(2), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "run\n");
}

TEST_F(LocalBadMomentsTest, a_job_that_was_suspended_has_the_rest_of_its_limit_however_long_the_service_was_away) {
  RunRequest run = desk_.shell(kUntilGo);
  run.limit = seconds(60);
  ASSERT_TRUE(begins_limited(run));
  ASSERT_TRUE(desk_.suspend(1));
  Command turn = desk_.command(Command::Kind::start, 1, 2);
  turn.start = desk_.loop().now();
  turn.expected_end = turn.limit_end = turn.start + run.limit;
  desk_.close();
  desk_.takeover().decided_before = turn.key;
  desk_.open();
  desk_.loop().jump(seconds(1000));
  desk_.engine().dispatch(turn);
  ASSERT_TRUE(desk_.wait_for<Launched>(1, 2));
  a_while(200);
  go();
  EXPECT_EQ(desk_.outcome(1, 2), Outcome::completed);
}

TEST_F(LocalBadMomentsTest, a_job_that_moves_has_its_limit_however_long_the_service_was_away) {
  RunRequest run = desk_.shell(kUntilGo);
  run.limit = seconds(60);
  ASSERT_TRUE(begins_limited(run));
  Command move = desk_.command(Command::Kind::migrate, 1);
  move.kept = false;
  move.start = desk_.loop().now();
  move.expected_end = move.limit_end = move.start + run.limit;
  desk_.engine().dispatch(move);
  desk_.close();
  desk_.takeover().decided_before = move.key;
  desk_.open();
  desk_.loop().jump(seconds(1000));
  desk_.engine().dispatch(move);
  a_while(200);
  go();
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
}

// The folder cannot be opened when the job is stopped, and the service starts anew before the supervisor looks again.
TEST_F(LocalBadMomentsTest, a_suspension_that_could_not_be_kept_is_told_once_it_is) {
  desk_.launch(1, desk_.shell(kUntilGo));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  const std::filesystem::path away = desk_.runs().string() + ".away";
  std::filesystem::rename(desk_.runs(), away);
  Command leave = desk_.command(Command::Kind::preempt, 1);
  leave.how = Preemption::suspend;
  desk_.engine().dispatch(leave);
  EXPECT_TRUE(desk_.wait([&] { return !look_at(job_pid()).value().runs; }));
  a_while(50);
  EXPECT_EQ(desk_.heard<Vacated>(1), nullptr);
  desk_.close();
  std::filesystem::rename(away, desk_.runs());
  const Observation observed = desk_.open().observe();
  const auto* seen = desk_.seen(observed, 1);
  ASSERT_NE(seen, nullptr);
  if (seen->runs) {
    EXPECT_LT(seen->key, leave.key) << "that is not carried out yet";
    desk_.engine().dispatch(leave);
    EXPECT_TRUE(desk_.wait_for<Vacated>(1));
  }
  go();
}

TEST_F(LocalBadMomentsTest, an_end_that_is_about_to_be_told_is_not_seen_before) {
  desk_.kill(1, false);  // which never began
  const Observation seen = desk_.engine().observe();
  ASSERT_EQ(seen.jobs.size(), 1U);
  EXPECT_TRUE(seen.jobs[0].runs && seen.jobs[0].held);
  ASSERT_TRUE(desk_.wait_for<Requeued>(1));
  EXPECT_FALSE(desk_.engine().observe().jobs[0].runs);
}

// As where the process table is full.
TEST_F(LocalBadMomentsTest, what_is_left_of_a_job_keeps_its_place_until_it_could_be_ended) {
  desk_.close();
  desk_.options().retry_wait = Duration{200};
  const std::filesystem::path program = desk_.work() + "/spawner";
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  std::filesystem::create_symlink(self, program);
  desk_.options().spawner = {program.string(), "supervise"};
  desk_.open();
  desk_.launch(1, desk_.shell(std::string("setsid sh -c 'echo $$ > left; exec sleep 1000' & ") + kUntilGo));
  ASSERT_TRUE(desk_.wait_for_file("pid") && desk_.wait_for_file("left"));
  const pid_t left = std::stoi(desk_.file("left"));
  const pid_t keeper = supervisor();
  std::filesystem::remove(program);
  ::kill(desk_.engine().spawner(), SIGKILL);
  ::kill(keeper, SIGKILL);
  a_while(1000);
  EXPECT_EQ(desk_.heard<Finished>(1), nullptr);
  EXPECT_FALSE(look_at(left).value().zombie);
  std::filesystem::create_symlink(self, program);
  EXPECT_EQ(desk_.outcome(1), Outcome::node_failed);
  EXPECT_TRUE(gone(left));
}

}  // namespace
}  // namespace rota::local

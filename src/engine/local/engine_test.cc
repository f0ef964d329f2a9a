#include "engine/local/engine.h"

#include <fmt/core.h>

#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>

#include "engine/local/desk_test.h"
#include "engine/local/processes.h"
#include "process/process_table.h"

namespace rota::local {

namespace {

class LocalEngineTest : public testing::Test {
 protected:
  LocalEngineTest() { desk_.open(); }
  Desk desk_;
};

TEST_F(LocalEngineTest, a_job_runs_and_ends) {
  desk_.launch(7, desk_.shell("echo done > out"));
  EXPECT_TRUE(desk_.wait_for<Launched>(7));
  EXPECT_EQ(desk_.outcome(7), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "done\n");
  EXPECT_EQ(desk_.all().size(), 2U);
}

TEST_F(LocalEngineTest, exit_codes_and_signals_are_failures) {
  desk_.launch(1, desk_.shell("exit 3"));
  desk_.launch(2, desk_.shell("kill -SEGV $$"));
  desk_.launch(3, desk_.shell("exit 0"));
  EXPECT_EQ(desk_.outcome(1), Outcome::failed);
  EXPECT_EQ(desk_.outcome(2), Outcome::failed);
  EXPECT_EQ(desk_.outcome(3), Outcome::completed);
  EXPECT_TRUE(WIFEXITED(desk_.heard<Finished>(1)->status) && WEXITSTATUS(desk_.heard<Finished>(1)->status) == 3);
  EXPECT_TRUE(WIFSIGNALED(desk_.heard<Finished>(2)->status) && WTERMSIG(desk_.heard<Finished>(2)->status) == SIGSEGV);
}

TEST_F(LocalEngineTest, a_job_that_ignores_sigterm_is_killed_at_its_limit) {
  RunRequest run = desk_.shell("trap 'echo term >> out' TERM; echo up > up; while :; do sleep 0.01; done");
  run.kill_wait = seconds(2);
  desk_.launch(1, run);
  ASSERT_TRUE(desk_.wait_for_file("up"));
  desk_.ends_in(1, Duration{100});
  EXPECT_EQ(desk_.outcome(1), Outcome::timed_out);
  EXPECT_EQ(desk_.file("out"), "term\n");
}

TEST_F(LocalEngineTest, a_warning_comes_before_the_limit) {
  RunRequest run = desk_.shell("trap 'echo warned > out; exit 0' USR1; echo up > up; while :; do sleep 0.01; done");
  run.warning_signal = SIGUSR1;
  run.warning_lead = seconds(3600);
  Command start = desk_.start(1, run);
  start.limit_end = desk_.loop().now() + seconds(100'000);
  desk_.engine().dispatch(start);
  ASSERT_TRUE(desk_.wait_for_file("up"));
  desk_.ends_in(1, seconds(3601));
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "warned\n");
}

TEST_F(LocalEngineTest, a_job_that_is_killed_for_good_is_cancelled_and_else_requeued) {
  for (const std::uint32_t job : {1U, 2U})
    desk_.launch(job, desk_.shell(fmt::format("echo $$ > pid{}; exec sleep 1000", job)));
  ASSERT_TRUE(desk_.wait_for_file("pid1") && desk_.wait_for_file("pid2"));
  desk_.kill(1, true);
  desk_.kill(2, false);
  EXPECT_EQ(desk_.outcome(1), Outcome::cancelled);
  const auto* requeued = desk_.wait_for<Requeued>(2);
  ASSERT_TRUE(requeued);
  EXPECT_EQ(requeued->limit, seconds(1234));
  EXPECT_NE(::kill(std::stoi(desk_.file("pid1")), 0), 0);
}

TEST_F(LocalEngineTest, nothing_of_a_job_is_left_once_it_has_ended) {
  desk_.launch(1, desk_.shell("(trap '' TERM HUP; setsid sh -c \"trap '' TERM; echo \\$\\$ > child; sleep 1000\" & ) ;"
                              "while [ ! -s child ]; do sleep 0.01; done"));
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_NE(::kill(std::stoi(desk_.file("child")), 0), 0);
}

TEST_F(LocalEngineTest, a_killed_job_takes_all_its_processes_along) {
  desk_.launch(
      1, desk_.shell("trap '' TERM; setsid sh -c \"trap '' TERM; echo \\$\\$ > child; sleep 1000\" & sleep 1000"));
  ASSERT_TRUE(desk_.wait_for_file("child"));
  desk_.kill(1, false);
  EXPECT_TRUE(desk_.wait_for<Requeued>(1));
  EXPECT_NE(::kill(std::stoi(desk_.file("child")), 0), 0);
}

TEST_F(LocalEngineTest, output_is_emptied_or_appended_to) {
  RunRequest run = desk_.shell("echo one; echo two >&2");
  run.output = "out";
  desk_.launch(1, run);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "one\ntwo\n");
  run.error = "err";
  desk_.launch(2, run);
  EXPECT_EQ(desk_.outcome(2), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "one\n");
  EXPECT_EQ(desk_.file("err"), "two\n");
  run.append = true;
  desk_.launch(3, run);
  EXPECT_EQ(desk_.outcome(3), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "one\none\n");
}

TEST_F(LocalEngineTest, a_job_gets_its_input_environment_and_umask) {
  std::ofstream(desk_.work() + "/in") << "from a file\n";
  RunRequest run = desk_.shell("cat; echo $COLOUR; pwd; umask; env | grep -c HOME");
  run.environment.emplace_back("COLOUR=a, b%20c\nd=");
  run.input = "in";
  run.output = "out";
  run.umask = 027;
  desk_.launch(1, run);
  EXPECT_EQ(desk_.outcome(1), Outcome::failed);  // grep found nothing: the service's environment is not the job's
  EXPECT_EQ(desk_.file("out"), fmt::format("from a file\na, b%20c d=\n{}\n0027\n0\n", desk_.work()));
  struct stat file{};
  ASSERT_EQ(::stat((desk_.work() + "/out").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0640U);
}

TEST_F(LocalEngineTest, a_script_is_executed_with_its_arguments) {
  RunRequest run = desk_.shell("");
  run.script = "#!/bin/sh\necho \"$1, $2\"\n";
  run.command = {"a b", "c"};
  run.output = "out";
  desk_.launch(1, run);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "a b, c\n");
}

TEST_F(LocalEngineTest, a_job_finds_its_nodes_in_a_file_that_goes_with_it) {
  RunRequest run = desk_.shell("cat $PBS_NODEFILE; stat -c %a $PBS_NODEFILE; echo $PBS_NODEFILE > where");
  run.environment.emplace_back("PBS_NODEFILE=/of/another/job");
  run.node_file = "n1\nn1\nn2\n";
  run.output = "out";
  desk_.launch(1, run);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed) << desk_.told_of(1);
  EXPECT_EQ(desk_.file("out"), "n1\nn1\nn2\n400\n");
  const std::string where = desk_.file("where");
  const std::filesystem::path file = where.substr(0, where.find('\n'));
  EXPECT_EQ(file.parent_path(), desk_.runs());
  desk_.engine().settled(JobId{1}, kAnyDispatch);
  EXPECT_TRUE(desk_.wait([&] { return !std::filesystem::exists(file); }));
}

TEST_F(LocalEngineTest, what_cannot_be_executed_is_told_with_a_sentence) {
  RunRequest nowhere = desk_.shell("true");
  nowhere.folder = "/nowhere/at/all";
  desk_.launch(1, nowhere);
  RunRequest nothing = desk_.shell("true");
  nothing.command = {"no-such-program"};
  desk_.launch(2, nothing);
  RunRequest folder = desk_.shell("true");
  folder.command = {"/"};
  desk_.launch(3, folder);
  RunRequest output = desk_.shell("true");
  output.output = "no/such/folder";
  desk_.launch(4, output);
  RunRequest input = desk_.shell("true");
  input.input = "none";
  desk_.launch(5, input);
  for (const std::uint32_t job : {1U, 2U, 3U, 4U, 5U}) {
    const auto* failed = desk_.wait_for<LaunchFailed>(job);
    ASSERT_TRUE(failed) << job;
    EXPECT_FALSE(failed->again) << desk_.told_of(job);
    EXPECT_FALSE(desk_.heard<Launched>(job));
  }
  EXPECT_EQ(desk_.told_of(1),
            "The job's working directory \"/nowhere/at/all\" cannot be entered: No such file or directory.");
  EXPECT_EQ(desk_.told_of(2),
            "The job cannot be executed, as \"no-such-program\" cannot be started: No such file or directory.");
}

class HastyLocalEngine : public testing::Test {
 protected:
  HastyLocalEngine() {
    desk_.options().launch_wait = seconds(2);
    desk_.open();
  }
  Desk desk_;
};

TEST_F(HastyLocalEngine, a_pipe_that_is_not_opened_at_its_other_end_fails_the_launch) {
  for (const char* name : {"/pipe", "/other"}) ASSERT_EQ(::mkfifo((desk_.work() + name).c_str(), 0666), 0);
  RunRequest output = desk_.shell("true");
  output.output = "pipe";
  desk_.launch(1, output);
  RunRequest input = desk_.shell("true");
  input.input = "other";
  desk_.launch(2, input);
  for (const std::uint32_t job : {1U, 2U}) {
    const auto* failed = desk_.wait_for<LaunchFailed>(job);
    ASSERT_TRUE(failed) << job;
    EXPECT_FALSE(failed->again) << desk_.told_of(job);
    EXPECT_FALSE(desk_.heard<Launched>(job));
  }
  EXPECT_EQ(
      desk_.told_of(1),
      "The job's output \"pipe\" cannot be opened: it is a pipe, and no process has opened its other end in time.");
  EXPECT_NE(desk_.told_of(2).find("input \"other\""), std::string::npos) << desk_.told_of(2);
}

TEST_F(LocalEngineTest, a_job_that_has_begun_takes_its_time) {
  desk_.launch(1, desk_.shell("until [ -e go ]; do sleep 0.01; done; echo over > out"));
  ASSERT_TRUE(desk_.wait_for<Launched>(1));
  desk_.loop().jump(desk_.options().launch_wait + seconds(1));
  desk_.engine().ring();
  std::ofstream(desk_.work() + "/go") << "go";
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "over\n");
}

TEST_F(LocalEngineTest, a_job_that_waits_for_its_output_can_be_queued_again) {
  ASSERT_EQ(::mkfifo((desk_.work() + "/pipe").c_str(), 0666), 0);
  RunRequest run = desk_.shell("true");
  run.output = "pipe";
  desk_.launch(1, run);
  desk_.kill(1, false);
  EXPECT_TRUE(desk_.wait_for<Requeued>(1));
}

TEST_F(LocalEngineTest, an_unknown_job_cannot_be_launched) {
  desk_.engine().dispatch(desk_.command(Command::Kind::start, 9));
  EXPECT_TRUE(desk_.wait_for<LaunchFailed>(9));
  EXPECT_EQ(desk_.told_of(9), "Nobody knows what this job is.");
}

TEST_F(LocalEngineTest, a_command_that_comes_again_is_answered_again_and_not_carried_out_again) {
  const Command start = desk_.start(1, desk_.shell("echo run >> out; while [ ! -e go ]; do sleep 0.01; done"));
  desk_.engine().dispatch(start);
  desk_.engine().dispatch(start);
  ASSERT_TRUE(desk_.wait_for<Launched>(1));
  desk_.engine().dispatch(start);
  EXPECT_TRUE(desk_.wait([&] { return desk_.all().size() == 2; }));
  std::ofstream(desk_.work() + "/go") << "go";
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  desk_.engine().dispatch(start);
  EXPECT_TRUE(desk_.wait([&] { return desk_.all().size() == 4; }));
  EXPECT_TRUE(std::holds_alternative<Finished>(desk_.all().back()));
  EXPECT_EQ(desk_.file("out"), "run\n");
}

TEST_F(LocalEngineTest, a_kill_that_comes_before_its_start_ends_the_dispatch) {
  const Command start = desk_.start(1, desk_.shell("echo run > out"));
  desk_.kill(1, false);
  EXPECT_TRUE(desk_.wait_for<Requeued>(1));
  desk_.engine().dispatch(start);
  desk_.launch(2, desk_.shell("true"));
  EXPECT_EQ(desk_.outcome(2), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "");
}

TEST_F(LocalEngineTest, commands_of_an_older_epoch_are_refused) {
  Command newer = desk_.start(1, desk_.shell("true"));
  newer.epoch = 5;
  desk_.engine().dispatch(newer);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  desk_.launch(2, desk_.shell("echo run > out"));
  Command last = desk_.start(3, desk_.shell("true"));
  last.epoch = 5;
  desk_.engine().dispatch(last);
  EXPECT_EQ(desk_.outcome(3), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "");
}

TEST_F(LocalEngineTest, a_new_dispatch_ends_what_still_runs_of_the_one_before) {
  desk_.launch(1, desk_.shell("echo $$ > pid; exec sleep 1000"));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  desk_.launch(1, desk_.shell("kill -0 $(cat pid) || echo alone > out"), 2);
  EXPECT_EQ(desk_.outcome(1, 2), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "alone\n");
}

TEST_F(LocalEngineTest, a_dispatch_that_waits_for_the_one_before_can_be_killed_before_it_begins) {
  desk_.launch(1, desk_.shell("echo $$ > pid; exec sleep 1000"));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  desk_.launch(1, desk_.shell("echo run > out"), 2);
  desk_.kill(1, false, 2);
  EXPECT_TRUE(desk_.wait_for<Requeued>(1, 2));
  EXPECT_EQ(desk_.file("out"), "");
}

TEST_F(LocalEngineTest, a_job_that_gives_way_by_stopping_is_vacated) {
  desk_.launch(1, desk_.shell("echo $$ > pid; exec sleep 1000"));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  Command leave = desk_.command(Command::Kind::preempt, 1);
  leave.how = Preemption::requeue;
  leave.kept = false;
  desk_.engine().dispatch(leave);
  const auto* vacated = desk_.wait_for<Vacated>(1);
  ASSERT_TRUE(vacated);
  EXPECT_EQ(vacated->kept, Duration{0});
  EXPECT_NE(::kill(std::stoi(desk_.file("pid")), 0), 0);
}

TEST_F(LocalEngineTest, a_job_that_dies_of_the_signal_for_its_checkpoint_has_written_none) {
  RunRequest run = desk_.shell("echo up > up; while :; do sleep 0.01; done");
  run.checkpoint_signal = SIGUSR1;
  desk_.launch(1, run);
  ASSERT_TRUE(desk_.wait_for_file("up"));
  Command leave = desk_.command(Command::Kind::preempt, 1);
  leave.how = Preemption::requeue;
  leave.kept = true;
  desk_.engine().dispatch(leave);
  const auto* vacated = desk_.wait_for<Vacated>(1);
  ASSERT_TRUE(vacated);
  EXPECT_EQ(vacated->kept, Duration{0});
}

TEST_F(LocalEngineTest, a_checkpoint_takes_no_longer_than_the_limit_of_its_job) {
  RunRequest run = desk_.shell("echo up > up; while :; do sleep 0.01; done");
  run.checkpoint = "exec sleep 100000";
  run.checkpoint_time = seconds(100000);
  desk_.launch(1, run);
  ASSERT_TRUE(desk_.wait_for_file("up"));
  desk_.ends_in(1, seconds(3));
  Command leave = desk_.command(Command::Kind::preempt, 1);
  leave.how = Preemption::requeue;
  leave.kept = true;
  desk_.engine().dispatch(leave);
  EXPECT_TRUE(desk_.wait([&] { return desk_.heard<Vacated>(1) || desk_.heard<Finished>(1); }));
}

TEST_F(LocalEngineTest, a_checkpoint_keeps_what_was_done_before_it_was_asked_for) {
  RunRequest run = desk_.shell("echo up > up; while :; do sleep 0.01; done");
  run.checkpoint = "echo began > began; sleep 1";
  const Instant before = desk_.loop().now();
  desk_.launch(1, run);
  ASSERT_TRUE(desk_.wait_for_file("up"));
  Command leave = desk_.command(Command::Kind::preempt, 1);
  leave.how = Preemption::requeue;
  leave.kept = true;
  desk_.engine().dispatch(leave);
  ASSERT_TRUE(desk_.wait_for_file("began"));
  const Duration most = desk_.loop().now() - before;
  const auto* vacated = desk_.wait_for<Vacated>(1);
  ASSERT_TRUE(vacated);
  EXPECT_LE(vacated->kept, most) << "what it did while its state was written may not be in that";
}

TEST_F(LocalEngineTest, a_job_that_is_ended_at_its_limit_is_not_given_another_turn) {
  RunRequest run = desk_.shell("trap 'echo term > out' TERM; echo up > up; until [ -e go ]; do sleep 0.01; done");
  run.kill_wait = seconds(1000);
  desk_.launch(1, run);
  ASSERT_TRUE(desk_.wait_for_file("up"));
  desk_.ends_in(1, Duration{100});
  ASSERT_TRUE(desk_.wait_for_file("out"));
  Command leave = desk_.command(Command::Kind::preempt, 1);
  leave.how = Preemption::requeue;
  leave.kept = false;
  desk_.engine().dispatch(leave);
  std::ofstream(desk_.work() + "/go") << "go";
  EXPECT_EQ(desk_.outcome(1), Outcome::timed_out);
}

TEST_F(LocalEngineTest, a_job_is_suspended_and_goes_on_as_its_next_dispatch) {
  desk_.launch(1,
               desk_.shell("i=0; while [ ! -e go ]; do i=$((i+1)); echo $i > count; sleep 0.01; done; echo end > out"));
  ASSERT_TRUE(desk_.wait([&] { return std::atoi(desk_.file("count").c_str()) >= 5; }));
  Command leave = desk_.command(Command::Kind::preempt, 1);
  leave.how = Preemption::suspend;
  desk_.engine().dispatch(leave);
  EXPECT_FALSE(desk_.engine().holds_stopped(JobId{1}));
  ASSERT_TRUE(desk_.wait_for<Vacated>(1));
  EXPECT_TRUE(desk_.engine().holds_stopped(JobId{1}));
  std::ofstream(desk_.work() + "/go") << "go";
  desk_.launch(2, desk_.shell("true"));
  EXPECT_EQ(desk_.outcome(2), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "");
  desk_.engine().dispatch(desk_.command(Command::Kind::start, 1, 2));
  EXPECT_TRUE(desk_.wait_for<Launched>(1, 2));
  EXPECT_FALSE(desk_.engine().holds_stopped(JobId{1}));
  EXPECT_EQ(desk_.outcome(1, 2), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "end\n");
  EXPECT_GE(desk_.use_of(1).in, desk_.heard<Vacated>(1)->kept) << "its processes ran before, too";
}

TEST_F(LocalEngineTest, a_suspended_job_that_leaves_for_good_is_ended) {
  desk_.launch(1, desk_.shell("echo $$ > pid; exec sleep 1000"));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  ASSERT_TRUE(desk_.suspend(1));
  const pid_t pid = std::stoi(desk_.file("pid"));
  desk_.engine().settled(JobId{1}, kAnyDispatch);
  EXPECT_TRUE(desk_.wait([&] { return ::kill(pid, 0) != 0; }));
  EXPECT_TRUE(desk_.wait([&] { return !std::filesystem::exists(desk_.runs() / "1.1"); }));
}

TEST_F(LocalEngineTest, what_outlives_the_expected_end_is_overdue) {
  Command start = desk_.start(1, desk_.shell("while [ ! -e go ]; do sleep 0.01; done"));
  start.expected_end = desk_.loop().now();
  desk_.engine().dispatch(start);
  EXPECT_TRUE(desk_.wait_for<Overdue>(1));
  Command expect = desk_.command(Command::Kind::expect, 1);
  expect.expected_end = desk_.loop().now() + Duration{1};
  desk_.engine().dispatch(expect);
  EXPECT_TRUE(desk_.wait([&] { return desk_.all().size() == 3; }));
  EXPECT_TRUE(std::holds_alternative<Overdue>(desk_.all().back()));
}

TEST_F(LocalEngineTest, a_settled_dispatch_leaves_nothing_on_disk) {
  desk_.launch(1, desk_.shell("true"));
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_TRUE(std::filesystem::exists(desk_.runs() / "1.1"));
  desk_.engine().settled(JobId{1}, 1);
  EXPECT_TRUE(desk_.wait([&] { return !std::filesystem::exists(desk_.runs() / "1.1"); }));
  EXPECT_TRUE(desk_.engine().observe().jobs.empty());
}

TEST_F(LocalEngineTest, two_hundred_jobs_at_once_run_once_each) {
  for (std::uint32_t job = 0; job < 200; ++job) {
    desk_.launch(job, desk_.shell(fmt::format("echo {} >> out{}", job, job)));
  }
  for (std::uint32_t job = 0; job < 200; ++job) {
    EXPECT_EQ(desk_.outcome(job), Outcome::completed);
    EXPECT_EQ(desk_.file("out" + std::to_string(job)), std::to_string(job) + "\n");
  }
}

TEST_F(LocalEngineTest, no_descriptor_leaks_into_a_job) {
  RunRequest run = desk_.shell("ls /proc/self/fd | tr '\\n' ' '");
  run.output = "out";
  desk_.launch(1, run);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "0 1 2 3 ");  // 3: of ls, which reads the folder
}

TEST_F(LocalEngineTest, no_signal_is_ignored_or_blocked_in_a_job) {
  RunRequest run = desk_.shell("");
  run.command = {"grep", "-Eh", "Sig(Blk|Ign)", "/proc/self/status"};
  run.output = "out";
  desk_.launch(1, run);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  std::istringstream out(desk_.file("out"));
  std::string name;
  std::uint64_t signals = UINT64_MAX;
  constexpr std::uint64_t kLibrarys = std::uint64_t{3} << 31U;  // which no program can set
  for (int line = 0; line < 2; ++line) {
    out >> name >> std::hex >> signals;
    EXPECT_EQ(signals & ~kLibrarys, 0U) << name;
  }
}

TEST_F(LocalEngineTest, a_job_runs_as_its_user) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes root to become another user";
  RunRequest run = desk_.shell("id -u; id -g; id -G; grep -E 'NoNewPrivs|CapEff|CapBnd' /proc/self/status | cut -f2");
  run.output = "out";
  run.uid = 12345;
  run.gid = 23456;
  desk_.launch(1, run);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed) << desk_.told_of(1);
  EXPECT_EQ(desk_.file("out"), "12345\n23456\n23456\n0000000000000000\n0000000000000000\n1\n");
  struct stat file{};
  ASSERT_EQ(::stat((desk_.work() + "/out").c_str(), &file), 0);
  EXPECT_EQ(file.st_uid, 12345U);
  run.script = "#!/bin/sh\nid -u\n";
  run.output = "out2";
  desk_.launch(2, run);
  EXPECT_EQ(desk_.outcome(2), Outcome::completed) << desk_.told_of(2);
  EXPECT_EQ(desk_.file("out2"), "12345\n");
}

TEST_F(LocalEngineTest, a_job_of_another_user_cannot_write_where_that_user_cannot) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes root to become another user";
  RunRequest run = desk_.shell("true");
  run.output = (desk_.runs() / "spawner.lock").string();
  run.uid = run.gid = 12345;
  desk_.launch(1, run);
  ASSERT_TRUE(desk_.wait_for<LaunchFailed>(1));
  EXPECT_NE(desk_.told_of(1).find("cannot be opened: Permission denied."), std::string::npos) << desk_.told_of(1);
}

}  // namespace
}  // namespace rota::local

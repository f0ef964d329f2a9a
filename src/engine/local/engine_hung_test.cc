// A supervisor hangs while its job should end: the job ends all the same, and so does all that is left of it.
#include <fmt/core.h>

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "engine/local/claim.h"
#include "engine/local/desk_test.h"
#include "engine/local/processes.h"
#include "engine/local/record_holder.h"
#include "engine/local/spare_supervisor.h"
#include "process/descriptor.h"
#include "process/process_table.h"

namespace rota::local {

using process::Descriptor;
using process::look_at;
using process::unguessable_name;

namespace {

constexpr const char* kForEver = "trap '' TERM; setsid sleep 1000 & echo $! > child; echo $$ > pid; wait";

class LocalHungTest : public testing::Test {
 protected:
  LocalHungTest() {
    desk_.options().hang_wait = seconds(1);
    desk_.open();
  }
  // Until its processes are there; gives its supervisor.
  pid_t start(std::uint32_t job, const Command& command) {
    desk_.engine().dispatch(command);
    EXPECT_TRUE(desk_.wait_for<Launched>(job) && desk_.wait_for_file("pid"));
    return look_at(number_in("pid")).value().parent;
  }
  pid_t start_that_hangs(std::uint32_t job) {
    const pid_t supervisor = start(job, desk_.start(job, desk_.shell(kForEver)));
    ::kill(supervisor, SIGSTOP);
    return supervisor;
  }
  // It waits for another order, and reads none.
  pid_t spare_that_hangs() {
    desk_.launch(1, desk_.shell("echo $PPID > spare"));
    EXPECT_EQ(desk_.outcome(1), Outcome::completed);
    ::kill(number_in("spare"), SIGSTOP);
    return number_in("spare");
  }
  pid_t number_in(const std::string& file) const { return std::stoi(desk_.file(file)); }
  bool gone(pid_t pid) {
    return desk_.wait([&] {
      const auto process = look_at(pid);
      return !process || process->zombie;
    });
  }
  bool nothing_runs() { return gone(number_in("pid")) && gone(number_in("child")); }
  // As long as it may take until a job that was ordered runs passes.
  void wait_for_its_run() {
    desk_.loop().jump(desk_.options().launch_wait + seconds(1));
    desk_.engine().ring();
  }
  bool cannot_be_launched(std::uint32_t job) {
    wait_for_its_run();
    const auto* failed = desk_.wait_for<LaunchFailed>(job);
    EXPECT_EQ(desk_.told_of(job), "Its start was given up: the process that was to start it did not answer.");
    return failed && failed->again;
  }
  bool says_that_it_hung(std::uint32_t job) {
    return desk_.told_of(job).starts_with("Its supervisor hung and was killed, ");
  }
  Desk desk_;
};

TEST_F(LocalHungTest, a_job_that_is_cancelled_is_ended_with_its_supervisor) {
  const pid_t supervisor = start_that_hangs(1);
  desk_.kill(1, true);
  EXPECT_EQ(desk_.outcome(1), Outcome::cancelled);
  EXPECT_TRUE(says_that_it_hung(1)) << desk_.told_of(1);
  EXPECT_TRUE(nothing_runs() && gone(supervisor));
}

TEST_F(LocalHungTest, a_job_that_is_to_be_queued_again_is_ended_and_begins_anew) {
  start_that_hangs(1);
  desk_.kill(1, false);
  ASSERT_TRUE(desk_.wait_for<Requeued>(1));
  EXPECT_TRUE(nothing_runs());
  desk_.launch(1, desk_.shell("true"), 2);
  EXPECT_EQ(desk_.outcome(1, 2), Outcome::completed);
}

TEST_F(LocalHungTest, a_job_that_is_to_be_suspended_is_lost_as_with_its_node) {
  start_that_hangs(1);
  Command leave = desk_.command(Command::Kind::preempt, 1);
  leave.how = Preemption::suspend;
  desk_.engine().dispatch(leave);
  EXPECT_EQ(desk_.outcome(1), Outcome::node_failed);  // its work was to be kept, so that it may not begin anew unasked
  EXPECT_TRUE(nothing_runs());
}

TEST_F(LocalHungTest, a_job_is_ended_at_its_limit) {
  Command limited = desk_.start(1, desk_.shell(kForEver));
  limited.expected_end = limited.limit_end = desk_.loop().now() + seconds(1000);
  const pid_t supervisor = start(1, limited);
  ::kill(supervisor, SIGSTOP);
  Command shorter = desk_.command(Command::Kind::adjust, 1);
  shorter.limit = Duration{1};
  shorter.expected_end = shorter.limit_end = desk_.loop().now();
  desk_.engine().dispatch(shorter);
  EXPECT_EQ(desk_.outcome(1), Outcome::timed_out);
  EXPECT_TRUE(says_that_it_hung(1)) << desk_.told_of(1);
  EXPECT_TRUE(nothing_runs() && gone(supervisor));
}

TEST_F(LocalHungTest, the_next_life_of_the_service_ends_a_job_that_the_one_before_told_to_end) {
  RunRequest slow = desk_.shell(kForEver);
  slow.kill_wait = seconds(1000);
  const pid_t supervisor = start(1, desk_.start(1, slow));
  desk_.kill(1, false);
  desk_.close();
  desk_.open();
  ::kill(supervisor, SIGSTOP);
  desk_.loop().jump(seconds(1000));
  desk_.engine().ring();
  EXPECT_TRUE(desk_.wait_for<Requeued>(1));
  EXPECT_TRUE(nothing_runs());
}

TEST_F(LocalHungTest, a_job_of_a_supervisor_that_answers_may_take_its_time) {
  desk_.close();
  desk_.options().hang_wait = seconds(60);
  desk_.open();
  Command limited = desk_.start(1, desk_.shell(kForEver));
  limited.expected_end = limited.limit_end = desk_.loop().now() + seconds(100'000);
  start(1, limited);
  desk_.loop().jump(seconds(100'000));  // the clock of its supervisor stays, so it goes on
  desk_.engine().ring();
  ASSERT_TRUE(desk_.wait_for<Overdue>(1));
  desk_.ends_in(1, Duration{200});
  EXPECT_EQ(desk_.outcome(1), Outcome::timed_out);
  EXPECT_EQ(desk_.told_of(1), "");
}

TEST_F(LocalHungTest, an_order_that_a_waiting_supervisor_has_not_read_is_void_once_the_job_has_ended) {
  const pid_t spare = spare_that_hangs();
  desk_.launch(2, desk_.shell("echo run >> out"));
  desk_.kill(2, true);
  EXPECT_EQ(desk_.outcome(2), Outcome::cancelled);
  desk_.engine().settled(JobId{2}, 1);
  ::kill(spare, SIGCONT);
  EXPECT_TRUE(gone(spare));
  EXPECT_EQ(desk_.file("out"), "");
}

TEST_F(LocalHungTest, an_order_that_the_spawner_has_not_read_is_void_once_the_job_has_ended) {
  const pid_t spawner = desk_.engine().spawner();  // later it may be none, and 0 would be all of this group
  ::kill(spawner, SIGSTOP);
  desk_.launch(1, desk_.shell("echo run >> out"));
  desk_.kill(1, true);
  EXPECT_EQ(desk_.outcome(1), Outcome::cancelled);
  ::kill(spawner, SIGCONT);
  desk_.launch(2, desk_.shell("true"));
  EXPECT_EQ(desk_.outcome(2), Outcome::completed);
  EXPECT_FALSE(std::filesystem::exists(desk_.runs() / "1.1")) << "it was begun";
}

TEST_F(LocalHungTest, a_job_that_a_waiting_supervisor_does_not_begin_can_be_started_again) {
  const pid_t spare = spare_that_hangs();
  desk_.launch(2, desk_.shell("echo run >> out"));
  EXPECT_TRUE(cannot_be_launched(2));
  ::kill(spare, SIGCONT);
  EXPECT_TRUE(gone(spare));
  EXPECT_EQ(desk_.file("out"), "");
  desk_.launch(2, desk_.shell("echo again >> out"), 2);
  EXPECT_EQ(desk_.outcome(2, 2), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "again\n");
}

TEST_F(LocalHungTest, a_job_that_the_spawner_does_not_begin_can_be_started_again) {
  const pid_t spawner = desk_.engine().spawner();
  ::kill(spawner, SIGSTOP);
  desk_.launch(1, desk_.shell("echo run >> out"));
  EXPECT_TRUE(cannot_be_launched(1));
  ::kill(spawner, SIGCONT);
  desk_.launch(1, desk_.shell("echo again >> out"), 2);
  EXPECT_EQ(desk_.outcome(1, 2), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "again\n");
}

TEST_F(LocalHungTest, a_spawner_that_does_not_begin_a_job_is_replaced) {
  const pid_t spawner = desk_.engine().spawner();
  ::kill(spawner, SIGSTOP);
  desk_.launch(1, desk_.shell("true"));
  EXPECT_TRUE(cannot_be_launched(1));
  EXPECT_TRUE(gone(spawner));
  desk_.launch(1, desk_.shell("true"), 2);
  EXPECT_EQ(desk_.outcome(1, 2), Outcome::completed);
}

TEST_F(LocalHungTest, a_spawner_that_does_not_bury_a_job_is_replaced) {
  const pid_t supervisor = start(1, desk_.start(1, desk_.shell(kForEver)));
  const pid_t spawner = desk_.engine().spawner();
  ::kill(spawner, SIGSTOP);
  ::kill(supervisor, SIGKILL);
  EXPECT_EQ(desk_.outcome(1, 1), Outcome::node_failed);
  EXPECT_TRUE(gone(spawner));
}

TEST_F(LocalHungTest, a_job_whose_start_is_not_carried_out_is_not_waited_for_beyond_its_limit) {
  const pid_t spawner = desk_.engine().spawner();
  ::kill(spawner, SIGSTOP);
  Command limited = desk_.start(1, desk_.shell("echo run >> out"));
  limited.limit_end = desk_.loop().now();
  desk_.engine().dispatch(limited);
  EXPECT_TRUE(desk_.wait_for<LaunchFailed>(1));
  ::kill(spawner, SIGCONT);
}

TEST_F(LocalHungTest, a_job_that_does_not_go_on_after_it_was_suspended_is_ended) {
  const pid_t supervisor = start(1, desk_.start(1, desk_.shell(kForEver)));
  ASSERT_TRUE(desk_.suspend(1));
  ::kill(supervisor, SIGSTOP);
  desk_.engine().dispatch(desk_.command(Command::Kind::start, 1, 2));
  wait_for_its_run();
  EXPECT_EQ(desk_.outcome(1, 2), Outcome::node_failed);
  EXPECT_TRUE(says_that_it_hung(1)) << desk_.told_of(1);
  EXPECT_TRUE(nothing_runs() && gone(supervisor));
}

TEST_F(LocalHungTest, a_job_that_begins_or_goes_on_is_left_alone) {
  start(1, desk_.start(1, desk_.shell(kForEver)));
  wait_for_its_run();
  ASSERT_TRUE(desk_.suspend(1));
  desk_.engine().dispatch(desk_.command(Command::Kind::start, 1, 2));
  ASSERT_TRUE(desk_.wait_for<Launched>(1, 2));
  wait_for_its_run();
  desk_.launch(2, desk_.shell("true"));
  EXPECT_EQ(desk_.outcome(2), Outcome::completed);
  EXPECT_TRUE(desk_.seen(desk_.engine().observe(), 1)->runs);
  EXPECT_EQ(desk_.told_of(1), "");
}

TEST_F(LocalHungTest, a_limit_that_was_changed_counts_for_a_job_that_hangs_in_the_next_life_of_the_service) {
  const pid_t supervisor = start(1, desk_.start(1, desk_.shell(kForEver)));
  Command longer = desk_.command(Command::Kind::adjust, 1);
  longer.limit = seconds(4321);
  longer.expected_end = longer.limit_end = desk_.loop().now() + seconds(4321);
  desk_.engine().dispatch(longer);
  desk_.close();
  desk_.open();
  ::kill(supervisor, SIGSTOP);
  desk_.kill(1, false);
  const auto* requeued = desk_.wait_for<Requeued>(1);
  ASSERT_TRUE(requeued);
  EXPECT_EQ(requeued->limit, seconds(4321));
}

// The first one holds the record of an order, and the service goes away, or gives it up, before it begins.
TEST_F(LocalHungTest, what_was_given_up_between_its_claim_and_its_begin_never_begins) {
  const Descriptor folder(::open(desk_.runs().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ConnectionEnds ends = connection_ends();
  Order order;
  order.name = "7.1";
  order.engine_folder = desk_.runs().string();
  order.claim.socket = unguessable_name();
  order.run = desk_.shell("echo run >> out");
  std::optional<Claim> claim = claim_run(folder.get(), order, ends.theirs);
  ASSERT_TRUE(claim);
  ends.ours.reset();
  EXPECT_FALSE(kill_holder(folder.get(), order.name)) << "nobody holds it yet";
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    ::fchdir(folder.get());
    look_after(folder.get(), std::move(order), *std::move(claim), std::move(ends.theirs));
  }
  ::waitpid(supervisor, nullptr, 0);
  EXPECT_EQ(desk_.file("out"), "");
  EXPECT_FALSE(std::filesystem::exists(desk_.runs() / "7.1"));
}

TEST_F(LocalHungTest, a_supervisor_that_cannot_die_is_named_and_keeps_what_it_has) {
  const pid_t supervisor = start(1, desk_.start(1, desk_.shell(kForEver)));
  if (::ptrace(PTRACE_SEIZE, supervisor, nullptr, PTRACE_O_TRACEEXIT) != 0)
    GTEST_SKIP() << "no process may be traced here";
  ::kill(supervisor, SIGSTOP);
  desk_.kill(1, true);
  EXPECT_TRUE(desk_.wait([&] { return !desk_.warned_of(1).empty(); }));
  EXPECT_TRUE(desk_.warned_of(1).starts_with(fmt::format("Its supervisor, process {}, hangs ", supervisor)))
      << desk_.warned_of(1);
  EXPECT_EQ(desk_.told_of(1), desk_.warned_of(1));
  EXPECT_TRUE(nothing_runs());
  EXPECT_EQ(desk_.heard<Finished>(1), nullptr);
  EXPECT_TRUE(desk_.seen(desk_.engine().observe(), 1)->runs);
  ::ptrace(PTRACE_CONT, supervisor, nullptr, nullptr);
  EXPECT_EQ(desk_.outcome(1), Outcome::cancelled);
  ::waitpid(supervisor, nullptr, __WALL);
}

}  // namespace
}  // namespace rota::local

// A supervisor looks after one job after the other, and nothing gets lost or doubled on the way.
#include <csignal>
#include <fstream>
#include <string>

#include "engine/local/desk_test.h"
#include "engine/local/processes.h"
#include "process/process_table.h"

namespace rota::local {

using process::look_at;

namespace {

class LocalSparesTest : public testing::Test {
 protected:
  LocalSparesTest() { desk_.open(); }
  // The supervisor of a job that is over.
  pid_t supervisor_of(std::uint32_t job) {
    const std::string name = "parent" + std::to_string(job);
    desk_.launch(job, desk_.shell("echo $PPID > " + name));
    EXPECT_EQ(desk_.outcome(job), Outcome::completed);
    return std::stoi(desk_.file(name));
  }
  bool gone(pid_t pid) {
    return desk_.wait([&] {
      const auto process = look_at(pid);
      return !process || process->zombie;
    });
  }
  Desk desk_;
};

TEST_F(LocalSparesTest, one_supervisor_looks_after_one_job_after_the_other) {
  const pid_t first = supervisor_of(1);
  EXPECT_EQ(supervisor_of(2), first);
  EXPECT_EQ(supervisor_of(3), first);
}

TEST_F(LocalSparesTest, an_order_that_makes_a_supervisor_large_is_its_last) {
  RunRequest large = desk_.shell("echo $PPID > large");
  large.environment.push_back("LARGE=" + std::string(100'000, 'x'));
  desk_.launch(1, large);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_NE(supervisor_of(2), std::stoi(desk_.file("large")));
}

TEST_F(LocalSparesTest, what_is_told_right_behind_an_order_is_heard) {
  supervisor_of(1);
  desk_.launch(2, desk_.shell("exec sleep 1000"));
  desk_.kill(2, true);
  EXPECT_EQ(desk_.outcome(2), Outcome::cancelled);
}

TEST_F(LocalSparesTest, a_supervisor_that_waits_ends_with_the_service) {
  const pid_t spare = supervisor_of(1);
  desk_.close();
  EXPECT_TRUE(gone(spare));
  desk_.open();
}

TEST_F(LocalSparesTest, a_supervisor_of_an_earlier_service_gets_no_job_of_this_one) {
  desk_.launch(1, desk_.shell("echo $PPID > found; while [ ! -e go ]; do sleep 0.01; done"));
  ASSERT_TRUE(desk_.wait_for_file("found"));
  const pid_t found = std::stoi(desk_.file("found"));
  desk_.close();
  desk_.open();
  std::ofstream(desk_.work() + "/go") << "go";
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_NE(supervisor_of(2), found);
  EXPECT_TRUE(gone(found));
}

TEST_F(LocalSparesTest, another_spawner_of_the_same_service_leaves_waiting_supervisors_alone) {
  const pid_t spare = supervisor_of(1);
  const pid_t spawner = desk_.engine().spawner();
  ::kill(spawner, SIGKILL);
  ASSERT_TRUE(desk_.wait([&] { return desk_.engine().spawner() == 0; }));
  RunRequest large = desk_.shell("echo $PPID > large");  // no order for a supervisor that waits
  large.environment.push_back("LARGE=" + std::string(100'000, 'x'));
  desk_.launch(2, large);
  EXPECT_EQ(desk_.outcome(2), Outcome::completed);
  EXPECT_NE(std::stoi(desk_.file("large")), spare);
  EXPECT_EQ(supervisor_of(3), spare);
}

TEST_F(LocalSparesTest, an_order_that_was_sent_just_before_the_service_died_is_carried_out_once) {
  supervisor_of(1);
  const Command start = desk_.start(2, desk_.shell("echo run >> out"));
  desk_.engine().dispatch(start);
  desk_.close();
  desk_.open().dispatch(start);
  EXPECT_EQ(desk_.outcome(2), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "run\n");
}

TEST_F(LocalSparesTest, an_order_that_a_hung_supervisor_has_not_read_never_begins_behind_the_next_service) {
  const pid_t spare = supervisor_of(1);
  ::kill(spare, SIGSTOP);
  desk_.launch(2, desk_.shell("echo run >> out"));
  desk_.close();
  const Observation seen = desk_.open().observe();
  EXPECT_EQ(desk_.seen(seen, 2), nullptr);
  EXPECT_TRUE(gone(spare)) << "else it would begin it once it goes on";
  EXPECT_EQ(desk_.file("out"), "");
}

TEST_F(LocalSparesTest, the_death_of_a_waiting_supervisor_costs_no_job_more_than_a_start) {
  ::kill(supervisor_of(1), SIGKILL);
  desk_.launch(2, desk_.shell("echo run >> out"));
  ASSERT_TRUE(desk_.wait([&] { return desk_.heard<Finished>(2) || desk_.heard<LaunchFailed>(2); }));
  if (const auto* failed = desk_.heard<LaunchFailed>(2)) {
    EXPECT_TRUE(failed->again);
    desk_.engine().settled(JobId{2}, 1);
    desk_.launch(2, desk_.shell("echo run >> out"), 2);
    EXPECT_EQ(desk_.outcome(2, 2), Outcome::completed);
  }
  EXPECT_EQ(desk_.file("out"), "run\n");
}

}  // namespace
}  // namespace rota::local

// The service, its spawner, supervisors or the whole machine go away at bad moments: no job is lost, and none runs
// twice.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "base/words.h"
#include "engine/local/claim.h"
#include "engine/local/desk_test.h"
#include "engine/local/record_holder.h"
#include "engine/local/restart_test.h"
#include "engine/local/spare_supervisor.h"
#include "process/clock.h"
#include "process/descriptor.h"

namespace rota::local {

using process::boot_id;
using process::Descriptor;
using process::listen_at;
using process::unguessable_name;

namespace {

TEST_F(LocalRestartTest, a_job_goes_on_without_the_service_and_is_found_again) {
  const Command start = desk_.start(1, desk_.shell(kUntilGo));
  desk_.engine().dispatch(start);
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  desk_.close();
  const Observation seen = desk_.open().observe();
  ASSERT_EQ(seen.jobs.size(), 1U);
  EXPECT_TRUE(seen.jobs[0].runs);
  EXPECT_FALSE(seen.jobs[0].held);
  EXPECT_EQ(seen.jobs[0].key, start.key);
  EXPECT_EQ(seen.jobs[0].dispatch, 1U);
  go();
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "end\n");
}

TEST_F(LocalRestartTest, jobs_for_which_too_few_files_may_be_open_are_left_alone) {
  constexpr std::uint32_t kJobs = 16;
  constexpr rlim_t kSpare = 10;
  for (std::uint32_t job = 1; job <= kJobs; ++job) desk_.launch(job, desk_.shell(kUntilGo));
  const auto lines = [&](const char* file) { return std::ranges::count(desk_.file(file), '\n'); };
  ASSERT_TRUE(desk_.wait([&] { return lines("pid") == kJobs; }));
  desk_.close();
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const Descriptor next(::dup(STDIN_FILENO));
  const rlimit few{static_cast<rlim_t>(next.get()) + kSpare, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  const std::string why = desk_.refusal();
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(why.starts_with("Not all jobs that run can be heard of: ")) << why;
  const Observation seen = desk_.open().observe();
  ASSERT_EQ(seen.jobs.size(), kJobs);
  EXPECT_TRUE(std::ranges::all_of(seen.jobs, &Observation::JobSeen::runs));
  go();
  for (std::uint32_t job = 1; job <= kJobs; ++job) EXPECT_EQ(desk_.outcome(job), Outcome::completed);
  EXPECT_EQ(lines("pid"), kJobs) << "none has begun again";
  EXPECT_EQ(lines("out"), kJobs);
}

TEST_F(LocalRestartTest, how_a_job_ended_meanwhile_is_known) {
  desk_.launch(1, desk_.shell(std::string(kUntilGo) + "; exit 3"));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  const pid_t keeper = supervisor();
  desk_.close();
  go();
  ASSERT_TRUE(gone(keeper));
  const Observation seen = desk_.open().observe();
  ASSERT_EQ(seen.jobs.size(), 1U);
  EXPECT_FALSE(seen.jobs[0].runs);
  EXPECT_EQ(std::get<Finished>(seen.jobs[0].end).outcome, Outcome::failed);
}

TEST_F(LocalRestartTest, a_start_that_comes_again_after_a_restart_is_not_carried_out_again) {
  const Command start = desk_.start(1, desk_.shell("echo run >> out"));
  desk_.engine().dispatch(start);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  desk_.close();
  desk_.open().dispatch(start);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "run\n");
}

TEST_F(LocalRestartTest, a_start_that_was_sent_just_before_the_service_died_is_carried_out_once) {
  const Command start = desk_.start(1, desk_.shell("echo run >> out"));
  desk_.engine().dispatch(start);
  desk_.close();
  desk_.open().dispatch(start);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "run\n");
}

TEST_F(LocalRestartTest, what_a_state_that_was_put_back_knows_nothing_of_is_ended) {
  const Command start = desk_.start(1, desk_.shell(kUntilGo));
  desk_.engine().dispatch(start);
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  const pid_t pid = job_pid();
  desk_.close();
  desk_.takeover().latest_key = start.key - 1;
  EXPECT_TRUE(desk_.open().observe().jobs.empty());
  EXPECT_TRUE(gone(pid));
  ASSERT_FALSE(desk_.engine().warnings().empty());
  EXPECT_NE(desk_.engine().warnings().back().find("later state"), std::string::npos);
}

TEST_F(LocalRestartTest, what_was_told_of_a_running_job_is_told_again) {
  desk_.launch(1, desk_.shell(kUntilGo));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  desk_.close();
  std::ofstream(desk_.runs() / "1.1", std::ios::app) << "sentence=it%20runs%20without\n";
  desk_.open();
  EXPECT_EQ(desk_.told_of(1), "it runs without");
  go();
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
}

TEST_F(LocalRestartTest, what_a_job_used_that_ended_while_no_service_ran_can_be_seen) {
  desk_.launch(1, desk_.shell(std::string("sleep 0.2; ") + kUntilGo));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  const pid_t keeper = supervisor();
  desk_.close();
  go();
  ASSERT_TRUE(gone(keeper));
  const Observation all = desk_.open().observe();
  ASSERT_NE(desk_.seen(all, 1), nullptr);
  const auto* end = std::get_if<Finished>(&desk_.seen(all, 1)->end);
  ASSERT_NE(end, nullptr);
  EXPECT_GE(end->use.in, Duration{200});
}

TEST_F(LocalRestartTest, a_mark_of_the_systems_start_that_was_cut_off_is_no_other_start) {
  desk_.launch(1, desk_.shell(kUntilGo));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  desk_.close();
  std::ofstream(desk_.runs() / "boot", std::ios::trunc).close();
  desk_.open();
  go();
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
}

TEST_F(LocalRestartTest, a_job_can_be_stopped_after_a_restart) {
  desk_.launch(1, desk_.shell(kUntilGo));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  desk_.close();
  desk_.open();
  desk_.kill(1, false);
  const auto* requeued = desk_.wait_for<Requeued>(1);
  ASSERT_TRUE(requeued);
  EXPECT_EQ(requeued->limit, seconds(1234));
}

TEST_F(LocalRestartTest, the_limit_holds_without_a_service) {
  desk_.launch(1, desk_.shell("trap '' TERM; echo $$ > pid; while :; do sleep 0.01; done"));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  const pid_t keeper = supervisor();
  const std::uint64_t order = desk_.ends_in(1, seconds(1));
  ASSERT_TRUE(desk_.wait([&] { return desk_.seen(desk_.engine().observe(), 1)->key >= order; }));
  desk_.close();
  ASSERT_TRUE(gone(keeper));
  const Observation seen = desk_.open().observe();
  ASSERT_EQ(seen.jobs.size(), 1U);
  EXPECT_EQ(std::get<Finished>(seen.jobs[0].end).outcome, Outcome::timed_out);
}

TEST_F(LocalRestartTest, a_job_whose_supervisor_is_killed_is_lost_and_ended) {
  desk_.launch(
      1, desk_.shell("setsid sh -c \"trap '' TERM; echo \\$\\$ > child; sleep 1000\" & " + std::string(kUntilGo)));
  ASSERT_TRUE(desk_.wait_for_file("pid") && desk_.wait_for_file("child"));
  ::kill(supervisor(), SIGKILL);
  EXPECT_EQ(desk_.outcome(1), Outcome::node_failed);
  EXPECT_TRUE(gone(job_pid()));
  EXPECT_TRUE(gone(std::stoi(desk_.file("child"))));
}

TEST_F(LocalRestartTest, a_job_whose_supervisor_was_killed_without_a_service_is_lost_and_ended) {
  desk_.launch(
      1, desk_.shell("setsid sh -c \"trap '' TERM; echo \\$\\$ > child; sleep 1000\" & " + std::string(kUntilGo)));
  ASSERT_TRUE(desk_.wait_for_file("pid") && desk_.wait_for_file("child"));
  const pid_t keeper = supervisor();
  desk_.close();
  ::kill(keeper, SIGKILL);
  ASSERT_TRUE(gone(keeper));
  const Observation seen = desk_.open().observe();
  ASSERT_EQ(seen.jobs.size(), 1U);
  EXPECT_FALSE(seen.jobs[0].runs);
  EXPECT_EQ(std::get<Finished>(seen.jobs[0].end).outcome, Outcome::node_failed);
  EXPECT_TRUE(gone(std::stoi(desk_.file("child"))));
}

TEST_F(LocalRestartTest, jobs_and_starts_survive_the_death_of_the_spawner) {
  desk_.launch(1, desk_.shell(kUntilGo));
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  const pid_t before = desk_.engine().spawner();
  ::kill(before, SIGKILL);
  ASSERT_TRUE(gone(before));
  ASSERT_TRUE(desk_.wait([&] { return desk_.engine().spawner() != before; }));
  desk_.launch(2, desk_.shell("echo second > second"));
  EXPECT_EQ(desk_.outcome(2), Outcome::completed);
  EXPECT_EQ(desk_.file("second"), "second\n");
  go();
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
}

TEST_F(LocalRestartTest, what_the_spawner_took_along_can_be_tried_again_and_ran_once_at_most) {
  constexpr std::uint32_t kJobs = 50;
  for (std::uint32_t job = 0; job < kJobs; ++job) {
    desk_.launch(job, desk_.shell("echo run >> out" + std::to_string(job)));
  }
  ::kill(desk_.engine().spawner(), SIGKILL);
  for (std::uint32_t job = 0; job < kJobs; ++job) {
    ASSERT_TRUE(desk_.wait([&] { return desk_.heard<Finished>(job) || desk_.heard<LaunchFailed>(job); })) << job;
    const auto* failed = desk_.heard<LaunchFailed>(job);
    EXPECT_EQ(desk_.file("out" + std::to_string(job)), failed ? "" : "run\n");
    EXPECT_TRUE(!failed || failed->again);
  }
}

TEST_F(LocalRestartTest, a_spawner_that_hangs_is_replaced) {
  const pid_t before = desk_.engine().spawner();
  ::kill(before, SIGSTOP);
  desk_.close();
  desk_.open();
  EXPECT_TRUE(gone(before));
  desk_.launch(1, desk_.shell("echo run > out"));
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
}

TEST_F(LocalRestartTest, after_the_machine_has_restarted_what_ran_is_lost) {
  const Command start = desk_.start(1, desk_.shell("echo run >> out; echo $$ > pid; exec sleep 1000"));
  desk_.engine().dispatch(start);
  ASSERT_TRUE(desk_.wait_for_file("pid"));
  const pid_t keeper = supervisor();
  desk_.close();
  ::kill(keeper, SIGKILL);
  ASSERT_TRUE(gone(job_pid()));
  desk_.options().boot = "another one";
  const Observation seen = desk_.open().observe();
  ASSERT_EQ(seen.jobs.size(), 1U);
  EXPECT_FALSE(seen.jobs[0].runs);
  EXPECT_EQ(std::get<Finished>(seen.jobs[0].end).outcome, Outcome::node_failed);
  desk_.engine().dispatch(start);
  EXPECT_EQ(desk_.outcome(1), Outcome::node_failed);
  EXPECT_EQ(desk_.file("out"), "run\n");
}

TEST_F(LocalRestartTest, a_start_from_before_the_machine_restarted_is_lost_even_if_nothing_is_known_of_it) {
  const Command start = desk_.start(1, desk_.shell("echo run >> out"));
  desk_.close();
  desk_.options().boot = "another one";
  desk_.takeover().decided_before = start.key;
  for (int life = 0; life < 2; ++life) {  // also when the first one died before that was durable
    desk_.open().dispatch(start);
    EXPECT_EQ(desk_.outcome(1), Outcome::node_failed);
    if (life == 0) desk_.close();
  }
  desk_.launch(1, desk_.shell("echo anew >> out"), 2);
  EXPECT_EQ(desk_.outcome(1, 2), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "anew\n");
}

TEST_F(LocalRestartTest, a_claim_without_a_process_never_began) {
  std::ofstream(desk_.runs() / "5.1").flush();
  desk_.close();
  const Observation seen = desk_.open().observe();
  ASSERT_EQ(seen.jobs.size(), 1U);
  EXPECT_TRUE(std::get<LaunchFailed>(seen.jobs[0].end).again);
}

TEST_F(LocalRestartTest, a_start_whose_claim_is_taken_back_while_the_next_service_comes_is_carried_out_once) {
  const Command start = desk_.start(1, desk_.shell("echo run >> out"));
  desk_.close();
  const std::string record = (desk_.runs() / "1.1").string();
  const std::string name = unguessable_name();
  Descriptor listener = listen_at(name);
  std::ofstream(record) << "phase=claimed boot=" << boot_id() << " socket=" << name << "\n";
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {  // as one that finds its connection closed before it has begun
    pollfd service{listener.get(), POLLIN, 0};
    ::poll(&service, 1, 60'000);
    ::unlink(record.c_str());
    ::_exit(0);
  }
  listener.reset();
  EXPECT_TRUE(desk_.open().observe().jobs.empty());
  ::waitpid(supervisor, nullptr, 0);
  desk_.engine().dispatch(start);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "run\n");
}

// The first one holds the record of an order, and the service goes away, or gives it up, before it begins.
TEST_F(LocalRestartTest, what_was_given_up_between_its_claim_and_its_begin_never_begins) {
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
  EXPECT_FALSE(kill_holder(folder.get(), order.name)) << "no process holds it yet";
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    ::fchdir(folder.get());
    look_after(folder.get(), std::move(order), *std::move(claim), std::move(ends.theirs));
  }
  ::waitpid(supervisor, nullptr, 0);
  EXPECT_EQ(desk_.file("out"), "");
  EXPECT_FALSE(std::filesystem::exists(desk_.runs() / "7.1"));
}

}  // namespace
}  // namespace rota::local

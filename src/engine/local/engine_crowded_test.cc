// So many connections wait at the socket of a supervisor, which any user can bring about, that the service cannot speak
// to it: its job goes on, and no other job is held up.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "engine/local/desk_test.h"
#include "engine/local/processes.h"
#include "engine/local/record_holder.h"
#include "process/clock.h"
#include "process/descriptor.h"

namespace rota::local {

using process::accept_from;
using process::boot_id;
using process::Descriptor;
using process::listen_at;
using process::Reached;
using process::read_more;
using process::send_whole;
using process::try_to_connect;
using process::unguessable_name;

namespace {

std::vector<Descriptor> crowd(const std::string& name) {
  std::vector<Descriptor> waiting;
  for (Reached one; (one = try_to_connect(name)).socket;) waiting.push_back(std::move(one.socket));
  EXPECT_TRUE(try_to_connect(name).crowded);
  return waiting;
}

class LocalCrowdedTest : public testing::Test {
 protected:
  LocalCrowdedTest() { desk_.open(); }
  // The job's service is gone, and no process can connect to its supervisor.
  void start_and_crowd(std::uint32_t job) {
    desk_.launch(job, desk_.shell("echo $PPID > supervisor; while [ ! -e go ]; do sleep 0.01; done"));
    ASSERT_TRUE(desk_.wait_for<Launched>(job) && desk_.wait_for_file("supervisor"));
    supervisor_ = std::stoi(desk_.file("supervisor"));
    ::kill(supervisor_, SIGSTOP);
    desk_.close();
    name_ = record_of(std::to_string(job) + ".1").socket;
    waiting_ = crowd(name_);
  }
  RunRecord record_of(const std::string& name) const {
    const Descriptor folder(::open(desk_.runs().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return read_record(folder.get(), name).value();
  }
  bool runs(std::uint32_t job) { return desk_.seen(desk_.engine().observe(), job)->runs; }
  Desk desk_;
  pid_t supervisor_ = 0;
  std::string name_;
  std::vector<Descriptor> waiting_;
};

TEST_F(LocalCrowdedTest, what_is_told_of_a_job_meanwhile_is_carried_out) {
  start_and_crowd(1);
  desk_.open();
  EXPECT_TRUE(runs(1));
  desk_.kill(1, true);
  ::kill(supervisor_, SIGCONT);
  EXPECT_EQ(desk_.outcome(1), Outcome::cancelled);
  EXPECT_EQ(desk_.told_of(1), "");
}

TEST_F(LocalCrowdedTest, a_job_goes_on) {
  start_and_crowd(1);
  desk_.open();
  ::kill(supervisor_, SIGCONT);
  std::ofstream(desk_.work() + "/go") << "go";
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
}

TEST_F(LocalCrowdedTest, a_job_whose_supervisor_is_killed_then_is_lost) {
  start_and_crowd(1);
  desk_.open();
  ::kill(supervisor_, SIGKILL);
  EXPECT_EQ(desk_.outcome(1), Outcome::node_failed);
}

TEST_F(LocalCrowdedTest, a_process_that_has_taken_the_name_of_a_supervisor_that_is_gone_is_none) {
  start_and_crowd(1);
  ::kill(supervisor_, SIGKILL);
  Descriptor stranger;
  ASSERT_TRUE(desk_.wait([&] {
    stranger = listen_at(name_);
    return static_cast<bool>(stranger);
  }));
  const std::vector<Descriptor> waiting = crowd(name_);
  desk_.open();
  EXPECT_FALSE(runs(1));
  EXPECT_EQ(std::get<Finished>(desk_.engine().observe().jobs.at(0).end).outcome, Outcome::node_failed);
}

// A process that holds the record of job 1 and, once it is let go on, tells one that asks that it ended.
pid_t stopped_supervisor(const std::filesystem::path& record, const Descriptor& listener) {
  const pid_t pid = ::fork();
  if (pid != 0) {
    ::waitpid(pid, nullptr, WUNTRACED);
    return pid;
  }
  hold_record(::open(record.c_str(), O_RDWR | O_CLOEXEC));
  ::raise(SIGSTOP);
  std::vector<Descriptor> sockets;
  std::string text;
  while (text.empty()) {
    while (Descriptor socket = accept_from(listener.get())) sockets.push_back(std::move(socket));
    for (const Descriptor& socket : sockets) {
      read_more(socket.get(), text);
      if (text.empty()) continue;
      send_whole(socket.get(), "phase=ended job=1 dispatch=1\n");
      break;
    }
    ::poll(nullptr, 0, 1);
  }
  ::_exit(0);
}

TEST_F(LocalCrowdedTest, others_are_served_while_one_is_crowded) {
  const std::filesystem::path record = desk_.runs() / "1.1";
  name_ = unguessable_name();
  Descriptor listener = listen_at(name_);
  std::ofstream(record) << "phase=claimed boot=" << boot_id() << " socket=" << name_ << "\npid=1000000000\n";
  supervisor_ = stopped_supervisor(record, listener);
  waiting_ = crowd(name_);
  desk_.launch(1, desk_.shell("echo run >> out"));  // which was begun before, as its record tells
  desk_.launch(2, desk_.shell("true"));
  EXPECT_EQ(desk_.outcome(2), Outcome::completed);
  EXPECT_EQ(desk_.heard<Finished>(1), nullptr) << "its supervisor lives";
  ::kill(supervisor_, SIGCONT);
  EXPECT_EQ(desk_.outcome(1), Outcome::completed);
  EXPECT_EQ(desk_.file("out"), "");
  ::waitpid(supervisor_, nullptr, 0);
}

}  // namespace
}  // namespace rota::local

#include "engine/local/processes.h"

#include <fmt/core.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "engine/local/desk_test.h"
#include "process/descriptor.h"
#include "process/process_table.h"

namespace rota::local {

using process::Descriptor;
using process::look_at;
using process::read_all;

namespace {

// Its first thread has ended, and the other one takes no notice of SIGTERM. It has its file locked for as long as it
// lives.
[[noreturn]] void live_on(const char* path) {
  std::signal(SIGTERM, SIG_IGN);
  const int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (::flock(file, LOCK_EX) != 0 || ::write(file, "on\n", 3) != 3) ::_exit(1);
  std::thread([] {
    while (true) ::pause();
  }).detach();
  while (true) ::syscall(SYS_exit, 0);  // of this thread alone
}

// The test program can be such a job: called so, it becomes one before anything else.
const bool kIsNoJob = [] {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (words.size() == 3 && words[1] == "live-on") live_on(words[2].c_str());
  return true;
}();

TEST(Processes, a_job_whose_first_thread_has_ended_runs_until_the_others_are_killed) {
  Desk desk;
  desk.open();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  desk.launch(1, desk.shell(fmt::format("echo $$ > pid; exec {} live-on lock", self)));
  ASSERT_TRUE(desk.wait_for<Launched>(1) && desk.wait_for_file("lock"));
  const pid_t pid = std::stoi(desk.file("pid"));
  EXPECT_FALSE(look_at(pid).value().zombie);
  desk.kill(1, true);
  EXPECT_EQ(desk.outcome(1), Outcome::cancelled);
  const Descriptor lock(::open((desk.work() + "/lock").c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0) << "it lives";
}

TEST(Processes, what_is_left_of_a_job_is_ended_though_its_first_thread_has) {
  Desk desk;
  desk.open();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setsid();
    live_on((desk.work() + "/lock").c_str());
  }
  ASSERT_TRUE(desk.wait_for_file("lock"));
  EXPECT_TRUE(end_leftovers(look_at(pid).value(), "NO=MARK", {}));
  const bool ended = desk.wait([&] { return ::waitpid(pid, nullptr, WNOHANG) == pid; });
  EXPECT_TRUE(ended);
  if (ended) return;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST(Processes, a_process_whose_first_thread_has_ended_lives_on_with_the_others) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::thread([] { ::pause(); }).detach();
    ::syscall(SYS_exit, 0);  // of this thread alone
  }
  boost::asio::io_context io;
  EXPECT_TRUE(comes_true(io, [&] {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    return std::string(std::istreambuf_iterator<char>(file), {}).find(") Z ") != std::string::npos;
  }));
  EXPECT_FALSE(look_at(pid).value().zombie);
  ::kill(pid, SIGKILL);
  EXPECT_TRUE(comes_true(io, [&] { return look_at(pid).value().zombie; }));
  ::waitpid(pid, nullptr, 0);
}

// Each makes the next one, in a session of its own, and is gone. One that is not killed says so in the end.
[[noreturn]] void replace_each_other(int lasted) {
  constexpr std::chrono::seconds kLife{60};
  const auto end = std::chrono::steady_clock::now() + kLife;
  while (std::chrono::steady_clock::now() < end) {
    const pid_t next = ::fork();
    if (next > 0) ::_exit(0);
    if (next == 0) ::setsid();
  }
  ::_exit(::write(lasted, "x", 1) == 1 ? 0 : 1);
}

TEST(Processes, those_that_replace_each_other_are_killed) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  const pid_t parent = ::fork();
  if (parent == 0) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    constexpr int kChains = 20;
    for (int chain = 0; chain < kChains; ++chain) {
      if (::fork() == 0) replace_each_other(write_end.get());
    }
    for (int ended = 0; ended < 2 * kChains; ++ended) ::waitpid(-1, nullptr, 0);
    while (true) {
      kill_children();
      pid_t ended = 0;
      while ((ended = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
      }
      if (ended < 0) ::_exit(0);
    }
  }
  write_end.reset();
  int status = 0;
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read_all(read_end.get()), "") << "as many were not killed";
}

TEST(Processes, a_signal_reaches_a_process_that_left_the_process_group) {
  Desk desk;
  desk.open();
  desk.launch(1, desk.shell("setsid sh -c 'trap \"echo told > inner; exit\" USR1; echo > in; while :; do sleep 0.02; "
                            "done' & trap 'echo told > outer' USR1; echo > out; wait; wait"));
  ASSERT_TRUE(desk.wait_for<Launched>(1) && desk.wait_for_file("in") && desk.wait_for_file("out"));
  desk.engine().signal(JobId{1}, SIGUSR1);
  EXPECT_EQ(desk.outcome(1), Outcome::completed);
  EXPECT_EQ(desk.file("inner"), "told\n");
  EXPECT_EQ(desk.file("outer"), "told\n");
}

}  // namespace
}  // namespace rota::local

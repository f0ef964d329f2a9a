#include "engine/local/processes.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "engine/local/desk_test.h"

namespace rota::local {
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
  desk.launch(1, desk.shell("echo $$ > pid; exec " + self + " live-on lock"));
  ASSERT_TRUE(desk.wait_for<Launched>(1) && desk.wait_for_file("lock"));
  const pid_t pid = std::stoi(desk.file("pid"));
  EXPECT_FALSE(look_at(pid).value().zombie);
  EXPECT_FALSE(only_zombies(look_at(pid).value().parent));
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

TEST(Processes, one_whose_first_thread_has_ended_lives_on_with_the_others) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::thread([] { ::pause(); }).detach();
    ::syscall(SYS_exit, 0);  // of this thread alone
  }
  boost::asio::io_context io;
  EXPECT_TRUE(comes_true(io, [&] {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    return std::string(std::istreambuf_iterator<char>(file), {}).find(") Z ") != std::string::npos;
  }));
  EXPECT_FALSE(look_at(pid).value().zombie);
  ::kill(pid, SIGKILL);
  EXPECT_TRUE(comes_true(io, [&] { return look_at(pid).value().zombie; }));
  EXPECT_EQ(look_at(pid).value().status, SIGKILL);
  EXPECT_TRUE(only_zombies(::getpid()));
  ::waitpid(pid, nullptr, 0);
}

}  // namespace
}  // namespace rota::local

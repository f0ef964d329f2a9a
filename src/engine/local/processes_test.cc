#include "engine/local/processes.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "engine/local/desk_test.h"

namespace rota::local {
namespace {

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

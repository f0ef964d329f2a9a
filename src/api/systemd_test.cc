#include "api/systemd.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/datagram_protocol.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstdlib>
#include <functional>

#include "store/temporary_folder_test.h"

namespace rota::api {
namespace {

using boost::asio::local::datagram_protocol;
using boost::asio::local::stream_protocol;

// Plays systemd: variables as it sets them, and the socket at which it is told.
class Systemd : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name :
         {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"})
      ::unsetenv(name);
  }
  // A socket at that name, which NOTIFY_SOCKET has with '@' in front if it is abstract.
  void listen_at(const std::string& name, bool is_abstract) {
    told_.open();
    told_.bind(is_abstract ? std::string(1, '\0') + name : name);
    ::setenv("NOTIFY_SOCKET", (is_abstract ? "@" + name : name).c_str(), 1);
  }
  // The next datagram, which is there already.
  std::string told() {
    std::string text(4096, '\0');
    told_.non_blocking(true);
    boost::system::error_code error;
    text.resize(told_.receive(boost::asio::buffer(text), 0, error));
    return error ? "nothing" : text;
  }
  std::string path() { return folder_ / "notify"; }

  store::TemporaryFolder folder_;
  boost::asio::io_context io_;
  datagram_protocol::socket told_{io_};
};

TEST_F(Systemd, is_told_in_one_datagram_at_a_path_when_the_service_is_ready) {
  listen_at(path(), false);
  ServiceNotes notes(io_, [] { return std::string("2 jobs running,\nnone waiting"); });
  notes.ready();
  EXPECT_EQ(told(), "READY=1\nSTATUS=2 jobs running, none waiting");
  notes.stopping();
  EXPECT_EQ(told(), "STOPPING=1");
  ServiceNotes::failed("The disk\nis full.");
  EXPECT_EQ(told(), "STATUS=The disk is full.");
  EXPECT_EQ(told(), "nothing");
}

TEST_F(Systemd, is_told_at_an_abstract_name) {
  listen_at(path(), true);
  ServiceNotes(io_, [] { return std::string("ready"); }).ready();
  EXPECT_EQ(told(), "READY=1\nSTATUS=ready");
}

TEST_F(Systemd, whose_socket_has_gone_harms_nothing) {
  listen_at(path(), false);
  told_.close();
  ServiceNotes(io_, [] { return std::string("ready"); }).ready();
  for (const std::string& name : {std::string("relative"), std::string("@"), std::string(200, '/')}) {
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    ServiceNotes::failed("It ends.");
  }
}

TEST_F(Systemd, has_its_watchdog_fed_where_the_variables_speak_of_this_process) {
  listen_at(path(), false);
  ::setenv("WATCHDOG_USEC", "3000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  int asked = 0;
  ServiceNotes notes(io_, [&] { return "asked " + std::to_string(std::min(++asked, 2)); });
  notes.ready();
  EXPECT_EQ(told(), "READY=1\nSTATUS=asked 1");
  io_.run_one();
  EXPECT_EQ(told(), "WATCHDOG=1");
  EXPECT_EQ(told(), "STATUS=asked 2");
  io_.run_one();
  EXPECT_EQ(told(), "WATCHDOG=1");
  EXPECT_EQ(told(), "nothing") << "the status is as it was";
}

// What socket_handed_over() makes of a descriptor 3, in a process of its own: 0 where it takes that, 1 none, 2 an
// error; 3 where it leaves variables to jobs.
int handed_over(int descriptor, const std::function<void()>& set_variables) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (descriptor >= 0) ::dup2(descriptor, 3);
    set_variables();
    const auto found = socket_handed_over();
    const bool left = ::getenv("LISTEN_FDS") != nullptr || ::getenv("LISTEN_PID") != nullptr;
    ::_exit(left ? 3 : !found ? 2 : *found == 3 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::function<void()> variables(const char* count, bool for_this_process = true) {
  return [=] {
    ::setenv("LISTEN_FDS", count, 1);
    ::setenv("LISTEN_PID", std::to_string(for_this_process ? ::getpid() : ::getppid()).c_str(), 1);
  };
}

TEST_F(Systemd, hands_a_listening_socket_over_to_the_process_that_it_names) {
  stream_protocol::acceptor listening(io_, stream_protocol::endpoint(folder_ / "socket"));
  const int socket = listening.native_handle();
  EXPECT_EQ(handed_over(socket, variables("1")), 0);
  EXPECT_EQ(handed_over(socket, variables("1", false)), 1);
  EXPECT_EQ(handed_over(socket, variables("0")), 1);
  EXPECT_EQ(handed_over(socket, variables("one")), 1);
  EXPECT_EQ(handed_over(socket, [] {}), 1);
}

TEST_F(Systemd, hands_over_what_does_not_fit_and_is_refused) {
  stream_protocol::acceptor listening(io_, stream_protocol::endpoint(folder_ / "socket"));
  const int socket = listening.native_handle();
  EXPECT_EQ(handed_over(socket,
                        [] {
                          ::dup2(3, 4);
                          variables("2")();
                        }),
            2);
  told_.open();
  EXPECT_EQ(handed_over(told_.native_handle(), variables("1")), 2);
}

}  // namespace
}  // namespace rota::api

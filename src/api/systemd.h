// systemd, where it has started the service: the socket that it hands over, what it is told, its watchdog, and lines of
// its journal. Where it has not, nothing of all this does anything.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <string>

#include "base/result.h"

namespace rota::api {

// A socket that listens already (LISTEN_FDS); -1: none is handed over.
Result<int> socket_handed_over();

// Whether standard error leads into the journal (JOURNAL_STREAM), which takes a priority in front of each line.
bool says_to_journal();
// As sd-daemon.h has them.
enum class Priority : char { failure = '3', warning = '4', news = '6' };
// A line as it is to be written there: with its priority in front, if that is understood.
std::string journal_line(Priority priority, const std::string& line, bool to_journal);

// What systemd is told (NOTIFY_SOCKET) while the service runs: by the event loop, so that a loop that hangs misses the
// watchdog (WATCHDOG_USEC).
class ServiceNotes {
 public:
  // `status` is a short line on how things are; asked every few seconds.
  ServiceNotes(boost::asio::io_context& io, std::function<std::string()> status);
  void ready();
  void stopping();
  static void failed(const std::string& sentence);  // why it ends; `systemctl status` shows it

 private:
  void tell();
  void again();

  boost::asio::steady_timer timer_;
  std::function<std::string()> status_;
  std::string told_;
  std::chrono::milliseconds every_{0};  // zero: systemd does not listen
  bool watched_ = false;
};

}  // namespace rota::api

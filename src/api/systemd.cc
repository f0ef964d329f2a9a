#include "api/systemd.h"

#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace rota::api {
namespace {

constexpr std::chrono::milliseconds kStatusEvery{5000};

void notify(const std::string& text) { ::sd_notify(0, text.c_str()); }

// What is a line of its own to systemd would be a word of its protocol.
std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

Result<int> socket_handed_over() {
  const int count = ::sd_listen_fds(1);
  if (count > 1) return fail("systemd hands over more than one socket; one is enough.");
  if (count <= 0) return -1;
  if (::sd_is_socket_unix(SD_LISTEN_FDS_START, SOCK_STREAM, 1, nullptr, 0) <= 0)
    return fail(
        "what systemd hands over is no Unix socket that listens; give rota.socket a ListenStream= with a path.");
  return SD_LISTEN_FDS_START;
}

bool says_to_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat there{};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &there) != 0) return false;
  return std::to_string(there.st_dev) + ":" + std::to_string(there.st_ino) == stream;
}

std::string journal_line(Priority priority, const std::string& line, bool to_journal) {
  return to_journal ? std::string{'<', static_cast<char>(priority), '>'} + line : line;
}

ServiceNotes::ServiceNotes(boost::asio::io_context& io, std::function<std::string()> status)
    : timer_(io), status_(std::move(status)) {
  if (std::getenv("NOTIFY_SOCKET") == nullptr) return;
  every_ = kStatusEvery;
  std::uint64_t microseconds = 0;
  watched_ = ::sd_watchdog_enabled(0, &microseconds) > 0;
  if (watched_) every_ = std::min(every_, std::chrono::milliseconds(std::max<std::uint64_t>(microseconds / 3000, 1)));
}

void ServiceNotes::ready() {
  if (every_.count() == 0) return;
  told_ = status_();
  notify("READY=1\nSTATUS=" + one_line(told_));
  again();
}

void ServiceNotes::stopping() { notify("STOPPING=1"); }

void ServiceNotes::failed(const std::string& sentence) { notify("STATUS=" + one_line(sentence)); }

void ServiceNotes::tell() {
  if (watched_) notify("WATCHDOG=1");
  std::string status = status_();
  if (status == told_) return;
  told_ = std::move(status);
  notify("STATUS=" + one_line(told_));
}

void ServiceNotes::again() {
  timer_.expires_after(every_);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    tell();
    again();
  });
}

}  // namespace rota::api

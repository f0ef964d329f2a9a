#include "api/systemd.h"

#include <fmt/core.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace rota::api {
namespace {

constexpr std::chrono::milliseconds kStatusEvery{5000};

constexpr int kFirstHandedOver = 3;  // the lowest descriptor that systemd hands over

// The whole number that a variable holds, above zero; zero: it is not set, or it holds no such number.
std::int64_t number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::max<std::int64_t>(parse_integer(text).value_or(0), 0);
}

// One datagram to NOTIFY_SOCKET, a path or, with '@' in front, an abstract name. Where systemd does not take it, the
// service goes on without.
void notify(const std::string& text) {
  const char* variable = std::getenv("NOTIFY_SOCKET");
  const std::string_view name = variable == nullptr ? "" : variable;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (name.size() < 2 || name.size() >= sizeof address.sun_path || (name[0] != '/' && name[0] != '@')) return;
  name.copy(address.sun_path, name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  const int sender = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (sender < 0) return;
  ::sendto(sender, text.data(), text.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
  ::close(sender);
}

// Takes the variables away, so that no job takes them for its own; gives how many descriptors are for this process.
int handed_over() {
  const bool for_us = number_in("LISTEN_PID") == ::getpid();
  const std::int64_t count = for_us ? number_in("LISTEN_FDS") : 0;
  for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(variable);
  for (int each = kFirstHandedOver; each < kFirstHandedOver + count; ++each) {
    ::fcntl(each, F_SETFD, FD_CLOEXEC);  // what is no descriptor is refused below
  }
  return static_cast<int>(count);
}

bool listens_at_unix_socket(int descriptor) {
  const auto option = [&](int name) {
    int value = 0;
    socklen_t size = sizeof value;
    return ::getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
  };
  return option(SO_DOMAIN) == AF_UNIX && option(SO_TYPE) == SOCK_STREAM && option(SO_ACCEPTCONN) == 1;
}

// What is a line of its own to systemd would be a word of its protocol.
std::string on_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

Result<int> socket_handed_over() {
  const int count = handed_over();
  if (count > 1) return fail("systemd hands over more than one socket; one is enough.");
  if (count == 0) return -1;
  if (!listens_at_unix_socket(kFirstHandedOver))
    return fail(
        "what systemd hands over is no Unix socket that listens; give rota.socket a ListenStream= with a path.");
  return kFirstHandedOver;
}

bool says_to_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat there{};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &there) != 0) return false;
  return fmt::format("{}:{}", there.st_dev, there.st_ino) == stream;
}

std::string journal_line(Priority priority, const std::string& line, bool to_journal) {
  return to_journal ? std::string{'<', static_cast<char>(priority), '>'} + line : line;
}

ServiceNotes::ServiceNotes(boost::asio::io_context& io, std::function<std::string()> status)
    : timer_(io), status_(std::move(status)) {
  if (std::getenv("NOTIFY_SOCKET") == nullptr) return;
  every_ = kStatusEvery;
  const std::int64_t microseconds = number_in("WATCHDOG_USEC");
  const bool for_us = std::getenv("WATCHDOG_PID") == nullptr || number_in("WATCHDOG_PID") == ::getpid();
  watched_ = microseconds > 0 && for_us;
  if (watched_) every_ = std::min(every_, std::chrono::milliseconds(std::max<std::int64_t>(microseconds / 3000, 1)));
}

void ServiceNotes::ready() {
  if (every_.count() == 0) return;
  told_ = status_();
  notify("READY=1\nSTATUS=" + on_one_line(told_));
  again();
}

void ServiceNotes::stopping() { notify("STOPPING=1"); }

void ServiceNotes::failed(const std::string& sentence) { notify("STATUS=" + on_one_line(sentence)); }

void ServiceNotes::tell() {
  if (watched_) notify("WATCHDOG=1");
  std::string status = status_();
  if (status == told_) return;
  told_ = std::move(status);
  notify("STATUS=" + on_one_line(told_));
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

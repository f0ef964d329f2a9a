#include "engine/local/descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/text.h"

namespace rota::local {
namespace {

class Address {
 public:
  explicit Address(const std::string& name) {
    address_.sun_family = AF_UNIX;
    length_ = std::min(name.size(), sizeof(address_.sun_path) - 1);
    std::memcpy(address_.sun_path + 1, name.data(), length_);  // behind a zero byte: it is no path
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t size() const { return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length_); }

 private:
  sockaddr_un address_{};
  std::size_t length_ = 0;
};

bool is_ours(int socket) {
  ucred other{};
  socklen_t size = sizeof(other);
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 &&
         (other.uid == ::geteuid() || other.uid == 0);
}

}  // namespace

std::string read_all(int file) {
  std::string text;
  read_more(file, text);
  return text;
}

bool read_more(int file, std::string& text) {
  std::array<char, 16384> piece;
  while (true) {
    const ssize_t got = ::read(file, piece.data(), piece.size());
    if (got > 0) {
      text.append(piece.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
}

bool take_line(std::string& text, std::string& line) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos) return false;
  line.assign(text, 0, end);
  text.erase(0, end + 1);
  return true;
}

bool send_whole(int socket, const std::string& text) {
  const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent == static_cast<ssize_t>(text.size());
}

std::string unguessable_name() {
  std::uint64_t word = 0;
  while (::getrandom(&word, sizeof(word), 0) != sizeof(word)) {
  }
  return "rota-" + hexadecimal(word);
}

Descriptor listen_at(const std::string& name) {
  constexpr int kWaiting = 16;
  const Address address(name);
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::bind(socket.get(), address.get(), address.size()) != 0 || ::listen(socket.get(), kWaiting) != 0) {
    return {};
  }
  return socket;
}

Descriptor connect_to(const std::string& name) {
  constexpr int kTries = 250;  // five seconds: who is crowded or stopped is there all the same
  const Address address(name);
  for (int tries = 0; tries < kTries; ++tries) {
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket && ::connect(socket.get(), address.get(), address.size()) == 0) {
      return is_ours(socket.get()) ? std::move(socket) : Descriptor();
    }
    if (errno == ECONNREFUSED || errno == ENOENT) return {};
    ::poll(nullptr, 0, 20);
  }
  return {};
}

Descriptor accept_from(int listener) {
  while (true) {
    Descriptor socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket || is_ours(socket.get())) return socket;
  }
}

}  // namespace rota::local

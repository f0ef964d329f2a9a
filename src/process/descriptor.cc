#include "process/descriptor.h"

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
#include <numeric>

#include "base/text.h"
#include "process/clock.h"

namespace rota::process {
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

constexpr uid_t kNoUser = UINT32_MAX;

uid_t user_at(int socket) {
  ucred other{};
  socklen_t size = sizeof(other);
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 ? other.uid : kNoUser;
}

bool is_ours(uid_t user) { return user != kNoUser && (user == ::geteuid() || user == 0); }

// The listener is crowded, or something lacks that other processes give back.
bool another_try_may_help(int error) {
  switch (error) {
    case EAGAIN:
    case EINTR:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return true;
    default:
      return false;
  }
}

// Connects to this name, whichever user listens there.
Reached reach(const std::string& name) {
  const Address address(name);
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket || ::connect(socket.get(), address.get(), address.size()) != 0)
    return {.crowded = another_try_may_help(errno)};
  return {.socket = std::move(socket)};
}

// A listener that is crowded or stopped is there all the same. `patience`: milliseconds, for all together.
std::vector<Descriptor> connected(std::span<const std::string> names, std::int64_t patience) {
  constexpr int kRestMilliseconds = 20;
  std::vector<Descriptor> sockets(names.size());
  std::vector<std::size_t> missing(names.size());
  std::iota(missing.begin(), missing.end(), std::size_t{0});
  const std::int64_t until = boot_milliseconds() + patience;
  while (true) {
    std::erase_if(missing, [&](std::size_t at) {
      Reached reached = reach(names[at]);
      sockets[at] = std::move(reached.socket);
      return !reached.crowded;
    });
    if (missing.empty() || boot_milliseconds() >= until) return sockets;
    ::poll(nullptr, 0, kRestMilliseconds);
  }
}

}  // namespace

std::string read_all(int file) {
  std::string text;
  read_more(file, text);
  return text;
}

std::string contents_of(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file ? read_all(file.get()) : std::string();
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

bool read_piece(int file, std::string& text) {
  std::array<char, 16384> piece;
  const ssize_t got = ::read(file, piece.data(), piece.size());
  if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

int add_line(int file, std::string_view line) {
  const ssize_t written = ::write(file, line.data(), line.size());
  if (written < 0) return errno;
  return static_cast<std::size_t>(written) == line.size() ? 0 : ENOSPC;
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

bool send_whole(int socket, const std::string& text, std::span<const int> files) {
  constexpr std::size_t kMostFiles = 4;
  iovec piece{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMostFiles)> beside{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (!files.empty()) {
    const std::size_t size = sizeof(int) * std::min(files.size(), kMostFiles);
    message.msg_control = beside.data();
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(part), files.data(), size);
  }
  const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  return sent == static_cast<ssize_t>(text.size());
}

bool receive(int socket, std::string& text, std::deque<Descriptor>& files) {
  std::array<char, 65536> piece;
  iovec space{piece.data(), piece.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 4)> beside{};
  msghdr message{};
  message.msg_iov = &space;
  message.msg_iovlen = 1;
  message.msg_control = beside.data();
  message.msg_controllen = beside.size();
  const ssize_t got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got == 0) return false;
  text.append(piece.data(), static_cast<std::size_t>(got));
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = 0; at + sizeof(int) <= part->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + at, sizeof(number));
      files.emplace_back(number);
    }
  }
  return true;
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

Reached try_to_connect(const std::string& name) {
  Reached reached = reach(name);
  if (reached.socket && !is_ours(user_at(reached.socket.get()))) reached.socket.reset();
  return reached;
}

std::vector<Descriptor> connect_to_all(std::span<const std::string> names) {
  constexpr std::int64_t kPatience = 1000;
  std::vector<Descriptor> sockets = connected(names, kPatience);
  for (Descriptor& socket : sockets) {
    if (socket && !is_ours(user_at(socket.get()))) socket.reset();
  }
  return sockets;
}

Descriptor connect_to(const std::string& name, uid_t owner) {
  constexpr std::int64_t kPatience = 5000;
  Descriptor socket = std::move(connected({&name, 1}, kPatience).front());
  return socket && user_at(socket.get()) == owner ? std::move(socket) : Descriptor();
}

Descriptor accept_from(int listener) { return accept_from(listener, ::geteuid()); }

Descriptor accept_from(int listener, uid_t other_uid) {
  constexpr int kMostStrangers = 64;  // a stranger that connects again and again holds up nothing else
  for (int stranger = 0; stranger < kMostStrangers; ++stranger) {
    Descriptor socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return socket;
    if (const uid_t user = user_at(socket.get()); is_ours(user) || user == other_uid) return socket;
  }
  return {};
}

}  // namespace rota::process

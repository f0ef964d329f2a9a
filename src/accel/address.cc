#include "accel/address.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

namespace rota::accel {
namespace {

constexpr std::string_view kLate = "late:";
constexpr std::string_view kSlot = "slot:";
constexpr int kSocketFlags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Addresses resolve(const TcpAddress& address, int flags, std::string& why) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &list);
  if (error != 0) why = ::gai_strerror(error);
  return Addresses(list);
}

bool fill(sockaddr_un& into, const UnixAddress& address, std::string& why) {
  into.sun_family = AF_UNIX;
  if (address.path.size() >= sizeof into.sun_path) {
    why = "the path is longer than 107 bytes";
    return false;
  }
  std::memcpy(into.sun_path, address.path.c_str(), address.path.size() + 1);
  return true;
}

process::Descriptor connect_tcp(const TcpAddress& address, std::string& why) {
  const Addresses list = resolve(address, 0, why);
  for (const addrinfo* one = list.get(); one != nullptr; one = one->ai_next) {
    process::Descriptor socket(::socket(one->ai_family, kSocketFlags, 0));
    const int yes = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (::connect(socket.get(), one->ai_addr, one->ai_addrlen) == 0 || errno == EINPROGRESS) return socket;
    why = std::strerror(errno);
  }
  return {};
}

process::Descriptor connect_unix(const UnixAddress& address, std::string& why) {
  sockaddr_un to{};
  if (!fill(to, address, why)) return {};
  process::Descriptor socket(::socket(AF_UNIX, kSocketFlags, 0));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return socket;
  why = std::strerror(errno);
  return {};
}

process::Descriptor listen_tcp(const TcpAddress& address, std::string& why) {
  const Addresses list = resolve(address, AI_PASSIVE, why);
  for (const addrinfo* one = list.get(); one != nullptr; one = one->ai_next) {
    process::Descriptor socket(::socket(one->ai_family, kSocketFlags, 0));
    const int yes = 1;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(socket.get(), one->ai_addr, one->ai_addrlen) == 0 && ::listen(socket.get(), SOMAXCONN) == 0)
      return socket;
    why = std::strerror(errno);
  }
  return {};
}

process::Descriptor listen_unix(const UnixAddress& address, std::string& why) {
  sockaddr_un at{};
  if (!fill(at, address, why)) return {};
  std::string refused;
  if (connect_unix(address, refused)) {
    why = "a process listens there already";
    return {};
  }
  struct stat found{};
  if (::lstat(address.path.c_str(), &found) == 0) {
    if (!S_ISSOCK(found.st_mode)) {
      why = std::string(S_ISDIR(found.st_mode) ? "a folder" : "a file") +
            " is there that is no socket; name another path, or remove it";
      return {};
    }
    ::unlink(address.path.c_str());
  }
  process::Descriptor socket(::socket(AF_UNIX, kSocketFlags, 0));
  const mode_t before = ::umask(0177);  // for its owner alone
  const bool bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  ::umask(before);
  if (bound && ::listen(socket.get(), SOMAXCONN) == 0) return socket;
  why = std::strerror(errno);
  return {};
}

// "12.0"
bool is_slot(const std::string& text) {
  const auto point = text.find('.');
  return point != std::string::npos && point > 0 && point + 1 < text.size() &&
         text.find_first_not_of("0123456789") == point &&
         text.find_first_not_of("0123456789", point + 1) == std::string::npos;
}

std::string only_for_clients(const Address& address) {
  const auto* none = std::get_if<NoAddress>(&address);
  return none != nullptr ? none->why : "NODE@PATH is for clients, which ask the service";
}

}  // namespace

Address parse_address(const std::string& text) {
  if (const auto at = text.find("@/"); at != std::string::npos && at > 0 && text.find('/') > at) {
    const bool late = text.starts_with(kLate);
    const std::size_t end = text.starts_with(kSlot) ? text.find(':', kSlot.size()) : std::string::npos;
    const std::string slot = end < at ? text.substr(kSlot.size(), end - kSlot.size()) : "";
    const std::size_t from = late ? kLate.size() : slot.empty() ? 0 : end + 1;
    if (at == from) return NoAddress{"a node is missing before the @"};
    if (text.starts_with(kSlot) && !is_slot(slot))
      return NoAddress{"a slot is a job and a number, as in slot:12.0:n1@"};
    return NodeAddress{text.substr(from, at - from), text.substr(at + 1), late, slot};
  }
  if (text.find('/') != std::string::npos) return UnixAddress{text};
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
    return NoAddress{"an address is HOST:PORT, [V6]:PORT, or a path with a / in it"};
  std::string host = text.substr(0, colon);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  if (!brackets && host.find(':') != std::string::npos)
    return NoAddress{"an IPv6 address stands in brackets, as in [::1]:7400"};
  const std::string port = text.substr(colon + 1);
  if (port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos || std::stoi(port) > 65535)
    return NoAddress{"a port is a number from 0 to 65535"};
  return TcpAddress{host, port};
}

bool is_loopback(const TcpAddress& address) {
  return address.host == "localhost" || address.host == "::1" || address.host.starts_with("127.");
}

process::Descriptor begin_connecting(const Address& address, std::string& why) {
  if (const auto* tcp = std::get_if<TcpAddress>(&address)) return connect_tcp(*tcp, why);
  if (const auto* local = std::get_if<UnixAddress>(&address)) return connect_unix(*local, why);
  why = only_for_clients(address);
  return {};
}

process::Descriptor listen_at(const Address& address, std::string& why) {
  if (const auto* tcp = std::get_if<TcpAddress>(&address)) return listen_tcp(*tcp, why);
  if (const auto* local = std::get_if<UnixAddress>(&address)) return listen_unix(*local, why);
  why = only_for_clients(address);
  return {};
}

int port_of(int socket) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size) != 0) return 0;
  if (at.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(at).sin6_port);
  return at.ss_family == AF_INET ? ntohs(reinterpret_cast<const sockaddr_in&>(at).sin_port) : 0;
}

}  // namespace rota::accel

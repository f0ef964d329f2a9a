// Any bytes on a connection: they are answered in HTTP or not at all, by nothing that tells of a defect, and the
// connection is closed once the other side has said all it has to. Where the first byte is an even one the kernel names
// the user, else a token has to.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/http_connection.h"
#include "fuzz/served_state.h"

namespace {

using namespace rota;

// What one end of a pair of sockets hears, which says that and no more.
std::string heard(fuzz::ServedState& state, std::string_view text, bool by_token) {
  std::array<int, 2> ends{-1, -1};
  CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0, "sockets can be made");
  const ssize_t sent = ::send(ends[0], text.data(), text.size(), MSG_NOSIGNAL);
  CHECK(sent == static_cast<ssize_t>(text.size()), "so much fits");
  ::shutdown(ends[0], SHUT_WR);
  api::Connections all({});
  all.handler = state.handler();
  all.bearer_of = [](std::string_view token) -> std::optional<api::Bearer> {
    if (token.empty() || token.front() == 'x') return std::nullopt;
    return api::Bearer{fuzz::ServedState::caller(token.front() == 'o'), token.front() == 'r'};
  };
  const api::Peer peer{by_token ? std::nullopt : std::optional(fuzz::ServedState::caller(true)), "fuzz"};
  const boost::asio::generic::stream_protocol protocol(AF_UNIX, 0);
  const auto wire = api::Wire::plain(api::StreamSocket(state.io(), protocol, ends[1]));
  const auto connection = api::http_connection(wire, all, peer);
  CHECK(all.admit(connection, peer), "it is the only one");
  connection->begin();
  std::string answers;
  state.work_until([&] {
    std::array<char, 65536> piece{};
    const ssize_t got = ::recv(ends[0], piece.data(), piece.size(), 0);
    if (got > 0) answers.append(piece.data(), static_cast<std::size_t>(got));
    return got == 0;
  });
  ::close(ends[0]);
  return answers;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMost = 100'000;
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, std::min(size - 1, kMost));
  const std::string answers = heard(fuzz::ServedState::next(), text, data[0] % 2 == 1);
  CHECK(answers.empty() || answers.starts_with("HTTP/1."), "HTTP is answered in HTTP");
  CHECK(answers.size() < 12 || answers.substr(9, 3) != "500", "no defect is told of");
  return 0;
}

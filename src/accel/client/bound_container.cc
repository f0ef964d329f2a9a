#include "accel/client/bound_container.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

namespace rota::accel {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kLongestAnswer = std::size_t{1} << 20U;  // it lists some thousand containers

// Until the socket is ready for that; false: it was not in time.
bool ready(int socket, short events, steady_clock::time_point until) {
  pollfd waits{socket, events, 0};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
    if (left <= 0) return false;
    const int count = ::poll(&waits, 1, static_cast<int>(left));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return false;
  }
}

bool send_all(int socket, std::string_view text, steady_clock::time_point until) {
  while (!text.empty()) {
    if (!ready(socket, POLLOUT, until)) return false;
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (sent > 0) text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// As far as the service closes the connection.
bool read_all(int socket, std::string& into, steady_clock::time_point until) {
  std::array<char, 4096> piece{};
  while (into.size() < kLongestAnswer && ready(socket, POLLIN, until)) {
    const ssize_t got = ::recv(socket, piece.data(), piece.size(), MSG_DONTWAIT);
    if (got == 0) return true;
    if (got > 0) into.append(piece.data(), static_cast<std::size_t>(got));
    if (got < 0 && errno != EAGAIN && errno != EINTR) return false;
  }
  return false;
}

// visit(name, value) for each member whose value is a text or a number, wherever it stands, in order. Texts that are
// looked for have no escapes in them; those of others may, and an escaped quote is no end of a text.
template <class Visit>
void each_member(std::string_view json, const Visit& visit) {
  std::string_view name;
  bool value = false;  // what comes next belongs to the name
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') {
      const std::size_t from = at + 1;
      for (++at; at < json.size() && json[at] != '"'; ++at)
        if (json[at] == '\\') ++at;
      if (at >= json.size()) return;
      const std::string_view text = json.substr(from, at - from);
      if (value) visit(name, text);
      if (!value) name = text;
      value = false;
    } else if (c == ':') {
      value = true;
    } else if (value && c >= '0' && c <= '9') {
      const std::size_t end = std::min(json.find_first_not_of("0123456789", at), json.size());
      visit(name, json.substr(at, end - at));
      at = end - 1;
      value = false;
    } else if (c != ' ' && c != '\n') {
      value = false;
    }
  }
}

std::string member(std::string_view json, std::string_view wanted) {
  std::string found;
  each_member(json, [&](std::string_view name, std::string_view value) {
    if (name == wanted && found.empty()) found = value;
  });
  return found;
}

// Names of nodes are letters, digits and such; all else goes as %XX.
std::string in_path(const std::string& name) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain.contains(c)) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
    }
  }
  return out;
}

// What the service answers, from its status on; nothing where it does not.
std::optional<std::string> asked(const NodeAddress& of, const char* query, std::chrono::milliseconds patience,
                                 std::string& why) {
  const auto until = steady_clock::now() + patience;
  const process::Descriptor socket = begin_connecting(UnixAddress{of.service}, why);
  if (!socket) {
    why = "no service answers at " + of.service + " (" + why + ")";
    return std::nullopt;
  }
  const std::string question =
      "GET /v1/accelerators/" + in_path(of.node) + query + " HTTP/1.1\r\nHost: rota\r\nConnection: close\r\n\r\n";
  std::string answer;
  if (send_all(socket.get(), question, until) && read_all(socket.get(), answer, until)) return answer;
  why = "the service at " + of.service + " does not answer";
  return std::nullopt;
}

std::string_view body_of(const std::string& answer) {
  const std::size_t body = answer.find("\r\n\r\n");
  return body == std::string::npos ? std::string_view() : std::string_view(answer).substr(body);
}

// Why there is none, as the service says.
std::string refusal(const NodeAddress& of, std::string_view json) {
  std::string why = member(json, "detail");
  std::erase(why, '\\');
  while (why.ends_with('.')) why.pop_back();
  return why.empty() ? "the service at " + of.service + " does not say which container node " + of.node + " has" : why;
}

bool can_be_connected_to(const std::string& text) {
  const Address address = parse_address(text);
  return std::holds_alternative<TcpAddress>(address) || std::holds_alternative<UnixAddress>(address);
}

}  // namespace

std::optional<BoundContainer> ask_service(const NodeAddress& of, std::chrono::milliseconds patience, std::string& why) {
  const std::string query = of.slot.empty() ? "" : "?slot=" + of.slot;
  const auto answer = asked(of, query.c_str(), patience, why);
  if (!answer) return std::nullopt;
  const std::string_view json = body_of(*answer);
  BoundContainer found{member(json, "address"), member(json, "token")};
  if (can_be_connected_to(found.address)) return found;
  why = refusal(of, json);
  return std::nullopt;
}

std::optional<std::vector<RackContainer>> ask_for_rack(const NodeAddress& of, std::chrono::milliseconds patience,
                                                       std::string& why) {
  const auto answer = asked(of, "?rack=yes", patience, why);
  if (!answer) return std::nullopt;
  const std::string_view json = body_of(*answer);
  if (!answer->contains(" 200 ") || answer->find(" 200 ") > answer->find("\r\n")) {
    why = refusal(of, json);
    return std::nullopt;
  }
  std::vector<RackContainer> all;
  each_member(json, [&](std::string_view name, std::string_view value) {
    if (name == "address") all.push_back({{std::string(value), ""}, 1});
    if (all.empty()) return;
    if (name == "token") all.back().of.token = value;
    std::int64_t weight = 0;
    if (name == "weight" && std::from_chars(value.data(), value.data() + value.size(), weight).ec == std::errc() &&
        weight > 0)
      all.back().weight = weight;
  });
  std::erase_if(all, [](const RackContainer& one) { return !can_be_connected_to(one.of.address); });
  return all;
}

}  // namespace rota::accel

#include "accel/client/client.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "accel/client/bound_container.h"

namespace rota::accel {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto kFirstPause = 10ms;
constexpr auto kLongestPause = 1000ms;
constexpr auto kAskPatience = 2000ms;  // with the service
// A connection without tasks is given up after so long where the service says which container it is: that may be
// another one by the next task.
constexpr auto kIdle = 1000ms;

int error_of(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : EBADF;
}

}  // namespace

Client::Client(ClientOptions options) : options_(std::move(options)) {
  thread_ = std::thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), "accel-client");
}

Client::~Client() {
  stops_ = true;
  requests_.wakeup().ring();
  thread_.join();
}

std::uint64_t Client::submit(const Order& order) { return requests_.add_task(order); }
std::uint64_t Client::ask_state(void* tag) { return requests_.add_task(AskState{tag}); }
void Client::cancel(std::uint64_t task) { requests_.add_cancel(task); }

void Client::run() {
  while (!stops_) {
    carry_out_requests();
    keep_connection();
    ends_.put(book_.ends());
    wait();
  }
}

void Client::carry_out_requests() {
  for (const Request& request : requests_.take_all()) {
    std::visit(Overloaded{[&](const Order& order) { book_.add(request.number, order); },
                          [&](const AskState& ask) {
                            states_.emplace_back(request.number, ask.tag);
                            auto* to = std::get_if<Connected>(&connection_);
                            if (to != nullptr && to->phase >= Phase::up)
                              to->link->add(framed({.type = FrameType::status, .task = request.number}));
                          },
                          [&](const Cancel&) {
                            FrameHeader header;
                            auto* to = std::get_if<Connected>(&connection_);
                            if (book_.cancel(request.number, header) && to != nullptr) to->link->add(framed(header));
                          }},
               request.what);
  }
}

void Client::keep_connection() {
  const SteadyTime now = steady_clock::now();
  if (auto* away = std::get_if<Away>(&connection_); away != nullptr && !idle() && now >= away->retry) connect();
  auto* to = std::get_if<Connected>(&connection_);
  if (idle() || (to != nullptr && to->phase == Phase::up)) {
    waits_since_.reset();
  } else if (!waits_since_) {
    waits_since_ = now;
  } else if (now - *waits_since_ >= options_.give_up) {
    end_all({ROTA_ACCEL_LEAVING, "no container accepts tasks at " + options_.shown + ": " + trouble_});
    waits_since_.reset();
    lose(trouble_);
    return;
  }
  if (to == nullptr) return;
  if (follows_service() && is_to_be_left(*to)) return lose("the container is being stopped");
  send_what_is_due(*to);
  check_silence(*to);
}

// Whether another container may be this node's by now, and this one has nothing of ours.
bool Client::is_to_be_left(const Connected& to) {
  const SteadyTime now = steady_clock::now();
  if (!idle()) {
    idle_since_.reset();
    return to.phase == Phase::draining && !book_.under_way();
  }
  if (!idle_since_) idle_since_ = now;
  return now - *idle_since_ >= kIdle;
}

void Client::connect() {
  const SteadyTime now = steady_clock::now();
  std::string why;
  Address to = options_.address;
  token_ = options_.token;
  if (const auto* of = std::get_if<NodeAddress>(&options_.address)) {
    auto found = ask_service(*of, std::min(kAskPatience, options_.patience), why);
    if (!found) return lose(why);
    to = parse_address(found->address);
    if (token_.empty()) token_ = std::move(found->token);
  }
  process::Descriptor socket = begin_connecting(to, why);
  if (!socket) return lose(why);
  const bool secret = !token_.empty() && std::holds_alternative<TcpAddress>(to);
  auto key = secret ? std::make_shared<const TlsKey>(token_, Side::client) : nullptr;
  connection_ =
      Connected{.link = std::make_unique<Link>(std::move(socket), std::move(key)), .heard = now, .pinged = now};
}

void Client::lose(const std::string& why) {
  trouble_ = why;
  book_.connection_lost();
  pause_ = std::clamp<std::chrono::milliseconds>(pause_ * 2, kFirstPause, kLongestPause);
  connection_ = Away{steady_clock::now() + pause_};
}

void Client::check_silence(Connected& to) {
  const SteadyTime now = steady_clock::now();
  if (idle()) {
    to.heard = now;
    return;
  }
  if (now - to.heard >= options_.patience)
    return lose(to.phase == Phase::connecting ? "it cannot be reached" : "it does not answer");
  const auto period = options_.patience / 4;
  if (to.phase < Phase::up || now - to.heard < period || now - to.pinged < period) return;
  to.pinged = now;
  to.link->add(framed({.type = FrameType::ping}));
}

void Client::send_what_is_due(Connected& to) {
  if (to.phase != Phase::up && to.phase != Phase::draining) return;
  if (to.phase == Phase::up)
    while (const auto frame = book_.next_submit(to.welcome.tasks)) to.link->add(*frame);
  while (book_.has_piece() && to.link->room_for_piece()) to.link->add(book_.next_piece(to.link->most_of_piece()));
}

void Client::wait() {
  auto* to = std::get_if<Connected>(&connection_);
  std::array<pollfd, 2> files{{{requests_.wakeup().file(), POLLIN, 0}, {-1, POLLIN, 0}}};
  const bool leaves = to != nullptr && follows_service();
  auto patience = idle() ? (leaves ? kIdle + 1ms : -1ms) : std::min(options_.patience, options_.give_up) / 4 + 1ms;
  if (to != nullptr) {
    files[1].fd = to->link->channel().socket();
    if (to->phase == Phase::connecting) files[1].events = POLLOUT;
    if (to->link->wants_to_write()) files[1].events |= POLLOUT;
  } else if (!idle()) {
    const auto left = std::get<Away>(connection_).retry - steady_clock::now();
    patience = std::clamp(std::chrono::ceil<std::chrono::milliseconds>(left), 0ms, patience);
  }
  const bool has_more = to != nullptr && to->link->has_more();
  if (has_more) patience = 0ms;
  ::poll(files.data(), files.size(), static_cast<int>(patience.count()));
  if ((files[0].revents & POLLIN) != 0) requests_.wakeup().clear();
  if (to != nullptr && (files[1].revents != 0 || has_more))
    serve_link(*to, has_more || (files[1].revents & ~POLLOUT) != 0);
}

void Client::serve_link(Connected& to, bool readable) {
  if (to.phase == Phase::connecting) {
    if (const int error = error_of(to.link->channel().socket()); error != 0) return lose(std::strerror(error));
    to.phase = Phase::greeting;
    to.link->add(framed({.type = FrameType::hello}, encoded(Hello{.epoch = epoch_})));
  }
  if (readable) {
    to.heard = steady_clock::now();
    if (!to.link->read(*this)) return end_link(to);
    send_what_is_due(to);
  }
  if (!to.link->write()) end_link(to);
}

void Client::end_link(const Connected& to) {
  if (to.phase != Phase::greeting) return lose("the connection was lost");
  const Channel& channel = to.link->channel();
  if (channel.token_is_refused()) {
    trouble_ = "the container has another token";
    end_all({ROTA_ACCEL_BAD_TASK, trouble_});
  } else if (channel.must_receive_first()) {
    trouble_ = "the connection was lost before the token had proved right; does the container ask for one?";
  }
  lose(trouble_);
}

void Client::end_all(const Refusal& why) {
  book_.end_all(why);
  std::vector<End> ends;
  for (const auto& [number, tag] : std::exchange(states_, {}))
    ends.push_back({.task = number, .tag = tag, .outcome = why, .runs = 0, .result = {}, .own = {}});
  ends_.put(std::move(ends));
}

bool Client::begin(const FrameHeader& header, std::span<std::byte>& place) {
  return header.type != FrameType::result || book_.place_for(header, place);
}

bool Client::receive(const FrameHeader& header, std::span<const std::byte> payload) {
  auto& to = std::get<Connected>(connection_);
  if (to.phase == Phase::greeting && header.type != FrameType::welcome && header.type != FrameType::error) return false;
  switch (header.type) {
    case FrameType::welcome:
      if (to.phase != Phase::greeting || !decode(payload, to.welcome)) return false;
      to.phase = Phase::up;
      epoch_ = to.welcome.epoch;
      on_cores_ = to.welcome.on_cores != 0;
      pause_ = {};
      for (const auto& [number, tag] : states_) to.link->add(framed({.type = FrameType::status, .task = number}));
      return true;
    case FrameType::grant:
      return granted(header, payload);
    case FrameType::result:
      if (!book_.received(header)) return false;
      if ((header.flags & kShared) != 0) to.link->add(framed({.type = FrameType::taken}));
      if ((header.flags & kLast) != 0) acknowledge(header);
      return true;
    case FrameType::error:
      return refused(header, payload);
    case FrameType::state:
      return state_came(header, payload);
    case FrameType::drain:
      to.phase = Phase::draining;
      trouble_ = "the container is being stopped";
      return true;
    case FrameType::pong:
      return true;
    case FrameType::share:
      return to.link->shared();
    case FrameType::taken:
      return to.link->given_back();
    default:
      return false;
  }
}

bool Client::granted(const FrameHeader& header, std::span<const std::byte> payload) {
  std::uint64_t result_bytes = 0;
  bool unwanted = false;
  if (!decode(payload, result_bytes) || !book_.granted(header, result_bytes, unwanted)) return false;
  Link& link = *std::get<Connected>(connection_).link;
  link.expect(result_bytes);
  if (unwanted) link.add(framed({.type = FrameType::cancel, .task = header.task, .attempt = header.attempt}));
  return true;
}

bool Client::refused(const FrameHeader& header, std::span<const std::byte> payload) {
  Refusal refusal;
  if (!decode(payload, refusal)) return false;
  if (std::get<Connected>(connection_).phase == Phase::greeting) {  // it concerns the connection as a whole
    trouble_ = refusal.why;
    end_all(refusal);
    return false;
  }
  if (!book_.refused(header, refusal)) return false;
  acknowledge(header);
  return true;
}

void Client::acknowledge(const FrameHeader& header) {
  std::get<Connected>(connection_)
      .link->add(framed({.type = FrameType::ack, .task = header.task, .attempt = header.attempt}));
}

bool Client::state_came(const FrameHeader& header, std::span<const std::byte> payload) {
  const auto at = std::ranges::find(states_, header.task, &std::pair<std::uint64_t, void*>::first);
  if (at == states_.end()) return false;
  End end{.task = at->first, .tag = at->second, .outcome = {ROTA_ACCEL_DONE, ""}, .runs = 1, .result = {}, .own = {}};
  end.own.reset(static_cast<std::byte*>(std::malloc(payload.size() + 1)));
  if (!end.own) return false;
  std::ranges::copy(payload, end.own.get());
  end.result = {end.own.get(), payload.size()};
  states_.erase(at);
  std::vector<End> ends;
  ends.push_back(std::move(end));
  ends_.put(std::move(ends));
  return true;
}

}  // namespace rota::accel

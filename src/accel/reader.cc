#include "accel/reader.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "accel/state_text.h"

namespace rota::accel {
namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t kWakeup = 0;  // then the listeners, then sessions
constexpr auto kHelloTime = 5s;
constexpr auto kLookPeriod = 200ms;

// The kernel says which user is at the other end of a Unix socket: the container's own, or root.
bool is_welcome(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == ::geteuid() || peer.uid == 0;
}

void set(int socket, int level, int option, int value) { ::setsockopt(socket, level, option, &value, sizeof value); }

}  // namespace

Reader::Reader(Pipeline& pipeline, std::vector<Listener> listeners)
    : pipeline_(pipeline),
      listeners_(std::move(listeners)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      admission_(pipeline),
      next_session_(listeners_.size() + 1) {
  watch(pipeline_.reader.file(), kWakeup);
  for (std::size_t i = 0; i < listeners_.size(); ++i) watch(listeners_[i].socket.get(), i + 1);
}

void Reader::watch(int file, std::uint64_t number) const {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = number;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, file, &event);
}

void Reader::run() {
  std::array<epoll_event, 64> events;
  while (!pipeline_.stops) {
    const bool quiet = sessions_.empty() && drain_ != Drain::announced;
    const int patience = !with_more_.empty() ? 0 : quiet ? -1 : static_cast<int>(kLookPeriod.count());
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), patience);
    for (const std::uint64_t number : std::exchange(with_more_, {})) receive(number);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t number = events[static_cast<std::size_t>(i)].data.u64;
      if (number == kWakeup) {
        pipeline_.reader.clear();
      } else if (number <= listeners_.size()) {
        accept(listeners_[number - 1]);
      } else {
        receive(number);
      }
    }
    if (pipeline_.draining && drain_ == Drain::no) announce_drain();
    admission_.advance();
    drop_stalled();
    if (drain_ == Drain::announced && admission_.tasks() == 0) {
      drain_ = Drain::done;
      pipeline_.drained.ring();
    }
  }
}

void Reader::accept(const Listener& listener) {
  process::Descriptor socket(::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket || !has_room()) return;
  if (!listener.tcp && !is_welcome(socket.get())) return;
  if (listener.tcp) {
    set(socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);  // a grant that waits for an acknowledgement costs 40 ms
    set(socket.get(), SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(pipeline_.options.stall.count()));
  }
  const std::uint64_t number = next_session_++;
  watch(socket.get(), number);
  sessions_.try_emplace(number, pipeline_, admission_,
                        std::make_shared<Session>(number, std::move(socket), listener.tcp ? pipeline_.key : nullptr),
                        [this] { return state(); });
}

// Else the oldest of those that have not greeted yet gives way: connections alone keep no client out.
bool Reader::has_room() {
  if (sessions_.size() < pipeline_.options.clients) return true;
  const auto silent = std::ranges::find_if(sessions_, [](const auto& one) { return !one.second.greeted(); });
  if (silent == sessions_.end()) return false;
  close(silent->first);
  return true;
}

void Reader::receive(std::uint64_t session) {
  const auto at = sessions_.find(session);
  if (at == sessions_.end()) return;
  const FrameReader::Outcome outcome = at->second.receive();
  if (outcome == FrameReader::Outcome::more) {
    with_more_.insert(session);
  } else if (outcome != FrameReader::Outcome::open) {
    close(session);
  }
}

void Reader::close(std::uint64_t number) {
  const auto at = sessions_.find(number);
  const SessionPtr session = at->second.session();
  session->break_off();
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, session->channel().socket(), nullptr);
  sessions_.erase(at);
  admission_.forget(number);
  pipeline_.writer.ring();  // which lets go of what it has for the client
}

void Reader::drop_stalled() {
  const SteadyTime now = std::chrono::steady_clock::now();
  if (now - looked_ < kLookPeriod) return;
  looked_ = now;
  std::vector<std::uint64_t> stalled;
  for (const auto& [number, session] : sessions_) {
    const auto patience = session.greeted() ? pipeline_.options.stall : kHelloTime;
    if (session.session()->broken() || session.stalls_since(now - patience)) stalled.push_back(number);
  }
  for (const std::uint64_t number : stalled) close(number);
}

void Reader::announce_drain() {
  drain_ = Drain::announced;
  admission_.drain();
  for (const auto& [number, session] : sessions_)
    if (session.greeted()) pipeline_.send(session.session(), {.type = FrameType::drain});
}

std::string Reader::state() const { return state_text(pipeline_, admission_, sessions_.size()); }

}  // namespace rota::accel

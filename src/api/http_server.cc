#include "api/http_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <thread>
#include <vector>

#include "api/http_connection.h"
#include "api/listen_address.h"
#include "base/file.h"

namespace rota::api {

namespace asio = boost::asio;
using Local = asio::local::stream_protocol;
using asio::ip::tcp;
using Code = boost::system::error_code;

struct HttpServer::Impl : std::enable_shared_from_this<HttpServer::Impl> {
  Impl(asio::io_context& context, const ServerOptions& asked)
      : io(context), all(asked), local(context), looks(context) {}

  asio::io_context& io;
  Connections all;
  CallerOf caller_of;
  Local::acceptor local;
  std::deque<tcp::acceptor> remote;  // they stay where they are when one more comes
  bool for_page = false;             // the only one of them is for browsers on this computer
  std::unique_ptr<TlsFiles> tls;
  dev_t device = 0;  // of the socket's file, as it was made
  ino_t inode = 0;
  asio::steady_timer looks;

  Result<void> listen();
  void keep_there();
  Result<std::string> listen_remote(const tcp::endpoint& endpoint);
  template <class Acceptor>
  void accept(Acceptor& acceptor);
  template <class Acceptor>
  void welcome_more(Acceptor& acceptor);
  void welcome(Local::socket socket);
  void welcome(tcp::socket socket);
  void enter(const std::shared_ptr<Connection>& connection, const Peer& peer);
};

// ---- all connections

bool Connections::admit(const std::shared_ptr<Connection>& connection, const Peer& peer) {
  if (!peer.caller) {
    make_room_for_stranger(peer.key);
    strangers_.push_back({connection, peer.key});
  } else {
    const auto of = of_.find(peer.key);
    if (!peer.caller->operates && of != of_.end() && of->second >= options.most_of_one) return false;
    ++of_[peer.key];
  }
  all_.insert(connection);
  return true;
}

// A peer that shows a token does so at once: the oldest stranger is the likeliest never to.
void Connections::make_room_for_stranger(const std::string& peer) {
  const auto of_peer = [&](const Stranger& stranger) { return stranger.peer == peer; };
  const auto of_this_peer = static_cast<std::size_t>(std::ranges::count_if(strangers_, of_peer));
  auto oldest = strangers_.end();
  if (of_this_peer >= options.most_strangers_of_one) {
    oldest = std::ranges::find_if(strangers_, of_peer);
  } else if (strangers_.size() >= options.most_strangers) {
    oldest = strangers_.begin();
  }
  if (oldest == strangers_.end()) return;
  const auto goes = oldest->connection;
  goes->drop();  // which has it let go
}

bool Connections::known(const std::shared_ptr<Connection>& connection, Peer& peer, std::uint32_t uid) {
  const auto found = std::ranges::find(strangers_, connection, &Stranger::connection);
  if (found == strangers_.end()) return true;
  const std::string user = "by TCP " + std::to_string(uid);
  const auto of = of_.find(user);
  if ((of != of_.end() && of->second >= options.most_of_one) || remote_ >= options.most_remote) return false;
  strangers_.erase(found);
  peer.key = user;
  ++of_[peer.key];
  ++remote_;
  return true;
}

void Connections::let_go(const std::shared_ptr<Connection>& connection, const Peer& peer) {
  if (all_.erase(connection) == 0) return;
  if (const auto found = std::ranges::find(strangers_, connection, &Stranger::connection); found != strangers_.end())
    return void(strangers_.erase(found));
  if (!peer.caller) --remote_;
  if (const auto of = of_.find(peer.key); --of->second == 0) of_.erase(of);
}

namespace {

class Large {
 public:
  Large(std::shared_ptr<std::multiset<std::string>> all, const std::string& asker)
      : all_(std::move(all)), place_(all_->insert(asker)) {}
  ~Large() { all_->erase(place_); }
  Large(const Large&) = delete;
  Large& operator=(const Large&) = delete;

 private:
  std::shared_ptr<std::multiset<std::string>> all_;
  std::multiset<std::string>::iterator place_;
};

}  // namespace

std::shared_ptr<const void> Connections::begin_large(const std::string& asker, bool operates) {
  if ((!operates && large_->size() >= options.most_large) || large_->count(asker) >= options.most_large_of_one)
    return nullptr;
  return std::make_shared<const Large>(large_, asker);
}

// Where none is on the way, an answer of any size may go.
bool Connections::begin_answer(const std::string& peer, std::size_t bytes, bool must) {
  const auto of = answers_.find(peer);
  const std::size_t on_the_way = of == answers_.end() ? 0 : of->second;
  const auto too_much = [bytes](std::size_t before, std::size_t most) { return before > 0 && before + bytes > most; };
  const bool refused = too_much(on_the_way, options.most_answers_of_one) || too_much(answering_, options.most_answers);
  if (refused && !must) return false;
  answering_ += bytes;
  answers_[peer] += bytes;
  return true;
}

void Connections::end_answer(const std::string& peer, std::size_t bytes) {
  answering_ -= bytes;
  if (const auto of = answers_.find(peer); (of->second -= bytes) == 0) answers_.erase(of);
}

void Connections::stop() {
  stopping = true;
  const auto connections = all_;
  for (const auto& connection : connections) connection->stop();
}

namespace {

std::unexpected<Error> cannot_listen(const std::string& path, const std::string& why) {
  return fail("cannot listen at {}: {}. Name another path with --socket.", shown_path(path), why);
}

bool service_answers(const std::string& path) {
  asio::io_context io;
  Local::socket socket(io);
  Code error;
  socket.connect(Local::endpoint(path), error);
  return !error;
}

// A process that a service was just making when it was killed has its socket for a moment longer.
bool service_goes_on_answering(const std::string& path) {
  constexpr int kTries = 20;
  constexpr std::chrono::milliseconds kPause{50};
  for (int i = 0; i < kTries; ++i) {
    if (!service_answers(path)) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

}  // namespace

Result<void> HttpServer::Impl::listen() {
  Code error;
  if (all.options.listening >= 0) {
    local.assign(Local(), all.options.listening, error);
    if (error) return cannot_listen("the socket that was handed over", error.message());
    return {};
  }
  if (all.options.path.size() >= sizeof(sockaddr_un{}.sun_path))
    return cannot_listen(all.options.path, "the path is too long for a socket (107 characters at most)");
  if (service_goes_on_answering(all.options.path))
    return cannot_listen(all.options.path, "another service answers there");
  struct stat there{};
  if (::lstat(all.options.path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) return cannot_listen(all.options.path, "there is a file that is no socket");
    ::unlink(all.options.path.c_str());
  }
  const mode_t before = ::umask(all.options.for_all_users ? 0111 : 0177);
  local.open(Local(), error);
  if (!error) local.bind(Local::endpoint(all.options.path), error);
  ::umask(before);
  if (!error) local.listen(4096, error);
  if (error) return cannot_listen(all.options.path, error.message());
  ::fcntl(local.native_handle(), F_SETFD, FD_CLOEXEC);
  if (::lstat(all.options.path.c_str(), &there) == 0) {
    device = there.st_dev;
    inode = there.st_ino;
  }
  return {};
}

// Only this user and root can change what is in the folder, or, as in /tmp, all can only add to it.
bool is_safe(const std::string& folder) {
  struct stat found{};
  if (::stat(folder.c_str(), &found) != 0 || ::access(folder.c_str(), W_OK) != 0) return false;
  const bool shared = (found.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (found.st_mode & S_ISVTX) == 0;
  return (found.st_uid == ::geteuid() || found.st_uid == 0) && !shared;
}

// The folder of the socket may go while the service runs: that of a user (XDG_RUNTIME_DIR) with the last logout. The
// service makes that folder again where it may; where another user has made it, it does not listen there.
void HttpServer::Impl::keep_there() {
  constexpr std::chrono::seconds kEvery{1};
  looks.expires_after(kEvery);
  looks.async_wait([self = shared_from_this()](Code error) {
    if (error || self->all.stopping) return;
    const std::string& path = self->all.options.path;
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    struct stat there{};
    if (::lstat(path.c_str(), &there) != 0 && errno == ENOENT) {
      if (!folder.empty()) ::mkdir(folder.c_str(), self->all.options.for_all_users ? 0755 : 0700);
      if (is_safe(folder.empty() ? "." : folder)) {
        self->local.close(error);
        static_cast<void>(self->listen());  // what waits for connections goes on with this one
      }
    }
    self->keep_there();
  });
}

template <class Acceptor>
void HttpServer::Impl::accept(Acceptor& acceptor) {
  acceptor.async_accept([self = shared_from_this(), &acceptor](Code error, auto socket) {
    if (self->all.stopping) return;
    if (error) {  // of descriptors, above all: better luck in a moment
      const auto again = std::make_shared<asio::steady_timer>(self->io, std::chrono::milliseconds(50));
      again->async_wait([self, &acceptor, again](Code) {
        if (!self->all.stopping) self->accept(acceptor);
      });
      return;
    }
    self->welcome(std::move(socket));
    self->welcome_more(acceptor);
    self->accept(acceptor);
  });
}

// Connections that wait behind one to be accepted are accepted with it: else each of them would wait while a request of
// those before it is carried out.
template <class Acceptor>
void HttpServer::Impl::welcome_more(Acceptor& acceptor) {
  constexpr int kAtOnce = 256;
  constexpr std::chrono::milliseconds kPatience{2};  // their users may have to be looked up far away
  const auto until = std::chrono::steady_clock::now() + kPatience;
  Code error;
  acceptor.non_blocking(true, error);
  for (int n = 0; n < kAtOnce && !error && std::chrono::steady_clock::now() < until; ++n) {
    auto socket = acceptor.accept(error);
    if (!error) welcome(std::move(socket));
  }
}

void HttpServer::Impl::welcome(Local::socket socket) {
  ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  const Peer client{caller_of(peer.uid, peer.gid), std::to_string(peer.uid)};
  enter(http_connection(Wire::plain(std::move(socket)), all, client), client);
}

void HttpServer::Impl::welcome(tcp::socket socket) {
  ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
  Code error;
  const auto from = socket.remote_endpoint(error);
  if (error) return;  // gone already
  socket.set_option(tcp::no_delay(true), error);
  socket.set_option(asio::socket_base::keep_alive(true), error);  // of streams: a peer that vanished silently is found
  const Peer client{std::nullopt, peer_at(from.address()), for_page};
  enter(
      http_connection(tls ? Wire::tls(std::move(socket), tls->context()) : Wire::plain(std::move(socket)), all, client),
      client);
}

void HttpServer::Impl::enter(const std::shared_ptr<Connection>& connection, const Peer& peer) {
  if (all.admit(connection, peer)) connection->begin();
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(asio::io_context& io, const ServerOptions& options) {
  auto impl = std::make_shared<Impl>(io, options);
  TRY(impl->listen());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

Result<std::string> HttpServer::Impl::listen_remote(const tcp::endpoint& endpoint) {
  Code error;
  tcp::acceptor acceptor(io);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(4096, error);
  if (error)
    return fail("cannot listen at {}: {}. `listen` in [service] names another address.", shown_endpoint(endpoint),
                error.message());
  ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  const std::string at = shown_endpoint(acceptor.local_endpoint());
  remote.push_back(std::move(acceptor));
  return (tls ? "https://" : "http://") + at;
}

Result<std::vector<std::string>> HttpServer::listen_remote(const std::string& listen, std::unique_ptr<TlsFiles> tls) {
  const auto endpoints = TRY(endpoints_of(impl_->io, listen));
  impl_->tls = std::move(tls);
  std::vector<std::string> addresses;
  for (const tcp::endpoint& endpoint : endpoints) {
    if (!impl_->tls && !endpoint.address().is_loopback()) return fail(needs_tls(listen));
    auto address = TRY(impl_->listen_remote(endpoint));
    addresses.push_back(std::move(address));
  }
  return addresses;
}

Result<std::string> HttpServer::listen_for_page() {
  auto address = impl_->listen_remote({asio::ip::address_v4::loopback(), 0});
  if (!address) return address;
  impl_->for_page = true;
  impl_->accept(impl_->remote.back());
  return address;
}

void HttpServer::answer(CallerOf caller_of, BearerOf bearer_of, Handler handler) {
  impl_->caller_of = std::move(caller_of);
  impl_->all.bearer_of = std::move(bearer_of);
  impl_->all.handler = std::move(handler);
  impl_->accept(impl_->local);
  if (impl_->all.options.listening < 0) impl_->keep_there();
  for (tcp::acceptor& acceptor : impl_->remote) impl_->accept(acceptor);
}

void HttpServer::stop() {
  if (impl_->all.stopping) return;
  Code ignored;
  impl_->local.close(ignored);
  impl_->looks.cancel();
  for (tcp::acceptor& acceptor : impl_->remote) acceptor.close(ignored);
  struct stat there{};
  const std::string& path = impl_->all.options.path;
  const bool ours = impl_->all.options.listening < 0 && ::lstat(path.c_str(), &there) == 0 &&
                    there.st_dev == impl_->device && there.st_ino == impl_->inode;
  if (ours) ::unlink(path.c_str());
  impl_->all.stop();
}

HttpServer::~HttpServer() { stop(); }

}  // namespace rota::api

#include "api/http_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <set>

#include "base/file.h"

namespace rota::api {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Local = asio::local::stream_protocol;
using Code = boost::system::error_code;

class Connection;

struct HttpServer::Impl : std::enable_shared_from_this<HttpServer::Impl> {
  Impl(asio::io_context& context, ServerOptions asked, CallerOf who, Handler what)
      : io(context),
        options(std::move(asked)),
        caller_of(std::move(who)),
        handler(std::move(what)),
        acceptor(context),
        again(context) {}

  asio::io_context& io;
  ServerOptions options;
  CallerOf caller_of;
  Handler handler;
  Local::acceptor acceptor;
  asio::steady_timer again;
  std::set<std::shared_ptr<Connection>> connections;
  bool stopping = false;

  Result<void> listen();
  void accept();
  std::size_t count(std::uint32_t uid) const;  // connections of a user
  dev_t device = 0;                            // of the socket's file, as it was made
  ino_t inode = 0;
};

// One connection: request by request, or a stream until it goes.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Local::socket socket, HttpServer::Impl& server) : stream_(std::move(socket)), server_(server) {}

  void begin() {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(stream_.socket().native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return close();
    caller_ = server_.caller_of(peer.uid, peer.gid);
    if (!caller_.operates && server_.count(peer.uid) > server_.options.most_of_one) return close();
    read();
  }

  void send(std::uint64_t turn, Response response) {
    if (turn != turn_ || answered_) return;
    answered_ = true;
    response_.emplace(static_cast<http::status>(response.status), request_version_);
    response_->set(http::field::server, "rota");
    response_->set(http::field::content_type, response.type);
    for (const auto& [name, value] : response.headers) response_->set(name, value);
    response_->keep_alive(keep_alive_ && !server_.stopping);
    response_->body() = std::move(response.body);
    response_->prepare_payload();
    if (head_) response_->body().clear();  // the header tells of what GET would give
    stream_.expires_after(std::chrono::seconds(server_.options.request_seconds));
    http::async_write(stream_, *response_, [self = shared_from_this()](Code error, std::size_t) {
      if (error || !self->response_->keep_alive()) return self->close();
      self->read();
    });
  }

  void stream(std::uint64_t turn, const std::string& type, std::function<void()> gone) {
    if (turn != turn_ || answered_) return gone();
    answered_ = true;
    gone_ = std::move(gone);
    stream_.expires_never();
    streaming_ = true;
    parser_.reset();  // it stays for long, and there may be thousands
    buffer_ = {};
    write(turn, "HTTP/1.1 200 OK\r\nServer: rota\r\nContent-Type: " + type +
                    "\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n");
    watch();
  }

  bool write(std::uint64_t turn, std::string text) {
    if (turn != turn_ || !streaming_) return false;
    waiting_ += text.size();
    if (waiting_ > server_.options.most_waiting) {
      close();
      return false;
    }
    queue_.push_back(std::move(text));
    if (queue_.size() == 1) write_next();
    return true;
  }

  bool lags() const { return !queue_.empty(); }
  void when_out(std::function<void()> call) { out_ = std::move(call); }

  std::uint32_t uid() const { return caller_.uid; }

  void close() {
    streaming_ = false;
    ++turn_;
    Code ignored;
    stream_.socket().close(ignored);
    out_ = {};
    if (const auto gone = std::exchange(gone_, {})) gone();
    server_.connections.erase(shared_from_this());
  }
  // Between requests at once, else behind the answer.
  void stop() {
    if (reading_ || streaming_) close();
  }

 private:
  // Of this turn: an answer that comes too late is not taken for that of the next request.
  class ReplyOf final : public Reply {
   public:
    ReplyOf(std::weak_ptr<Connection> connection, std::uint64_t turn)
        : connection_(std::move(connection)), turn_(turn) {}
    void send(Response response) override {
      if (const auto to = connection_.lock()) to->send(turn_, std::move(response));
    }
    void stream(const std::string& type, std::function<void()> gone) override {
      if (const auto to = connection_.lock()) return to->stream(turn_, type, std::move(gone));
      gone();
    }
    bool write(std::string text) override {
      const auto to = connection_.lock();
      return to && to->write(turn_, std::move(text));
    }
    bool lags() const override {
      const auto to = connection_.lock();
      return to && to->lags();
    }
    void when_out(std::function<void()> call) override {
      if (const auto to = connection_.lock()) to->when_out(std::move(call));
    }

   private:
    std::weak_ptr<Connection> connection_;
    std::uint64_t turn_;
  };

  void read() {
    buffer_.reserve(16 << 10);  // else a request comes in pieces of 512 bytes
    parser_.emplace();
    parser_->body_limit(server_.options.most_body);
    parser_->header_limit(64 << 10);
    reading_ = true;
    answered_ = false;
    ++turn_;
    stream_.expires_after(std::chrono::seconds(server_.options.request_seconds));
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](Code error, std::size_t) {
      self->reading_ = false;
      error ? self->refuse(error) : self->take();
    });
  }

  // What was no request is told so, as far as that makes sense, and the connection ends.
  void refuse(Code error) {
    keep_alive_ = false;
    if (error == http::error::body_limit) return send(turn_, problem(413, "the request is too large."));
    if (error == http::error::header_limit) return send(turn_, problem(431, "the request's header is too large."));
    if (error.category() == make_error_code(http::error::bad_method).category() && error != http::error::end_of_stream)
      return send(turn_, problem(400, "this is no HTTP request that makes sense: " + error.message() + "."));
    close();
  }

  void take() {
    auto message = parser_->release();
    keep_alive_ = message.keep_alive();
    request_version_ = message.version();
    Request request;
    request.method = std::string(message.method_string());
    head_ = request.method == "HEAD";
    if (head_) request.method = "GET";
    request.idempotency_key = std::string(message["Idempotency-Key"]);
    request.last_event_id = std::string(message["Last-Event-ID"]);
    request.caller = caller_;
    const bool sound = take_apart({message.target().data(), message.target().size()}, request);
    request.body = std::move(message.body());
    stream_.expires_never();
    const auto reply = std::make_shared<ReplyOf>(weak_from_this(), turn_);
    if (!sound) return reply->send(problem(400, "the request's path makes no sense."));
    server_.handler(request, reply);
  }

  void write_next() {
    asio::async_write(stream_, asio::buffer(queue_.front()), [self = shared_from_this()](Code error, std::size_t) {
      if (error || !self->streaming_) return self->close_if_open();
      self->waiting_ -= self->queue_.front().size();
      self->queue_.pop_front();
      if (!self->queue_.empty()) return self->write_next();
      if (self->out_) self->out_();
    });
  }
  void close_if_open() {
    if (stream_.socket().is_open()) close();
  }
  // Of a stream: whatever comes is nothing to us, but the end of it is.
  void watch() {
    stream_.async_read_some(asio::buffer(ignored_), [self = shared_from_this()](Code error, std::size_t) {
      if (error) return self->close_if_open();
      self->watch();
    });
  }

  beast::basic_stream<Local> stream_;
  HttpServer::Impl& server_;
  serve::Caller caller_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::deque<std::string> queue_;
  std::size_t waiting_ = 0;
  std::array<char, 512> ignored_{};
  std::function<void()> gone_;
  std::function<void()> out_;
  std::uint64_t turn_ = 0;
  unsigned request_version_ = 11;
  bool keep_alive_ = true;
  bool head_ = false;
  bool reading_ = false;
  bool answered_ = false;
  bool streaming_ = false;
};

std::size_t HttpServer::Impl::count(std::uint32_t uid) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(connections, [&](const auto& connection) { return connection->uid() == uid; }));
}

namespace {

std::unexpected<Error> cannot_listen(const std::string& path, const std::string& why) {
  return fail("nobody can be heard at " + shown_path(path) + ": " + why + ". Name another path with --socket.");
}

bool somebody_answers(const std::string& path) {
  asio::io_context io;
  Local::socket socket(io);
  Code error;
  socket.connect(Local::endpoint(path), error);
  return !error;
}

}  // namespace

Result<void> HttpServer::Impl::listen() {
  Code error;
  if (options.listening >= 0) {
    acceptor.assign(Local(), options.listening, error);
    if (error) return cannot_listen("the socket that was handed over", error.message());
    return {};
  }
  if (options.path.size() >= sizeof(sockaddr_un{}.sun_path))
    return cannot_listen(options.path, "the path is too long for a socket (107 characters at most)");
  if (somebody_answers(options.path)) return cannot_listen(options.path, "another service answers there");
  struct stat there{};
  if (::lstat(options.path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode)) return cannot_listen(options.path, "there is a file that is no socket");
    ::unlink(options.path.c_str());
  }
  const mode_t before = ::umask(options.for_everybody ? 0111 : 0177);
  acceptor.open(Local(), error);
  if (!error) acceptor.bind(Local::endpoint(options.path), error);
  ::umask(before);
  if (!error) acceptor.listen(4096, error);
  if (error) return cannot_listen(options.path, error.message());
  ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  if (::lstat(options.path.c_str(), &there) == 0) {
    device = there.st_dev;
    inode = there.st_ino;
  }
  return {};
}

void HttpServer::Impl::accept() {
  acceptor.async_accept([self = shared_from_this()](Code error, Local::socket socket) {
    if (self->stopping) return;
    if (error) {  // of descriptors, above all: better luck in a moment
      self->again.expires_after(std::chrono::milliseconds(50));
      self->again.async_wait([self](Code stopped) {
        if (!stopped) self->accept();
      });
      return;
    }
    ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
    const auto connection = std::make_shared<Connection>(std::move(socket), *self);
    self->connections.insert(connection);
    connection->begin();
    self->accept();
  });
}

Result<std::unique_ptr<HttpServer>> HttpServer::open(asio::io_context& io, const ServerOptions& options,
                                                     CallerOf caller_of, Handler handler) {
  auto impl = std::make_shared<Impl>(io, options, std::move(caller_of), std::move(handler));
  if (auto listens = impl->listen(); !listens) return std::unexpected(listens.error());
  impl->accept();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

void HttpServer::stop() {
  if (impl_->stopping) return;
  impl_->stopping = true;
  Code ignored;
  impl_->acceptor.close(ignored);
  impl_->again.cancel();
  struct stat there{};
  const bool ours = impl_->options.listening < 0 && ::lstat(impl_->options.path.c_str(), &there) == 0 &&
                    there.st_dev == impl_->device && there.st_ino == impl_->inode;
  if (ours) ::unlink(impl_->options.path.c_str());
  const auto connections = impl_->connections;
  for (const auto& connection : connections) connection->stop();
}

HttpServer::~HttpServer() { stop(); }

}  // namespace rota::api

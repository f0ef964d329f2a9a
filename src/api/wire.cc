#include "api/wire.h"

#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace rota::api {
namespace {

namespace asio = boost::asio;
using Code = boost::system::error_code;

class PlainWire final : public Wire {
 public:
  explicit PlainWire(StreamSocket socket) : Wire(std::move(socket)) {}
  void agree(Done done) override { done({}, 0); }
  void read(asio::mutable_buffer into, Done done) override { socket_.async_read_some(into, std::move(done)); }
  void write(std::array<asio::const_buffer, 2> all, Done done) override {
    asio::async_write(socket_, all, std::move(done));
  }
  void end(Done done) override {
    Code ignored;
    socket_.shutdown(asio::socket_base::shutdown_send, ignored);
    done({}, 0);
  }
};

class TlsWire final : public Wire {
 public:
  TlsWire(StreamSocket socket, std::shared_ptr<asio::ssl::context> context)
      : Wire(std::move(socket)), context_(std::move(context)), stream_(socket_, *context_) {}
  void agree(Done done) override {
    stream_.async_handshake(asio::ssl::stream_base::server, [done = std::move(done)](Code error) { done(error, 0); });
  }
  void read(asio::mutable_buffer into, Done done) override { stream_.async_read_some(into, std::move(done)); }
  void write(std::array<asio::const_buffer, 2> all, Done done) override {
    asio::async_write(stream_, all, std::move(done));
  }
  void end(Done done) override {
    stream_.async_shutdown([this, done = std::move(done)](Code) {
      Code ignored;
      socket_.shutdown(asio::socket_base::shutdown_send, ignored);
      done({}, 0);
    });
  }

 private:
  std::shared_ptr<asio::ssl::context> context_;
  asio::ssl::stream<StreamSocket&> stream_;
};

}  // namespace

std::shared_ptr<Wire> Wire::plain(StreamSocket socket) { return std::make_shared<PlainWire>(std::move(socket)); }

std::shared_ptr<Wire> Wire::tls(StreamSocket socket, std::shared_ptr<asio::ssl::context> context) {
  return std::make_shared<TlsWire>(std::move(socket), std::move(context));
}

void Wire::read_rest(asio::mutable_buffer into, Done done) { socket_.async_read_some(into, std::move(done)); }

void Wire::wait_for(std::chrono::milliseconds longest) {
  wait_for_ever();
  deadline_.expires_after(longest);
  deadline_.async_wait([wire = weak_from_this(), wait = waits_](Code error) {
    const auto self = wire.lock();
    if (!error && self && wait == self->waits_) self->close();
  });
}

void Wire::wait_for_ever() {
  ++waits_;  // a wait that is over already, and whose handler waits for its turn, closes nothing
  deadline_.cancel();
}

void Wire::close() {
  Code ignored;
  deadline_.cancel();
  socket_.close(ignored);
}

}  // namespace rota::api

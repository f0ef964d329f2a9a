// The bytes of one connection, over a Unix socket or TCP, in the clear or by TLS. One operation of each kind at a time;
// a deadline ends the connection, and with it what is under way, by an error. Its buffers outlive an operation. One
// thread.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>

namespace rota::api {

using StreamSocket = boost::asio::generic::stream_protocol::socket;

class Wire : public std::enable_shared_from_this<Wire> {
 public:
  using Done = std::function<void(boost::system::error_code error, std::size_t bytes)>;

  static std::shared_ptr<Wire> plain(StreamSocket socket);
  static std::shared_ptr<Wire> tls(StreamSocket socket, std::shared_ptr<boost::asio::ssl::context> context);
  virtual ~Wire() = default;

  virtual void agree(Done done) = 0;                                   // on TLS, before all else
  virtual void read(boost::asio::mutable_buffer into, Done done) = 0;  // some bytes
  virtual void write(std::array<boost::asio::const_buffer, 2> all, Done done) = 0;
  virtual void end(Done done) = 0;                              // nothing more will be written
  void read_rest(boost::asio::mutable_buffer into, Done done);  // behind end(): as the bytes come

  // From now on, until said otherwise. Behind that the connection is closed.
  void wait_for(std::chrono::milliseconds longest);
  void wait_for_ever();
  void close();

  auto executor() { return socket_.get_executor(); }

 protected:
  explicit Wire(StreamSocket socket) : socket_(std::move(socket)), deadline_(socket_.get_executor()) {}
  StreamSocket socket_;

 private:
  boost::asio::steady_timer deadline_;
  std::uint64_t waits_ = 0;
};

}  // namespace rota::api

// HTTP/1.1 on a Unix socket, by Boost.Beast. Who asks is what the kernel says of the other end of the socket. Slow,
// oversized and malformed requests are answered and let go; none of them holds up the others. One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>

#include "api/http.h"
#include "base/result.h"

namespace rota::api {

struct ServerOptions {
  std::string path;                    // of the socket
  bool for_everybody = false;          // any user of this computer may connect; else only who may write to the folder
  int listening = -1;                  // a socket that listens already (socket activation), instead of the path
  std::size_t most_body = 16 << 20;    // bytes
  std::size_t most_of_one = 256;       // connections of one user who is no operator
  int request_seconds = 30;            // within which a request has to be there
  std::size_t most_waiting = 8 << 20;  // bytes that a stream may be behind before it is let go
};

// Names the user of a peer and says what it may do.
using CallerOf = std::function<serve::Caller(std::uint32_t uid, std::uint32_t gid)>;

class HttpServer {
 public:
  // Listens. A socket that nobody answers on any more is replaced; one that somebody answers on is an error.
  static Result<std::unique_ptr<HttpServer>> open(boost::asio::io_context& io, const ServerOptions& options,
                                                  CallerOf caller_of, Handler handler);
  ~HttpServer();
  // Takes no connections any more and closes those that there are, once what is being sent has gone out.
  void stop();

  struct Impl;

 private:
  explicit HttpServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace rota::api

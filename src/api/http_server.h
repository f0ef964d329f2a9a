// HTTP/1.1 on a Unix socket and, when asked for, on TCP, by Boost.Beast. On the Unix socket the kernel names the user
// that asks; on TCP a bearer token does, with every request. Slow, oversized and malformed requests are answered and
// let go; none of them holds up the others. One thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/http.h"
#include "api/tls_files.h"
#include "base/result.h"

namespace rota::api {

struct ServerOptions {
  std::string path;                      // of the socket
  bool for_all_users = false;            // any user of this computer may connect; else only those that may write there
  int listening = -1;                    // a socket that listens already (socket activation), instead of the path
  std::size_t most_body = 16 << 20;      // bytes
  std::size_t most_small = kLargeBody;   // a body beyond that is a large one, and has to say its length beforehand
  std::size_t most_large = 8;            // from headers until carried out; operators are not bounded by that
  std::size_t most_large_of_one = 2;     // of them of one user or address
  std::size_t most_answers = 512 << 20;  // bytes of large answers (beyond most_small) on their way out
  std::size_t most_answers_of_one = 64 << 20;  // of them to one user or address
  std::size_t most_of_one = 256;               // connections of one user; of an operator by TCP alone
  std::size_t most_strangers = 1024;           // by TCP, that have shown no token
  std::size_t most_strangers_of_one = 256;     // of them of one address
  std::size_t most_remote = 4096;              // connections by TCP
  int handshake_seconds = 10;                  // within which TLS has to be agreed on
  int request_seconds = 30;                    // within which a request has to be there
  std::size_t most_waiting = 8 << 20;          // bytes that a stream may be behind before it is let go
};

// Names the user of a peer and says what it may do.
using CallerOf = std::function<serve::Caller(std::uint32_t uid, std::uint32_t gid)>;

// The user that a token stands for.
struct Bearer {
  serve::Caller caller;
  bool read_only = false;
  PageKey page_key = PageKey::none;
};
using BearerOf = std::function<std::optional<Bearer>(std::string_view token)>;

class HttpServer {
 public:
  // Listens. A socket on which no service answers any more is replaced; one on which a service answers for a second, in
  // which this blocks, is an error. A client that connects waits until answer() is called.
  static Result<std::unique_ptr<HttpServer>> open(boost::asio::io_context& io, const ServerOptions& options);
  ~HttpServer();

  // Listens on TCP too: "host:port", with TLS, or without it on addresses of this computer alone, which no other
  // reaches. Gives the addresses, as "https://HOST:PORT"; a port that is 0 is one that is free. Fails with a sentence.
  Result<std::vector<std::string>> listen_remote(const std::string& listen, std::unique_ptr<TlsFiles> tls);
  // Listens at 127.0.0.1 too, at a port that the kernel chooses, and answers there at once; for a server that answers,
  // and listens on no other TCP. Gives the address, as "http://127.0.0.1:PORT". Fails with a sentence.
  Result<std::string> listen_for_page();
  // From now on. By TCP every request needs a token.
  void answer(CallerOf caller_of, BearerOf bearer_of, Handler handler);
  // Takes no connections any more and closes those that there are: between requests at once, else behind the answer, as
  // far as the loop goes on. What has no answer yet is told that the service stops.
  void stop();

  struct Impl;

 private:
  explicit HttpServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace rota::api

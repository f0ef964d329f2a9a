// HTTP/1.1 to a service of Rota on its Unix socket: one request, one answer, then the connection is closed.
// Errors are sentences that say what to do. Blocks; from any thread.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace rota::cli {

// Where the service listens: what --socket says, else ROTA_SOCKET, else $XDG_RUNTIME_DIR/rota/socket, else (of root,
// and where there is no such folder) /run/rota/socket.
std::string socket_path(const std::string& given);

struct HttpRequest {
  std::string verb = "GET";
  std::string target;  // "/v1/jobs?user=ada"
  std::string body;    // JSON; empty: none
  std::string key;     // the Idempotency-Key: with one, and of GET, a request whose answer was lost is sent once more
};

struct HttpAnswer {
  unsigned status = 0;
  std::string type;                            // of the body: "application/json"
  std::map<std::string, std::string> headers;  // by name in small letters
  std::string body;
};

class ServiceClient {
 public:
  explicit ServiceClient(std::string socket) : socket_(std::move(socket)) {}

  // Any answer, whatever its status. Fails where nobody answers, or with what is no HTTP.
  Result<HttpAnswer> exchange(const HttpRequest& request) const;

  const std::string& socket() const { return socket_; }

 private:
  std::string socket_;
};

// Text as a value behind "?name=": letters, digits and "-._~," stay, all else as %XX.
std::string percent_encoded(const std::string& text);

}  // namespace rota::cli

// HTTP/1.1 to a service of Rota on its Unix socket or by TCP: one request, one answer, then the connection is closed.
// Errors are sentences that say what to do. Blocks; from any thread.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "base/result.h"
#include "cli/live/service_address.h"

namespace rota::cli {

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
  explicit ServiceClient(Result<ServiceAddress> address) : address_(std::move(address)) {}

  // Any answer, whatever its status. Fails where no service answers, or with what is no HTTP. A service that was there
  // a moment ago, or whose socket still is, may be starting again: it is given a few seconds. So is one that
  // says that it has too much to do just now (503 with Retry-After), where the request may be sent once more.
  Result<HttpAnswer> exchange(const HttpRequest& request) const;

  // From now on a service that has answered and is away, as while it is replaced by a newer one, is waited for up to an
  // hour, which is told once: for commands that follow jobs, which go on meanwhile.
  void follow() const { follows_ = true; }
  // How long an answer may take, in place of two minutes.
  void answers_within(std::chrono::seconds patience) { patience_ = patience; }

  bool remote() const { return address_ && address_->remote(); }
  std::string socket() const { return address_ ? address_->socket : ""; }  // a path; empty where it is remote
  std::string shown() const { return address_ ? address_->shown() : "nowhere"; }

 private:
  Result<ServiceAddress> address_;
  std::chrono::seconds patience_{120};  // of one request; a service that is stopped does not hold us up
  mutable bool follows_ = false, answered_ = false;
};

// Text as a value behind "?name=": letters, digits and "-._~," stay, all else as %XX.
std::string percent_encoded(const std::string& text);

}  // namespace rota::cli

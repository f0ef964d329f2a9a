// HTTP as the routes see it: requests and responses as plain data. The bytes are http_server's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "serve/submission.h"

namespace rota::api {

// What of the page a browser shows: a session, or the code of an address, which is for a session and nothing else.
enum class PageKey : std::uint8_t { none, session, code };

struct Request {
  std::string method;
  std::string path;                          // decoded, without the query
  std::map<std::string, std::string> query;  // decoded
  std::string twice;                         // the first member of the query that comes twice; empty: none does
  std::string body;
  std::string idempotency_key;
  std::string last_event_id;
  std::string host;        // what the request calls us
  std::string origin;      // of the page that asks, where a browser says so
  std::string fetch_site;  // the same, as another header of browsers
  serve::Caller caller;
  bool by_token = false;   // else the kernel names the user
  bool read_only = false;  // it may change nothing
  PageKey page_key = PageKey::none;
  std::string code = {};   // of an address that `rota page` printed, where that is what was shown
  bool page_port = false;  // it came by the port that was opened for browsers on this computer
  // For a large request: as long as this is held, its body takes memory, and counts among those that are under way.
  std::shared_ptr<const void> large = {};
};

// Bytes of a body that take so long to read that others would wait for it.
inline constexpr std::size_t kLargeBody = 1 << 20;

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

// The other end of one request. Answered once, or streamed to; what comes after the connection is gone is dropped.
class Reply {
 public:
  virtual ~Reply() = default;
  virtual void send(Response response) = 0;
  // Begins a stream that ends when the other side goes; `gone` is called once then.
  virtual void stream(const std::string& type, std::function<void()> gone) = 0;
  // Puts text into the stream. False: the other side is gone, or does not keep up and was let go.
  virtual bool write(std::string text) = 0;
  // Whether some of what was written has yet to go out; and what to call each time that all of it has.
  virtual bool lags() const = 0;
  virtual void when_out(std::function<void()> call) = 0;
  // Goes on with the request in another turn of the peer that asked, behind what it has waiting; also once the other
  // side is gone.
  virtual void again(std::function<void()> call) = 0;
  // No answer arrives: the service has closed the connection. A peer that hung up is noticed when it is answered.
  virtual bool gone() const = 0;
};

using Handler = std::function<void(const Request&, const std::shared_ptr<Reply>&)>;

// RFC 9457.
Response problem(int status, const std::string& detail);
// 503 with Retry-After: what was asked for can be had in a moment.
Response busy(const std::string& detail);

// "a%20b+c" to "a b c"; nothing where an escape is none.
bool decode_url(std::string_view text, std::string& into);

// The target of a request, "/v1/jobs?user=ann", taken apart. False where it makes no sense.
bool take_apart(std::string_view target, Request& request);

}  // namespace rota::api

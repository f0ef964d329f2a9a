// How a browser that has no token comes to the page: by an address with a code, which is exchanged for a session.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api/http_server.h"
#include "api/page_keys.h"

namespace rota::api {

inline constexpr Duration kPageCodeLife = seconds(60);
inline constexpr Duration kPageSessionLife = seconds(12 * 3600);
inline constexpr std::size_t kMostPageCodesOfOne = 8;
inline constexpr std::size_t kMostPageSessionsOfOne = 50;

// Not thread-safe.
class PageDoor {
 public:
  // Has the service listen where browsers reach it, and gives the address, "http://127.0.0.1:PORT".
  using Open = std::function<Result<std::string>()>;
  explicit PageDoor(Open open) : open_(std::move(open)) {}

  // The service listens there anyway.
  void stands_at(std::string address) { address_ = std::move(address); }
  // Opens at the first call.
  Result<std::string> address() {
    if (!address_.empty()) return address_;
    auto opened = open_();
    if (opened) address_ = *opened;
    return opened;
  }
  // Who shows the text of a session, or of a code, which counts no longer then.
  std::optional<Bearer> bearer(std::string_view text, Instant now) {
    if (auto of = sessions.find(text, now)) return Bearer{std::move(*of)};
    if (auto of = codes.take(text, now)) return Bearer{.caller = std::move(*of), .by_code = true};
    return std::nullopt;
  }

  PageKeys codes{kPageCodeLife, kMostPageCodesOfOne};
  PageKeys sessions{kPageSessionLife, kMostPageSessionsOfOne};

 private:
  Open open_;
  std::string address_;  // empty: it is not open yet
};

}  // namespace rota::api

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
  // The user that shows the text of a session, or of a code, which counts until it has been exchanged.
  std::optional<Bearer> bearer(std::string_view text, Instant now) const {
    if (auto of = sessions.find(text, now)) return Bearer{.caller = std::move(*of), .page_key = PageKey::session};
    if (auto of = codes.find(text, now)) return Bearer{.caller = std::move(*of), .page_key = PageKey::code};
    return std::nullopt;
  }
  // A session for a code; nothing: the code has been exchanged meanwhile. Where it fails the code still counts.
  std::optional<Result<std::string>> exchange(std::string_view code, Instant now) {
    const auto of = codes.find(code, now);
    if (!of) return std::nullopt;
    auto session = sessions.make(*of, now);
    if (session) codes.redeem(code, now);
    return session;
  }

  PageKeys codes{kPageCodeLife, kMostPageCodesOfOne};
  PageKeys sessions{kPageSessionLife, kMostPageSessionsOfOne};

 private:
  Open open_;
  std::string address_;  // empty: it is not open yet
};

}  // namespace rota::api

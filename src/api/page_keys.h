// Secret texts by which a browser is taken for a user for a while: the codes of addresses that `rota page` prints, and
// the sessions that they are exchanged for. They are in memory alone, as their SHA-256, and end with the service.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "serve/submission.h"

namespace rota::api {

// Not thread-safe.
class PageKeys {
 public:
  // Each counts for so long; so many are there at a time of one user, and of all.
  PageKeys(Duration life, std::size_t most_of_one, std::size_t most = 10'000)
      : life_(life), most_of_one_(most_of_one), most_(most) {}

  // A new one. Where its user has enough of them, or there are enough in all, the oldest goes. Fails where the system
  // gives no random bytes.
  Result<std::string> make(const serve::Caller& of, Instant now);
  // Whose it is; nothing: it is not known, or not any more.
  std::optional<serve::Caller> find(std::string_view text, Instant now) const;
  // The same, and it counts no longer.
  std::optional<serve::Caller> redeem(std::string_view text, Instant now);
  Duration life() const { return life_; }

 private:
  struct Key {
    std::string sha256;
    serve::Caller of;
    Instant ends;
  };

  Duration life_;
  std::size_t most_of_one_;
  std::size_t most_;
  std::deque<Key> keys_;  // the oldest first
};

}  // namespace rota::api

#include "api/page_keys.h"

#include <algorithm>

#include "api/secret.h"

namespace rota::api {
namespace {

constexpr std::size_t kBytes = 16;  // short enough for an address to be copied from a terminal

}  // namespace

Result<std::string> PageKeys::make(const serve::Caller& of, Instant now) {
  auto text = secret_text(kBytes);
  if (!text) return text;
  std::erase_if(keys_, [&](const Key& key) { return key.ends <= now; });
  const auto of_user = [&](const Key& key) { return key.of.uid == of.uid; };
  if (std::ranges::count_if(keys_, of_user) >= static_cast<std::ptrdiff_t>(most_of_one_)) {
    keys_.erase(std::ranges::find_if(keys_, of_user));
  } else if (keys_.size() >= most_) {
    keys_.pop_front();
  }
  keys_.push_back({hash_of_secret(*text), of, now + life_});
  return text;
}

std::optional<serve::Caller> PageKeys::find(std::string_view text, Instant now) const {
  const auto found = std::ranges::find(keys_, hash_of_secret(text), &Key::sha256);
  return found == keys_.end() || found->ends <= now ? std::nullopt : std::optional(found->of);
}

std::optional<serve::Caller> PageKeys::redeem(std::string_view text, Instant now) {
  auto of = find(text, now);
  if (of) std::erase_if(keys_, [hash = hash_of_secret(text)](const Key& key) { return key.sha256 == hash; });
  return of;
}

}  // namespace rota::api

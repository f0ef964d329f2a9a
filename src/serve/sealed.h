// What stands where others may read it, and is meant for the sites of a federation: sealed with a key that they share,
// so that no one else can read or change it (AES-256-GCM, by OpenSSL). Thread-safe once it is made.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rota::serve {

class Seal {
 public:
  Seal() = default;  // without a key: what it closes can be read by all
  // The key is made of what stands in the file. Fails with a sentence where that cannot be read or is too short.
  static Result<Seal> read(const std::string& path);

  bool has_key() const { return key_.has_value(); }
  // `label`: what the text belongs to; it opens under the same alone. Cost: some GB/s.
  std::string close(std::string_view text, std::string_view label) const;
  // nullopt: it was closed with another key or under another label, or was changed; with a key also what is not sealed.
  std::optional<std::string> open(std::string_view closed, std::string_view label) const;

 private:
  std::optional<std::array<std::byte, 32>> key_;
};

}  // namespace rota::serve

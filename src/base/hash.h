// A running 64-bit hash for plan hashes: order-sensitive, the same on every machine, not for cryptography.
#pragma once

#include <cstdint>

namespace rota {

class Hash {
 public:
  constexpr void mix(std::uint64_t word) {
    state_ ^= word;
    state_ *= 0x9e3779b97f4a7c15U;
    state_ ^= state_ >> 29U;
  }
  constexpr std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325U;
};

}  // namespace rota

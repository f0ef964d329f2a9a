// Bytes as a journal has them: whole numbers in groups of seven bits, least first, each in the fewest bytes that hold
// it; negative ones folded between the positive ones. Writing never fails; reading takes any bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rota::store {

using ByteSpan = std::span<const std::byte>;

// 0, -1, 1, -2, ... to 0, 1, 2, 3, ...
constexpr std::uint64_t fold_sign(std::int64_t n) {
  return (static_cast<std::uint64_t>(n) << 1U) ^ static_cast<std::uint64_t>(n >> 63U);
}
constexpr std::int64_t unfold_sign(std::uint64_t n) { return static_cast<std::int64_t>((n >> 1U) ^ (~(n & 1U) + 1)); }

// Bytes that grow. A writer asks for room first, which is enough for kRoom bytes, and hands the place where it stopped
// back; so that the writing itself is unchecked and the place stays in a register.
class ByteBuffer {
 public:
  static constexpr std::size_t kRoom = 1152;

  std::size_t size() const { return size_; }
  ByteSpan bytes() const { return {buffer_.data(), size_}; }
  void clear() { size_ = 0; }

  // Where to go on; kRoom bytes from there on may be written.
  std::byte* end() {
    if (buffer_.size() - size_ < kRoom) buffer_.resize(std::max(buffer_.size() * 2, size_ + 4 * kRoom));
    return buffer_.data() + size_;
  }
  // All before `at` has been written.
  void stop(const std::byte* at) { size_ = static_cast<std::size_t>(at - buffer_.data()); }
  // Both: written up to there, and there is room to go on.
  std::byte* more(const std::byte* at) {
    stop(at);
    return end();
  }

 private:
  std::vector<std::byte> buffer_;
  std::size_t size_ = 0;
};

inline constexpr std::size_t kMostNumberBytes = 10;

inline std::byte* put_number(std::byte* at, std::uint64_t n) {
  while (n >= 0x80U) {
    *at++ = static_cast<std::byte>(n | 0x80U);
    n >>= 7U;
  }
  *at++ = static_cast<std::byte>(n);
  return at;
}

template <class Unsigned>
std::byte* put_fixed(std::byte* at, Unsigned n) {
  for (std::size_t i = 0; i < sizeof n; ++i) *at++ = static_cast<std::byte>(n >> (8 * i));
  return at;
}

// Reads from front to back. What fails leaves the place where it is.
class ByteReader {
 public:
  explicit ByteReader(ByteSpan bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  // False where the bytes end, where the number has more than 64 bits, or where it takes more bytes than it needs.
  bool number(std::uint64_t& n) {
    if (at_ != end_ && static_cast<std::uint8_t>(*at_) < 0x80U) {
      n = static_cast<std::uint8_t>(*at_++);
      return true;
    }
    return long_number(n);
  }

  bool text(std::string& into, std::uint64_t size) {
    if (size > left()) return false;
    into.clear();
    for (; size > 0; --size) into += static_cast<char>(*at_++);
    return true;
  }

  template <class Unsigned>
  bool fixed(Unsigned& n) {
    if (left() < sizeof n) return false;
    n = 0;
    for (std::size_t i = 0; i < sizeof n; ++i) n |= static_cast<Unsigned>(static_cast<Unsigned>(*at_++) << (8 * i));
    return true;
  }

 private:
  bool long_number(std::uint64_t& n) {
    std::uint64_t found = 0;
    const std::byte* at = at_;
    for (unsigned shift = 0; at != end_ && shift < 64; shift += 7) {
      const std::uint64_t seven = static_cast<std::uint8_t>(*at++);
      if (shift == 63 && seven > 1) return false;
      found |= (seven & 0x7fU) << shift;
      if (seven >= 0x80U) continue;
      if (seven == 0) return false;
      n = found;
      at_ = at;
      return true;
    }
    return false;
  }

  const std::byte* at_;
  const std::byte* end_;
};

}  // namespace rota::store

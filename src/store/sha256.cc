#include "store/sha256.h"

// OpenSSL would rather be asked through EVP, which brings all of its ciphers along: 4 MB, and 1.5 ms at every start of
// the program. These three functions stand for themselves.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <string_view>
#include <utility>

namespace rota::store {

Sha256 sha256(ByteSpan bytes) {
  return sha256_of_pieces([&] { return std::exchange(bytes, {}); });
}

Sha256 sha256_of_pieces(const std::function<ByteSpan()>& next_piece) {
  Sha256 digest;
  SHA256_CTX context;
  SHA256_Init(&context);
  for (ByteSpan piece = next_piece(); !piece.empty(); piece = next_piece())
    SHA256_Update(&context, piece.data(), piece.size());
  SHA256_Final(reinterpret_cast<unsigned char*>(digest.data()), &context);
  return digest;
}

std::string hexadecimal(ByteSpan bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<std::size_t>(byte) >> 4U];
    text += kDigits[std::to_integer<std::size_t>(byte) & 15U];
  }
  return text;
}

}  // namespace rota::store

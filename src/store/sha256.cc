#include "store/sha256.h"

// OpenSSL would rather be asked through EVP, which sets up all of its ciphers when it is first asked. These three
// functions stand for themselves.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

namespace rota::store {

Sha256 sha256(ByteSpan bytes) {
  Sha256 digest;
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  SHA256_Final(reinterpret_cast<unsigned char*>(digest.data()), &context);
  return digest;
}

}  // namespace rota::store

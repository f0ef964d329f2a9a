#include "api/secret.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "store/sha256.h"

namespace rota::api {

Result<std::string> secret_text(std::size_t bytes) {
  std::vector<std::byte> secret(bytes);
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size()))
    return fail("the system gives no random bytes: {}.", std::strerror(errno));
  return store::hexadecimal(secret);
}

std::string hash_of_secret(std::string_view text) {
  return store::hexadecimal(store::sha256(std::as_bytes(std::span(text))));
}

}  // namespace rota::api

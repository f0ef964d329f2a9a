// Secret texts, and what is kept in their place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rota::api {

// So many random bytes in hexadecimal digits. Fails where the system gives none.
Result<std::string> secret_text(std::size_t bytes);

// SHA-256 of such a text in hexadecimal digits, from which nothing leads back to it.
std::string hash_of_secret(std::string_view text);

}  // namespace rota::api

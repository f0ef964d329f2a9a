// SHA-256, by which contents are known: two with the same digest are the same.
#pragma once

#include <array>
#include <cstddef>

#include "store/bytes.h"

namespace rota::store {

using Sha256 = std::array<std::byte, 32>;

Sha256 sha256(ByteSpan bytes);

}  // namespace rota::store

// SHA-256, by which contents are known: two with the same digest are the same.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>

#include "store/bytes.h"

namespace rota::store {

using Sha256 = std::array<std::byte, 32>;

Sha256 sha256(ByteSpan bytes);

// The digest of all pieces together, which are given one after the other; an empty one ends them.
Sha256 sha256_of_pieces(const std::function<ByteSpan()>& next_piece);

// Two digits for each byte, as digests are written.
std::string hexadecimal(ByteSpan bytes);

}  // namespace rota::store

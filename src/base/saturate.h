// Sums of amounts that a file may make as large as it likes.
#pragma once

#include <cstdint>

namespace rota {

// At most the largest number that there is; both are at least 0.
constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

}  // namespace rota

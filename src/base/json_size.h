// How large the values of a JSON text would be, before any is built: in memory they take many times their bytes in the
// text. What is no JSON is counted as far as it could be some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rota {

enum class JsonSize : std::uint8_t { within, too_deep, too_many };

// Whether a text has at most so many arrays and objects within each other, and at most so many values; of both, what is
// exceeded first. O(text).
JsonSize json_size(std::string_view text, std::size_t most_deep, std::size_t most_values = SIZE_MAX);

}  // namespace rota

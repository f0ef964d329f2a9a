// Whole numbers out of JSON that another program may have written.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

namespace rota::store {

// A number without a point that its type can hold; false, and nothing is taken, where it is none. (What the library
// itself makes of others is cut short, or undefined.)
template <class AnyJson, class T>
bool whole(const AnyJson& from, T& value) {
  const auto taken = [&](auto n) { return std::in_range<T>(n) && (value = static_cast<T>(n), true); };
  if (from.is_number_unsigned()) return taken(from.template get<std::uint64_t>());
  return from.is_number_integer() && taken(from.template get<std::int64_t>());
}

}  // namespace rota::store

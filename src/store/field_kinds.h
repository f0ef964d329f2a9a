// What the fields of facts are made of, told apart for code that walks through them by the table (model/fact_fields.h).
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

#include "model/fact_fields.h"

namespace rota::store {

template <class T>
inline constexpr bool kIsId = false;
template <class Tag, class Value>
inline constexpr bool kIsId<Id<Tag, Value>> = true;
template <class T>
inline constexpr bool kIsList = false;
template <class E>
inline constexpr bool kIsList<std::vector<E>> = true;

template <class T>
concept AnId = kIsId<T>;
template <class T>
concept AList = kIsList<T>;
// A list that holds a few of some values, and says which (model/licence_use.h).
template <class T>
concept AShortList = requires(T list, std::vector<typename T::value_type> some) {
  { list.assign(some) } -> std::same_as<bool>;
  { list.all() } -> std::same_as<std::vector<typename T::value_type>>;
};
// A part that few have: nullptr, or shared by all copies.
template <class T>
inline constexpr bool kIsShared = false;
template <class E>
inline constexpr bool kIsShared<std::shared_ptr<const E>> = true;
template <class T>
concept AShared = kIsShared<T>;
template <class T>
using SharedPart = std::remove_const_t<typename T::element_type>;
template <class T>
concept AnEnum = std::is_enum_v<T>;
template <class T>
concept AnInteger = std::integral<T> && !std::same_as<T, bool>;
template <class T>
concept AStruct = requires { Fields<T>::all; };

// Calls visit(Field) for each field of T, in order.
template <AStruct T, class Visit>
constexpr void for_each_field(const Visit& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, Fields<T>::all);
}
// The same until one of them gives false; whether none did.
template <AStruct T, class Visit>
constexpr bool all_fields(const Visit& visit) {
  return std::apply([&](const auto&... field) { return (visit(field) && ...); }, Fields<T>::all);
}

template <class Kinds>
struct KindsOf;
template <class... Kinds>
struct KindsOf<KindList<Kinds...>> {
  static constexpr std::size_t kCount = sizeof...(Kinds);
  // Calls visit(std::type_identity<Kind>) for each kind, in order.
  template <class Visit>
  static constexpr void for_each(const Visit& visit) {
    (visit(std::type_identity<Kinds>{}), ...);
  }
};
using AllKinds = KindsOf<FactKinds>;

// Equal in every field; figures with a point in every bit.
template <class T>
bool same(const T& a, const T& b) {
  if constexpr (AStruct<T>) {
    return all_fields<T>([&](const auto& field) { return same(a.*field.member, b.*field.member); });
  } else if constexpr (AList<T>) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!same(a[i], b[i])) return false;
    }
    return true;
  } else if constexpr (AShared<T>) {
    return a == b || (a && b && same(*a, *b));
  } else if constexpr (std::same_as<T, double>) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
  } else if constexpr (std::same_as<T, float>) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  } else {
    return a == b;
  }
}

}  // namespace rota::store

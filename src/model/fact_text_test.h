// For tests: facts as text, field by field from the one table of fields, so that two states can be compared to the
// letter and a difference be read.
#pragma once

#include <bit>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "model/fact_fields.h"

namespace rota {

template <class T>
concept Listed = requires { Fields<T>::all; };

template <class T>
std::string text_of(const T& value);

template <class T>
std::string text_of_fields(const T& value) {
  std::string text;
  std::apply(
      [&](const auto&... field) {
        ((text += std::string(field.name) + "=" + text_of(value.*field.member) + " "), ...);
      },
      Fields<T>::all);
  return text;
}

template <class T>
std::string text_of(const T& value) {
  if constexpr (Listed<T>) {
    return "{" + text_of_fields(value) + "}";
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<int>(value));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::to_string(value) + "/" + std::to_string(std::bit_cast<std::uint64_t>(value));
  } else if constexpr (std::is_same_v<T, float>) {
    return std::to_string(value) + "/" + std::to_string(std::bit_cast<std::uint32_t>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (requires { value.time_since_epoch(); }) {
    return std::to_string(value.time_since_epoch().count());
  } else if constexpr (requires { value.count(); }) {
    return std::to_string(value.count());
  } else if constexpr (requires { value.value; }) {
    return value.valid() ? std::to_string(value.value) : "none";
  } else if constexpr (requires { value.all(); }) {
    return text_of(value.all());
  } else {
    std::string text = "[";
    for (const auto& part : value) text += text_of(part) + " ";
    return text + "]";
  }
}

// A line each; not when it was and which number it has.
inline std::string text_of(const Fact& fact) {
  return std::visit(
      [](const auto& what) {
        return std::string(Fields<std::remove_cvref_t<decltype(what)>>::name) + " " + text_of_fields(what) + "\n";
      },
      fact.what);
}
inline std::string text_of_all(const std::vector<Fact>& facts) {
  std::string text;
  for (const Fact& fact : facts) text += text_of(fact);
  return text;
}

// The first line in which two texts differ, of both; empty: they are equal.
inline std::string difference(const std::string& a, const std::string& b) {
  std::size_t from = 0;
  while (from < a.size() || from < b.size()) {
    const std::string one = from < a.size() ? a.substr(from, a.find('\n', from) - from) : "nothing";
    const std::string other = from < b.size() ? b.substr(from, b.find('\n', from) - from) : "nothing";
    if (one != other) return one + "\nbut\n" + other;
    from += one.size() + 1;
  }
  return {};
}

}  // namespace rota

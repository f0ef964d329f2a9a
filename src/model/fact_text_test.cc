#include "model/fact_text_test.h"

#include <fmt/core.h>

#include <bit>
#include <tuple>
#include <type_traits>
#include <variant>

#include "model/fact_fields.h"

namespace rota {
namespace {

template <class T>
concept Listed = requires { Fields<T>::all; };

template <class T>
std::string words_of(const T& value);

template <class T>
std::string words_of_fields(const T& value) {
  std::string text;
  std::apply(
      [&](const auto&... field) { ((text += fmt::format("{}={} ", field.name, words_of(value.*field.member))), ...); },
      Fields<T>::all);
  return text;
}

template <class T>
std::string words_of(const T& value) {
  if constexpr (Listed<T>) {
    return fmt::format("{{{}}}", words_of_fields(value));
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<int>(value));
  } else if constexpr (std::is_same_v<T, double>) {
    return fmt::format("{}/{}", value, std::bit_cast<std::uint64_t>(value));
  } else if constexpr (std::is_same_v<T, float>) {
    return fmt::format("{}/{}", value, std::bit_cast<std::uint32_t>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (requires { value.time_since_epoch(); }) {
    return std::to_string(value.time_since_epoch().count());
  } else if constexpr (requires { value.count(); }) {
    return std::to_string(value.count());
  } else if constexpr (requires { value.value; }) {
    return value.valid() ? std::to_string(value.value) : "none";
  } else if constexpr (requires { value.use_count(); }) {
    return value ? words_of(*value) : "none";
  } else if constexpr (requires { value.all(); }) {
    return words_of(value.all());
  } else {
    std::string text = "[";
    for (const auto& part : value) text += words_of(part) + " ";
    return text + "]";
  }
}

}  // namespace

std::string text_of(const Job& job) { return words_of(job); }
std::string text_of(const JobSpec& spec) { return words_of(spec); }
std::string text_of(const CycleClosed& fact) { return words_of(fact); }

std::string text_of(const Fact& fact) {
  return std::visit(
      [](const auto& what) {
        return fmt::format("{} {}\n", Fields<std::remove_cvref_t<decltype(what)>>::name, words_of_fields(what));
      },
      fact.what);
}

std::string text_of_all(const std::vector<Fact>& facts) {
  std::string text;
  for (const Fact& fact : facts) text += text_of(fact);
  return text;
}

}  // namespace rota

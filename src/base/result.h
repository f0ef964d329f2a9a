// What can go wrong and is expected to: bad input, a refused command, a full disk. The message is a whole sentence
// that says what is wrong, where, and what to do next; the command line prints it as it is.
#pragma once

#include <fmt/core.h>

#include <expected>
#include <string>
#include <type_traits>
#include <utility>

namespace rota {

struct [[nodiscard]] Error {
  std::string message;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(std::string message) { return std::unexpected(Error{std::move(message)}); }

// The sentence with its parts in their places, as fmt::format has it.
template <class First, class... More>
std::unexpected<Error> fail(fmt::format_string<First, More...> sentence, First&& first, More&&... more) {
  return fail(fmt::format(sentence, std::forward<First>(first), std::forward<More>(more)...));
}

// The value of a result that has one: moved out of a temporary.
template <class R>
std::remove_cvref_t<R>::value_type value_of(R&& result) {
  if constexpr (!std::is_void_v<typename std::remove_cvref_t<R>::value_type>) return *std::forward<R>(result);
}

}  // namespace rota

// The value of a Result; where it holds an error, the function that says TRY returns that error. A TRY does not stand
// within another's argument.
#define TRY(...)                                                              \
  __extension__({                                                             \
    auto&& tried_ = (__VA_ARGS__);                                            \
    if (!tried_) [[unlikely]]                                                 \
      return std::unexpected(std::forward<decltype(tried_)>(tried_).error()); \
    ::rota::value_of(std::forward<decltype(tried_)>(tried_));                 \
  })

// What can go wrong and is expected to: bad input, a refused command, a full disk. The message is a whole sentence
// that says what is wrong, where, and what to do next; the command line prints it as it is.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace rota {

struct [[nodiscard]] Error {
  std::string message;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(std::string message) { return std::unexpected(Error{std::move(message)}); }

}  // namespace rota

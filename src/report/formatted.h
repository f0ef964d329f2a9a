// A line laid out as printf does, as a string: for tables and JSON of figures.
#pragma once

#include <cstdio>
#include <string>

namespace rota::report {

template <class... Values>
std::string formatted(const char* format, Values... values) {
  const int length = std::snprintf(nullptr, 0, format, values...);
  std::string text(static_cast<std::size_t>(length), '\0');
  std::snprintf(text.data(), text.size() + 1, format, values...);
  return text;
}

}  // namespace rota::report

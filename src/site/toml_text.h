// Text as a cluster file that is written has it.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace rota::site {

// A basic string of TOML.
inline std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : one_line(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// Thousandths: "1.500".
inline std::string toml_factor(std::int64_t thousandths) {
  return fmt::format("{}.{:03}", thousandths / 1000, thousandths % 1000);
}

}  // namespace rota::site

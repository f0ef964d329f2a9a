// Text as a cluster file that is written has it.
#pragma once

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

}  // namespace rota::site

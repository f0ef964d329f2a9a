#include "cli/live/escape_keys.h"

namespace rota::cli {

EscapeKeys::Wish EscapeKeys::read_keys(std::string_view typed, std::string& out) {
  for (const char c : typed) {
    if (escaped_) {
      escaped_ = false;
      if (c == '.') return Wish::cancel;
      if (c == '?') {
        at_line_start_ = true;
        return Wish::help;
      }
      if (c != '~') out += '~';  // it was none
    } else if (at_line_start_ && c == '~') {
      escaped_ = true;
      continue;
    }
    out += c;
    at_line_start_ = c == '\r' || c == '\n';
  }
  return Wish::nothing;
}

}  // namespace rota::cli

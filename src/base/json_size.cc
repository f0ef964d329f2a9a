#include "base/json_size.h"

namespace rota {

JsonSize json_size(std::string_view text, std::size_t most_deep, std::size_t most_values) {
  std::size_t depth = 0;
  std::size_t values = 1;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
      continue;
    }
    const bool opens = c == '[' || c == '{';
    in_text = c == '"';
    if (opens) ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (opens || c == ',') ++values;
    if (depth > most_deep) return JsonSize::too_deep;
    if (values > most_values) return JsonSize::too_many;
  }
  return JsonSize::within;
}

}  // namespace rota

#include "report/html_text.h"

#include <ostream>

#include "base/check.h"

namespace rota::report {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

unsigned byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

// Bytes of the UTF-8 character at the front of text; 0 if there is none: cut short, overlong, a surrogate, or too big.
std::size_t character_length(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xc0U) != 0x80) return 0;
  }
  const unsigned second = byte_at(text, 1);
  const bool wrong = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                     (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return wrong ? 0 : length;
}

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

bool control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (const std::string_view named = entity(text.front()); !named.empty()) {
      out += named;
    } else {
      out += length == 0 || control(text.front()) ? kReplacement : text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string script_json(std::string json) {
  for (std::size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at))
    json.replace(at, 1, "\\u003c");
  return json;
}

void fill(std::ostream& out, std::string_view text, const Parts& parts) {
  for (;;) {
    const std::size_t open = text.find("{{");
    out << text.substr(0, open);
    if (open == std::string_view::npos) return;
    const std::size_t close = text.find("}}", open);
    CHECK(close != std::string_view::npos, "a page template closes its braces");
    const auto part = parts.find(text.substr(open + 2, close - open - 2));
    CHECK(part != parts.end(), "a page template names parts that exist");
    part->second(out);
    text.remove_prefix(close + 2);
  }
}

}  // namespace rota::report

#include "base/json_bytes.h"

#include <charconv>
#include <optional>

namespace rota::json_bytes {
namespace {

// A mark is U+FFFF, which no text needs, and behind it the byte as U+0080 to U+00FF; one of a text's own stands twice.
constexpr std::string_view kMark = "\xEF\xBF\xBF";
constexpr std::size_t kEscape = 6;  // "\udc80"

std::optional<unsigned> escape_at(std::string_view json, std::size_t at) {
  unsigned unit = 0;
  if (json.size() - at < kEscape || json[at] != '\\' || json[at + 1] != 'u') return std::nullopt;
  const char* const digits = json.data() + at + 2;
  const auto [end, error] = std::from_chars(digits, digits + 4, unit, 16);
  if (error != std::errc{} || end != digits + 4) return std::nullopt;
  return unit;
}

bool is_byte(unsigned unit) { return unit >= 0xDC80 && unit <= 0xDCFF; }

void append_mark(std::string& out, unsigned byte) {
  out += kMark;
  out += static_cast<char>(0xC0U | byte >> 6U);
  out += static_cast<char>(0x80U | (byte & 0x3FU));
}

// The text with append(out, byte) in place of each mark.
template <class Append>
std::string unmarked(std::string_view text, const Append& append) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (!text.substr(at).starts_with(kMark)) {
      out += text[at++];
      continue;
    }
    at += kMark.size();
    if (text.substr(at).starts_with(kMark)) {
      out += kMark;
      at += kMark.size();
    } else if (at + 1 < text.size()) {
      const auto high = static_cast<unsigned char>(text[at]), low = static_cast<unsigned char>(text[at + 1]);
      append(out, (high & 3U) << 6U | (low & 0x3FU));
      at += 2;
    }
  }
  return out;
}

}  // namespace

bool has_escapes(std::string_view json) {
  for (std::size_t at = json.find("\\u"); at != std::string_view::npos; at = json.find("\\u", at + 1)) {
    if (is_byte(escape_at(json, at).value_or(0))) return true;
  }
  return false;
}

std::string marked(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    const auto unit = escape_at(json, at);
    std::size_t taken = json[at] == '\\' && !unit ? 2 : unit ? kEscape : 1;
    if (unit && is_byte(*unit)) {
      append_mark(out, *unit & 0xFFU);
    } else if (unit == 0xFFFFU || json.substr(at).starts_with(kMark)) {
      taken = unit ? kEscape : kMark.size();
      out += kMark;
      out += kMark;
    } else {
      if (unit && (*unit >> 10U) == 0x36U && escape_at(json, at + kEscape)) taken += kEscape;  // one of a pair
      out += json.substr(at, taken);
    }
    at += taken;
  }
  return out;
}

std::string bytes_of(std::string_view marked) {
  return unmarked(marked, [](std::string& out, unsigned byte) { out += static_cast<char>(byte); });
}

std::string marks_of(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    constexpr std::size_t kLongest = 4;
    std::size_t size = 1;  // of the character
    while (size <= kLongest && !is_utf8(bytes.substr(0, size))) ++size;
    if (size > kLongest) {
      append_mark(out, static_cast<unsigned char>(bytes.front()));
      size = 1;
    } else {
      if (bytes.starts_with(kMark)) out += kMark;
      out += bytes.substr(0, size);
    }
    bytes.remove_prefix(size);
  }
  return out;
}

std::string escaped(std::string_view json) {
  return unmarked(json, [](std::string& out, unsigned byte) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += "\\udc";
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  });
}

}  // namespace rota::json_bytes

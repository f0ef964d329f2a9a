#include "base/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <system_error>

#include "base/letters.h"

namespace rota {
namespace {

constexpr std::size_t kMostQuoted = 40;   // characters
constexpr std::size_t kLongestWord = 64;  // for nearest(): longer words are no typing errors

bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f'; }

std::uint8_t byte(char c) { return static_cast<std::uint8_t>(c); }

// Bytes of the UTF-8 character that text starts with; 0: none (Unicode 15, table 3-7: no overlong forms, no
// surrogates).
std::size_t character_size(std::string_view text) {
  const std::uint8_t lead = byte(text[0]);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < size) return 0;
  const std::uint8_t low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const std::uint8_t high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(text[1]) < low || byte(text[1]) > high) return 0;
  for (std::size_t i = 2; i < size; ++i)
    if (byte(text[i]) < 0x80 || byte(text[i]) > 0xbf) return 0;
  return size;
}

// Or a byte that belongs to none.
std::string_view next_character(std::string_view text) {
  return text.substr(0, std::max<std::size_t>(character_size(text), 1));
}

// Control characters could drive the terminal that shows the message, and those of the direction of writing show what
// stands around them in another order (U+200E and F, U+2028 to E with the ends of lines, U+2066 to 9): they are never
// printed as they are.
bool printable(std::string_view character) {
  if (character.size() == 1) return byte(character[0]) >= 0x20 && byte(character[0]) != 0x7f;
  if (character.size() == 3 && byte(character[0]) == 0xe2) {
    const std::uint8_t last = byte(character[2]);
    if (byte(character[1]) == 0x80) return !(last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae));
    if (byte(character[1]) == 0x81) return !(last >= 0xa6 && last <= 0xa9);
  }
  return !(character.size() == 2 && byte(character[0]) == 0xc2 && byte(character[1]) < 0xa0);
}

void append_hex(std::string& out, std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char c : bytes) {
    out += "\\x";
    out += digits[byte(c) >> 4U];
    out += digits[byte(c) & 15U];
  }
}

// Insertions, deletions, replacements and swaps of neighbours that turn a into b (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t at = text.find(separator);
    pieces.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view character = next_character(text);
    if (character_size(character) > 0 && printable(character)) {
      out += character;
    } else {
      append_hex(out, character);
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == kMostQuoted) return out + "\"...";
    const std::string_view character = next_character(text);
    if (character == "\"" || character == "\\") out += '\\';
    out += escaped(character);
    text.remove_prefix(character.size());
  }
  return out + "\"";
}

std::string one_line(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view character = next_character(text);
    if (character_size(character) == 0) {
      append_hex(out, character);
    } else {
      out += printable(character) ? character : "?";
    }
    text.remove_prefix(character.size());
  }
  return out;
}

std::string without_middle(std::string text, std::size_t most) {
  constexpr std::string_view kGap = " ... ";
  if (text.size() <= most) return text;
  const auto inside_character = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; };
  const std::size_t left = most - kGap.size();
  std::size_t end = left * 2 / 3;
  std::size_t begin = text.size() - (left - end);
  while (end > 0 && inside_character(end)) --end;
  while (begin < text.size() && inside_character(begin)) ++begin;
  return text.replace(end, begin - end, kGap);
}

Result<std::int64_t> parse_integer(std::string_view text) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) return fail(quoted(text) + " is too large a number.");
  if (error != std::errc{} || end != digits.data() + digits.size())
    return fail(quoted(text) + " is not a whole number; write digits only, such as 42.");
  return value;
}

Result<double> parse_number(std::string_view text) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = !digits.empty() && end == digits.data() + digits.size();
  if (whole && error == std::errc::result_out_of_range)
    return fail(quoted(text) + " is too large or too small a number.");
  if (error != std::errc{} || !whole || !std::isfinite(value))
    return fail(quoted(text) + " is not a number; write it such as 42 or 0.5.");
  return value;
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string amount(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::string alternatives(const std::vector<std::string>& choices) {
  std::string out;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) out += i + 1 < choices.size() ? ", " : " or ";
    out += choices[i];
  }
  return out;
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  if (word.empty() || word.size() > kLongestWord) return {};
  const std::string wanted = lower(word);
  std::size_t best = (word.size() + 2) / 3 + 1;
  std::string_view found;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongestWord) continue;
    const std::string other = lower(candidate);
    const bool begun = wanted.size() >= 3 && other.starts_with(wanted);  // a user typed the beginning of it
    const std::size_t d = begun ? std::min<std::size_t>(1, other.size() - wanted.size()) : distance(wanted, other);
    if (d < best) {
      best = d;
      found = candidate;
    }
  }
  return found;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

bool is_site_name(std::string_view name) {
  constexpr std::size_t kMost = 60;
  return !name.empty() && name.size() <= kMost && std::ranges::all_of(name, [](char c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

std::string hexadecimal(std::uint64_t word) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(word));
  return text.data();
}

}  // namespace rota

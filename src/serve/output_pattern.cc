#include "serve/output_pattern.h"

#include <algorithm>
#include <optional>

namespace rota::serve {
namespace {

constexpr std::size_t kMostPadding = 10;
constexpr std::size_t kLongestPath = 4096;  // what is longer is no path: opening it fails

std::string within_name(std::string text) {
  std::ranges::replace(text, '/', '_');
  return text == "." || text == ".." ? "_" : text;
}

std::string padded(std::int64_t number, std::size_t width) {
  std::string text = std::to_string(number);
  return text.size() < width ? std::string(width - text.size(), '0') + text : text;
}

std::optional<std::string> word_of(char letter, std::size_t width, const PatternWords& words) {
  switch (letter) {
    case 'j':
      return padded(words.job, width);
    case 'A':
      return padded(words.array, width);
    case 'a':
      return padded(words.index, width);
    case 'r':
      return padded(words.restarts, width);
    case 'x':
      return within_name(words.name);
    case 'u':
      return within_name(words.user);
    case 'N':
      return within_name(words.node);
    case '%':
      return "%";
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string fill_in(std::string_view pattern, const PatternWords& words) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size() && text.size() < kLongestPath; ++i) {
    if (pattern[i] != '%') {
      text += pattern[i];
      continue;
    }
    std::size_t width = 0;
    std::size_t at = i + 1;
    while (at < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9') {
      width = std::min(kMostPadding, width * 10 + static_cast<std::size_t>(pattern[at++] - '0'));
    }
    const auto word = at < pattern.size() ? word_of(pattern[at], width, words) : std::nullopt;
    if (word) {
      text += *word;
      i = at;
    } else {
      text += '%';
    }
  }
  return text;
}

}  // namespace rota::serve

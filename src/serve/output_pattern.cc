#include "serve/output_pattern.h"

#include <algorithm>
#include <optional>

#include "base/text.h"

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
    case 'J':  // with its step, where Slurm has one: a script is none
      return padded(words.job, width);
    case 'a':
      return padded(words.index, width);
    case 'b':
      return padded(words.index % 10, width);
    case 'n':
    case 't':
      return padded(0, width);
    case 's':
      return "batch";
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

// The sign behind "%" and a number at `at`; false: there is none.
bool read_sign(std::string_view pattern, std::size_t& at, std::size_t& width) {
  while (++at < pattern.size() && pattern[at] >= '0' && pattern[at] <= '9')
    width = std::min(kMostPadding, width * 10 + static_cast<std::size_t>(pattern[at] - '0'));
  return at < pattern.size();
}

Result<void> check(std::string_view pattern) {
  for (std::size_t i = pattern.find('%'); i < pattern.size(); i = pattern.find('%', i + 1)) {
    const std::size_t begin = i;
    std::size_t width = 0;
    if (read_sign(pattern, i, width) && word_of(pattern[i], width, {})) continue;
    return fail(
        "nothing stands for {} of the file name {}; %j is the job's id, %A and %a an array's and the task's index, %x "
        "the name, %u the user, %N the node, and %% a percent sign.",
        rota::quoted(pattern.substr(begin, i - begin + 1)), rota::quoted(pattern));
  }
  return {};
}

// With what stands for the letters that are chosen; the others stay as they are.
std::string filled(std::string_view pattern, const PatternWords& words, const auto& chosen) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size() && text.size() < kLongestPath; ++i) {
    std::size_t width = 0, end = i;
    const bool sign = pattern[i] == '%' && read_sign(pattern, end, width);
    const auto word = sign && chosen(pattern[end]) ? word_of(pattern[end], width, words) : std::nullopt;
    if (word) {
      text += *word;
      i = end;
    } else if (sign && pattern[end] == '%') {  // no sign begins with its second half
      text += "%%";
      i = end;
    } else {
      text += pattern[i];
    }
  }
  return text;
}

}  // namespace

Result<void> check_patterns(std::initializer_list<std::string_view> patterns) {
  for (const std::string_view pattern : patterns) {
    if (auto known = check(pattern); !known) return known;
  }
  return {};
}

bool tells_tasks_apart(std::string_view pattern) {
  for (std::size_t i = pattern.find('%'); i < pattern.size(); i = pattern.find('%', i + 1)) {
    std::size_t width = 0;
    if (read_sign(pattern, i, width) && std::string_view("ajJ").contains(pattern[i])) return true;
  }
  return false;
}

std::string fill_in(std::string_view pattern, const PatternWords& words) {
  return filled(pattern, words, [](char) { return true; });
}

std::string fill_in_at_home(std::string_view pattern, const PatternWords& words) {
  return filled(pattern, words, [](char letter) { return std::string_view("jJAabxu").contains(letter); });
}

}  // namespace rota::serve

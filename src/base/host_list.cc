// Host lists: the part of base/text.h that spells out n[01-03,07].
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.h"

namespace rota {
namespace {

constexpr std::size_t kWidest = 18;    // digits of a number in brackets
constexpr std::size_t kLongest = 255;  // bytes of a name; names of hosts have at most 253

struct Range {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::size_t width = 0;  // pad with zeros to this many digits
};

std::unexpected<Error> wrong(std::string_view text, const char* why) {
  return fail("{} is not a host list: {}. Write it such as n[01-16],login.", quoted(text), why);
}

bool plain_digits(std::string_view text) {
  return !text.empty() && text.size() <= kWidest && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<Range> parse_range(std::string_view piece, std::string_view list) {
  const std::size_t dash = piece.find('-');
  const std::string_view low = piece.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : piece.substr(dash + 1);
  if (!plain_digits(low) || !plain_digits(high)) return wrong(list, "brackets hold numbers and ranges of numbers");
  Range range;
  std::from_chars(low.data(), low.data() + low.size(), range.low);
  std::from_chars(high.data(), high.data() + high.size(), range.high);
  if (range.high < range.low) return wrong(list, "a range runs backwards");
  range.width = low.size();
  return range;
}

// Appends every number of the ranges to every stem: the product of several brackets in one name.
Result<std::vector<std::string>> extend(const std::vector<std::string>& stems, const std::vector<Range>& ranges,
                                        std::size_t most) {
  std::vector<std::string> out;
  for (const std::string& stem : stems)
    for (const Range& range : ranges)
      for (std::int64_t n = range.low; n <= range.high; ++n) {
        if (out.size() == most)
          return fail("A host list names more than {} hosts, which is more than there may be.", most);
        const std::string digits = std::to_string(n);
        out.push_back(stem + std::string(range.width > digits.size() ? range.width - digits.size() : 0, '0') + digits);
      }
  return out;
}

Result<std::vector<std::string>> expand(std::string_view name, std::string_view list, std::size_t most) {
  std::vector<std::string> stems{""};
  while (!name.empty()) {
    const std::size_t open = name.find_first_of("[]");
    if (stems.front().size() + std::min(open, name.size()) > kLongest) return wrong(list, "a name is too long");
    for (std::string& stem : stems) stem += name.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = name.find_first_of("[]", open + 1);
    if (name[open] == ']' || close == std::string_view::npos || name[close] == '[')
      return wrong(list, "its brackets do not match");
    std::vector<Range> ranges;
    for (const std::string_view piece : split(name.substr(open + 1, close - open - 1), ',')) {
      auto range = TRY(parse_range(piece, list));
      ranges.push_back(range);
    }
    auto longer = extend(stems, ranges, most);
    if (!longer) return longer;
    stems = std::move(*longer);
    name.remove_prefix(close + 1);
  }
  return stems;
}

// Where the name at the front of text ends: at the first comma outside brackets.
std::size_t name_end(std::string_view text) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') inside = true;
    if (text[i] == ']') inside = false;
    if (text[i] == ',' && !inside) return i;
  }
  return text.size();
}

}  // namespace

Result<std::vector<std::string>> parse_host_list(std::string_view text, std::size_t most) {
  std::vector<std::string> hosts;
  for (std::string_view rest = text;;) {
    const std::size_t end = name_end(rest);
    const std::string_view name = trimmed(rest.substr(0, end));
    if (name.empty()) return wrong(text, "a name is missing");
    if (name.find_first_of(" \t") != std::string_view::npos) return wrong(text, "a name has a blank in it");
    auto names = expand(name, text, most);
    if (!names) return names;
    if (names->size() > most - hosts.size())
      return fail("A host list names more than {} hosts, which is more than there may be.", most);
    hosts.insert(hosts.end(), std::make_move_iterator(names->begin()), std::make_move_iterator(names->end()));
    if (end == rest.size()) return hosts;
    rest.remove_prefix(end + 1);
  }
}

std::string format_host_list(const std::vector<std::string>& names) {
  // What stands before the digits at the end of a name. Too many digits are no number.
  const auto stem = [](std::string_view name) {
    const auto last = name.find_last_not_of("0123456789");
    const std::size_t size = last == std::string_view::npos ? 0 : last + 1;
    return name.size() - size > 9 ? name : name.substr(0, size);
  };
  const auto number = [&](const std::string& name) { return std::stoll("0" + name.substr(stem(name).size())); };
  const auto follows = [&](const std::string& a, const std::string& b) {
    const std::size_t size = stem(a).size();
    return size < a.size() && stem(b) == stem(a) && a.size() == b.size() && number(b) == number(a) + 1;
  };
  std::string text;
  for (std::size_t i = 0; i < names.size();) {
    std::size_t last = i;
    while (last + 1 < names.size() && follows(names[last], names[last + 1])) ++last;
    const std::string_view prefix = stem(names[i]);
    if (!text.empty()) text += ",";
    text += last == i
                ? names[i]
                : fmt::format("{}[{}-{}]", prefix, names[i].substr(prefix.size()), names[last].substr(prefix.size()));
    i = last + 1;
  }
  return text;
}

}  // namespace rota

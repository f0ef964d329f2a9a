#include "site/toml_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "base/utf16.h"

namespace rota::site {
namespace {

struct LibraryRefused {};

[[noreturn]] void refuse() { throw LibraryRefused(); }

}  // namespace
}  // namespace rota::site

// Some bad input (a time that begins with a control character, for one) fails the library's own asserts. They must not
// end the process, nor be assumed to hold, so they throw.
#undef NDEBUG
#define TOML_ASSERT(condition) ((condition) ? void(0) : rota::site::refuse())
#include <toml++/toml.h>

namespace rota::site {
namespace {

constexpr int kDeepest = 100;  // tables and lists in each other
constexpr std::ptrdiff_t kMostDots =
    2000;  // in a line: each can be a table in another, which takes the library's stack
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// toml++ 3.3, which Debian 12 ships, has undefined behaviour wherever it asks whether a character such as U+00B0 is
// white space (is_non_ascii_horizontal_whitespace runs into its unreachable end for most of U+00A1-U+0499, among
// others). So it is shown every byte beyond ASCII in the disguise of one private character, U+E000 + byte, for which it
// is right; what comes out of it is put back. Lines stay as they are.
std::string disguised(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += '\xEE';
      out += static_cast<char>(0x80U | (byte >> 6U));
      out += static_cast<char>(0x80U | (byte & 0x3FU));
    }
  }
  return out;
}

// Text that names such characters by escapes ("\uE0C2") may come out as something that is not UTF-8.
std::string undisguised(std::string_view text) {
  constexpr std::size_t kBytes = 3;  // of U+E080 to U+E0FF in UTF-8: EE 82 80 to EE 83 BF
  const auto byte_at = [text](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text.size() - at < kBytes || byte_at(at) != 0xEE || (byte_at(at + 1) & 0xFEU) != 0x82) {
      out += text[at++];
      continue;
    }
    out += static_cast<char>(((byte_at(at + 1) & 0x03U) << 6U) | (byte_at(at + 2) & 0x3FU));
    at += kBytes;
  }
  return out;
}

std::unexpected<Error> wrong(const std::string& shown, std::size_t line, const std::string& what) {
  return fail("{}:{}: {}", shown, line, what);
}

// What is not even text in UTF-8, by line.
Result<void> check_text(std::string_view text, const std::string& shown) {
  if (trimmed(text).empty()) return fail(shown + " is empty: there is nothing in it to be read.");
  if (auto known = refuse_utf16(text, shown); !known) return known;
  std::size_t line = 0;
  for (const std::string_view each : split(text, '\n')) {
    ++line;
    if (each.find('\0') != std::string_view::npos) return wrong(shown, line, "this is binary, not text in TOML.");
    if (std::ranges::count(each, '.') > kMostDots) {
      return wrong(shown, line,
                   fmt::format("there are more than {} dots in this line. Make it shorter.", grouped(kMostDots)));
    }
    if (!is_utf8(each)) return wrong(shown, line, quoted(each) + " is not UTF-8 text. Save the file as UTF-8.");
  }
  return {};
}

// The library's reason, as the end of a sentence of ours.
std::string reason(const toml::parse_error& error) {
  std::string text = undisguised(error.description());
  if (!is_utf8(text)) return "a character beyond ASCII stands outside quotes";  // the reason quotes a part of it
  while (!text.empty() && (text.back() == '.' || text.back() == '\n')) text.pop_back();
  return text;
}

TomlValue::Kind kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return TomlValue::Kind::text;
    case toml::node_type::integer:
      return TomlValue::Kind::whole;
    case toml::node_type::floating_point:
      return TomlValue::Kind::fraction;
    case toml::node_type::boolean:
      return TomlValue::Kind::yes_no;
    case toml::node_type::array:
      return TomlValue::Kind::list;
    case toml::node_type::table:
      return TomlValue::Kind::table;
    default:
      return TomlValue::Kind::date;
  }
}

struct TooDeep {
  std::uint32_t line = 0;
};

TomlValue value_of(const toml::node& node, int depth);

// In the order of the file; the library has them by name.
std::vector<TomlMember> members_of(const toml::table& table, int depth) {
  struct Place {
    toml::source_position at;
    std::string_view name;
    const toml::node* node;
  };
  std::vector<Place> places;
  places.reserve(table.size());
  for (const auto& [name, node] : table) places.push_back({name.source().begin, name.str(), &node});
  std::ranges::sort(places, {}, [](const Place& p) { return std::tuple(p.at.line, p.at.column, p.name); });
  std::vector<TomlMember> members;
  members.reserve(places.size());
  for (const Place& p : places) members.push_back({undisguised(p.name), p.at.line, value_of(*p.node, depth)});
  return members;
}

TomlValue value_of(const toml::node& node, int depth) {
  if (depth > kDeepest) throw TooDeep{node.source().begin.line};
  TomlValue value;
  value.kind = kind_of(node);
  value.line = node.source().begin.line;
  if (const auto* text = node.as_string()) value.text = undisguised(text->get());
  if (const auto* number = node.as_integer()) value.whole = number->get();
  if (const auto* number = node.as_floating_point()) value.fraction = number->get();
  if (const auto* yes = node.as_boolean()) value.yes = yes->get();
  if (const auto* table = node.as_table()) value.members = members_of(*table, depth + 1);
  if (const auto* array = node.as_array()) {
    value.items.reserve(array->size());
    for (const toml::node& item : *array) value.items.push_back(value_of(item, depth + 1));
  }
  return value;
}

// The first line that is not UTF-8 once its escapes are read, or 0.
std::uint32_t line_not_utf8(const TomlValue& value) {
  if (!is_utf8(value.text)) return value.line;
  for (const TomlValue& item : value.items) {
    if (const std::uint32_t line = line_not_utf8(item); line != 0) return line;
  }
  for (const TomlMember& member : value.members) {
    if (!is_utf8(member.name)) return member.line;
    if (const std::uint32_t line = line_not_utf8(member.value); line != 0) return line;
  }
  return 0;
}

bool library_refuses(std::string_view text) {
  try {
    static_cast<void>(toml::parse(text));
  } catch (const toml::parse_error&) {
    return false;
  } catch (const LibraryRefused&) {
    return true;
  }
  return false;
}

// The library reads forward, so the shortest beginning of the text that it refuses ends in the line in question.
std::size_t line_refused(std::string_view text) {
  std::vector<std::size_t> ends;  // of lines
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n') ends.push_back(at + 1);
  }
  const auto refused = [text](std::size_t end) { return library_refuses(text.substr(0, end)); };
  const auto first = std::ranges::partition_point(ends, [&](std::size_t end) { return !refused(end); });
  return static_cast<std::size_t>(first - ends.begin()) + 1;
}

// As it might be written, so that 2.0 is not taken for 2.
std::string shown_fraction(double number) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  std::string shown(text.data(), end);
  if (shown.find_first_not_of("-0123456789") == std::string::npos) shown += ".0";
  return shown;
}

}  // namespace

const TomlValue* TomlValue::find(std::string_view name) const {
  const auto found = std::ranges::find(members, name, &TomlMember::name);
  return found == members.end() ? nullptr : &found->value;
}

std::string TomlValue::shown() const {
  switch (kind) {
    case Kind::text:
      return quoted(text);
    case Kind::whole:
      return std::to_string(whole);
    case Kind::fraction:
      return shown_fraction(fraction);
    case Kind::yes_no:
      return yes ? "true" : "false";
    case Kind::date:
      return "a date or time of day";
    case Kind::list:
      return "a list";
    case Kind::table:
      return "a table";
  }
  return {};
}

Result<TomlValue> parse_toml(std::string_view text, const std::string& shown) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  TRY(check_text(text, shown));
  const std::string safe = disguised(text);
  try {
    TomlValue document = value_of(toml::parse(safe), 0);
    const std::uint32_t line = line_not_utf8(document);
    if (line != 0)
      return wrong(shown, line, "an escape such as \\uE0FF stands for no character here. Write the character itself.");
    return document;
  } catch (const toml::parse_error& error) {
    return wrong(shown, error.source().begin.line, fmt::format("this is not valid TOML: {}.", reason(error)));
  } catch (const TooDeep& deep) {
    return wrong(shown, deep.line, fmt::format("tables are nested more than {} deep here.", kDeepest));
  } catch (const LibraryRefused&) {
    return wrong(shown, line_refused(safe),
                 "this is not valid TOML: a number, date or time is not written as TOML has it.");
  }
}

}  // namespace rota::site

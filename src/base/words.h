// Records as one line of text, `name=value` for each field, in which every byte that would end a value is written as
// %NN: for sockets and for files that people look into. A record has a function fields(visit, record) that calls
// visit(name, field) for each of its fields. What a line does not name stays as it was, and a name that the record
// lacks is passed over, so that an older or newer line can be read.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rota {

inline void append_escaped(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7F && c != '%' && c != ',') {
      out.push_back(c);
    } else {
      out.push_back('%');
      out.push_back(kDigits[byte >> 4U]);
      out.push_back(kDigits[byte & 15U]);
    }
  }
}

inline std::string unescaped(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ec == std::errc{}) {
      plain.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

// Values: whole numbers, enums with names (a function names_of(Enum) gives them in order), text and lists.
template <class Value>
void append_value(std::string& out, const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    out += names_of(value)[static_cast<std::size_t>(value)];
  } else if constexpr (std::is_integral_v<Value>) {
    out += std::to_string(value);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    append_escaped(out, value);
  } else {  // each element behind a comma, so that one empty element is not none
    for (const auto& element : value) {
      out.push_back(',');
      append_value(out, element);
    }
  }
}

template <class Value>
void read_value(std::string_view text, Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    const auto& names = names_of(value);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == text) value = static_cast<Value>(i);
    }
  } else if constexpr (std::is_same_v<Value, bool>) {
    value = text == "1";
  } else if constexpr (std::is_integral_v<Value>) {
    std::from_chars(text.data(), text.data() + text.size(), value);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    value = unescaped(text);
  } else {
    value.clear();
    while (!text.empty()) {
      text.remove_prefix(1);
      const std::size_t end = text.find(',');
      read_value(text.substr(0, end), value.emplace_back());
      text.remove_prefix(end == std::string_view::npos ? text.size() : end);
    }
  }
}

// With its newline. Empty text and lists are left out.
template <class Record>
std::string in_words(const Record& record) {
  std::string out;
  fields(
      [&](std::string_view name, const auto& value) {
        if constexpr (requires { value.empty(); }) {
          if (value.empty()) return;
        }
        if (!out.empty()) out.push_back(' ');
        out += name;
        out.push_back('=');
        append_value(out, value);
      },
      record);
  out.push_back('\n');
  return out;
}

// Sets what the line, without its newline, names.
template <class Record>
void read_words(std::string_view line, Record& record) {
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    fields(
        [&](std::string_view name, auto& value) {
          if (name == word.substr(0, equals)) read_value(word.substr(equals + 1), value);
        },
        record);
  }
}

}  // namespace rota

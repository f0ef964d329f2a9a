// A TOML document as plain data with lines, for files that people write. The parsing is toml++'s; its defects on bad
// input end here (see the source), so no other file includes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rota::site {

struct TomlMember;

struct TomlValue {
  enum class Kind : std::uint8_t { text, whole, fraction, yes_no, date, list, table };

  Kind kind = Kind::table;
  std::uint32_t line = 0;           // from 1
  std::string text;                 // of text: valid UTF-8
  std::int64_t whole = 0;           // of whole
  double fraction = 0;              // of fraction; may be infinite or not a number
  bool yes = false;                 // of yes_no
  std::vector<TomlValue> items;     // of list
  std::vector<TomlMember> members;  // of table, as they stand in the file

  const TomlValue* find(std::string_view name) const;  // nullptr: no such member, or not a table
  std::string shown() const;                           // for messages: "\"text\"", "42", "true", "a list"
};

struct TomlMember {
  std::string name;
  std::uint32_t line = 0;  // of the name
  TomlValue value;
};

// The whole document, a table. Fails with "SHOWN:LINE: ..." where the text is empty, binary, not UTF-8 or not TOML 1.0.
Result<TomlValue> parse_toml(std::string_view text, const std::string& shown);

}  // namespace rota::site

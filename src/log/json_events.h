// What nlohmann-json's parser of events wants to be told, with an answer of no to everything that a line of JSON lines
// does not have. Derived classes hide what they take (the parser is a template, nothing here is virtual).
#pragma once

#include <fmt/core.h>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "log/wrong_json.h"

namespace rota::log {

class JsonEvents {
 public:
  using Json = nlohmann::json;
  using number_integer_t = Json::number_integer_t;    // NOLINT(readability-identifier-naming): the parser's names
  using number_unsigned_t = Json::number_unsigned_t;  // NOLINT(readability-identifier-naming)
  using number_float_t = Json::number_float_t;        // NOLINT(readability-identifier-naming)
  using string_t = Json::string_t;                    // NOLINT(readability-identifier-naming)
  using binary_t = Json::binary_t;                    // NOLINT(readability-identifier-naming)

  explicit JsonEvents(std::string_view line) : line_(line) {}
  const std::string& error() const { return error_; }  // a whole sentence; empty: all is well

  bool binary(binary_t& /*bytes*/) { return refuse("binary data have no place here."); }  // JSON has none
  bool parse_error(std::size_t position, const std::string& /*token*/, const Json::exception& what);

 protected:
  bool refuse(std::string sentence) {
    error_ = std::move(sentence);
    return false;
  }

  std::string_view line_;
  std::string error_;
};

inline bool JsonEvents::parse_error(std::size_t position, const std::string& /*token*/, const Json::exception& what) {
  constexpr int kOutOfRange = 406;
  if (const std::size_t good = utf8_length(line_); good < line_.size())
    return refuse(fmt::format("byte {} of the line, at {}, is not UTF-8 text. Save the file as UTF-8.", good + 1,
                              quoted(line_.substr(good))));
  if (what.id == kOutOfRange) return refuse("a number in the line is too large.");
  if (position > line_.size()) {
    return refuse(
        "the object does not end in this line: the file is cut off, or has no line for each job, as jq -c writes it.");
  }
  return refuse(fmt::format("from column {} on this is not JSON: {}.", position,
                            quoted(line_.substr(position > 0 ? position - 1 : 0))));
}

}  // namespace rota::log

// Readers of single members of what people send in JSON: each gives false where the value is of another type or out of
// range, and then what it was to fill is not to be used.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/job_request.h"
#include "store/number_json.h"

namespace rota::serve {

using Json = nlohmann::json;

inline constexpr std::size_t kMostTexts = 100'000;  // in one array

std::unexpected<Error> wrong_member(const std::string& name, const std::string& takes);
// `names`: those that there are.
std::unexpected<Error> unknown_member(const std::string& name, const std::vector<std::string_view>& names);

inline bool read_value(const Json& json, std::string& into) {
  if (!json.is_string()) return false;
  into = json.get<std::string>();
  return into.size() <= std::size_t{kLongestText} && into.find('\0') == std::string::npos;
}

inline bool take_script(const Json& json, std::string& into) {
  if (!json.is_string()) return false;
  into = json.get<std::string>();
  return into.find('\0') == std::string::npos;
}

inline bool read_value(const Json& json, bool& into) {
  if (json.is_boolean()) into = json.get<bool>();
  return json.is_boolean();
}

template <class Number>
bool take_number(const Json& json, Number& into, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  if (!store::whole(json, number) || number < least || number > most) return false;
  into = static_cast<Number>(number);
  return true;
}

inline bool read_value(const Json& json, std::vector<std::string>& into) {
  if (!json.is_array()) return false;
  if (json.size() > kMostTexts) return false;
  for (const Json& item : json) {
    if (!item.is_string()) return false;
    into.push_back(item.get<std::string>());
    if (into.back().find('\0') != std::string::npos) return false;
  }
  return true;
}

// Seconds, whole or not, as milliseconds.
inline bool take_seconds(const Json& json, std::int64_t& into) {
  if (!json.is_number()) return false;
  const double number = json.get<double>();
  if (!std::isfinite(number) || std::abs(number) > 1e11) return false;
  into = std::llround(number * 1000);
  return true;
}

inline bool read_value(const Json& json, std::optional<Duration>& into) {
  std::int64_t milliseconds = 0;
  if (!take_seconds(json, milliseconds) || milliseconds < 0) return false;
  into = Duration{milliseconds};
  return true;
}

inline bool read_value(const Json& json, Duration& into) {
  std::optional<Duration> time;
  if (!read_value(json, time)) return false;
  into = *time;
  return true;
}

// A Unix time, however long ago.
inline bool take_date(const Json& json, std::optional<Instant>& into, std::int64_t unix_start) {
  std::int64_t milliseconds = 0;
  if (!take_seconds(json, milliseconds)) return false;
  into = Instant{Duration{milliseconds - unix_start * 1000}};
  return true;
}

inline bool read_value(const Json& json, std::optional<Instant>& into, std::int64_t unix_start) {
  if (!take_date(json, into, unix_start)) return false;
  into = std::max(kEpoch, *into);
  return true;
}

// The process that waits at a terminal for the job.
inline bool read_value(const Json& json, Attach& into) {
  constexpr std::size_t kLongestSocket = 100;
  if (!json.is_object()) return false;
  for (const auto& [name, value] : json.items()) {
    const bool taken = name == "socket"        ? read_value(value, into.socket)
                       : name == "terminal"    ? read_value(value, into.terminal)
                       : name == "error_apart" ? read_value(value, into.error_apart)
                       : name == "keep"        ? read_value(value, into.keep)
                       : name == "rows"        ? take_number(value, into.rows, 0, UINT16_MAX)
                       : name == "columns"     ? take_number(value, into.columns, 0, UINT16_MAX)
                                               : false;
    if (!taken) return false;
  }
  return !into.socket.empty() && into.socket.size() <= kLongestSocket;
}

}  // namespace rota::serve

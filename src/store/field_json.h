// Anything that has a table of fields as a JSON object and back: members by name, those with their default left out.
// Instants and durations are whole milliseconds ("never" is an instant too), ids are numbers (null: none), values of
// enumerations go by name, figures with a point that JSON has no number for are "inf", "-inf" and "nan".
#pragma once

#include <fmt/core.h>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "base/text.h"
#include "store/field_kinds.h"
#include "store/number_json.h"

namespace rota::store {

using Json = nlohmann::ordered_json;

template <class T>
Json json_of(const T& value);

// Adds the members of `value` that are not as in `fallback`.
template <AStruct T>
void add_members(Json& object, const T& value, const T& fallback) {
  for_each_field<T>([&](const auto& field) {
    using Member = std::remove_cvref_t<decltype(value.*field.member)>;
    const Member& member = value.*field.member;
    if (same(member, fallback.*field.member)) return;
    Json& into = object[std::string(field.name)];
    if constexpr (AStruct<Member>) {
      into = Json::object();
      add_members(into, member, fallback.*field.member);
    } else {
      into = json_of(member);
    }
  });
}

template <class T>
Json json_of(const T& value) {
  if constexpr (AStruct<T>) {
    Json object = Json::object();
    add_members(object, value, T{});
    return object;
  } else if constexpr (AList<T>) {
    Json list = Json::array();
    for (const auto& element : value) list.push_back(json_of(element));
    return list;
  } else if constexpr (AShortList<T>) {
    return json_of(value.all());
  } else if constexpr (AShared<T>) {
    return value ? json_of(*value) : Json(nullptr);
  } else if constexpr (std::same_as<T, Instant>) {
    return value == kNever ? Json("never") : Json(value.time_since_epoch().count());
  } else if constexpr (std::same_as<T, Duration>) {
    return Json(value.count());
  } else if constexpr (AnId<T>) {
    return value.valid() ? Json(value.value) : Json(nullptr);
  } else if constexpr (AnEnum<T>) {
    return Json(ValueNames<T>::names[static_cast<std::size_t>(value)]);
  } else if constexpr (std::floating_point<T>) {
    if (std::isfinite(value)) return Json(static_cast<double>(value));
    return Json(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  } else {
    return Json(value);
  }
}

// Takes values out of JSON. Strict: what has no field, or is of another type, is refused.
class JsonFields {
 public:
  // Overwrites what the object says. False: error() is a whole sentence.
  template <AStruct T>
  bool read_members(const Json& object, T& value) {
    if (!object.is_object()) return wanted("an object", object);
    for (const auto& [name, member] : object.items()) {
      bool found = false;
      const bool taken = all_fields<T>([&](const auto& field) {
        if (field.name != name) return true;
        found = true;
        const std::size_t length = path_.size();
        path_ += (path_.empty() ? "" : ".") + name;
        if (!read(member, value.*field.member)) return false;
        path_.resize(length);
        return true;
      });
      if (!taken) return false;
      if (!found) return unknown<T>(name);
    }
    return true;
  }

  template <class T>
  bool read(const Json& from, T& value) {
    if constexpr (AStruct<T>) {
      return read_members(from, value);
    } else if constexpr (AList<T>) {
      return read_list(from, value);
    } else if constexpr (AShortList<T>) {
      std::vector<typename T::value_type> all;
      return read_list(from, all) && (value.assign(all) || wanted("a list of a few that are not too large", from));
    } else if constexpr (AShared<T>) {
      if (from.is_null()) return (value = nullptr, true);
      auto part = std::make_shared<SharedPart<T>>();
      if (!read(from, *part)) return false;
      return (value = std::move(part), true);
    } else if constexpr (std::same_as<T, Instant>) {
      if (from == "never") return (value = kNever, true);
      std::int64_t ms = 0;
      if (!whole(from, ms)) return wanted("a whole number of milliseconds, or \"never\"", from);
      return (value = Instant{Duration{ms}}, true);
    } else if constexpr (std::same_as<T, Duration>) {
      std::int64_t ms = 0;
      if (!whole(from, ms)) return wanted("a whole number of milliseconds", from);
      return (value = Duration{ms}, true);
    } else if constexpr (AnId<T>) {
      if (from.is_null()) return (value = T{}, true);
      return (whole(from, value.value) && value.valid()) || wanted("an id, or null", from);
    } else if constexpr (std::same_as<T, bool>) {
      if (!from.is_boolean()) return wanted("true or false", from);
      return (value = from.get<bool>(), true);
    } else if constexpr (std::same_as<T, std::string>) {
      if (!from.is_string()) return wanted("a text", from);
      return (value = from.get<std::string>(), true);
    } else if constexpr (AnEnum<T>) {
      return read_name(from, value);
    } else if constexpr (std::floating_point<T>) {
      return read_figure(from, value);
    } else {
      return whole(from, value) || wanted(fmt::format("a whole number from {} to {}", std::numeric_limits<T>::min(),
                                                      std::numeric_limits<T>::max()),
                                          from);
    }
  }

  const std::string& error() const { return error_; }

 private:
  bool wanted(const std::string& what, const Json& here) {
    error_ = fmt::format("{} is {}, and here it is {}.", path_.empty() ? std::string("This") : "The field " + path_,
                         what, shown(here));
    return false;
  }

  // What is nested may be nested deeply, and is named only.
  static std::string shown(const Json& here) {
    if (here.is_structured()) return here.is_array() ? "a list" : "an object";
    return here.is_string() ? rota::quoted(here.get_ref<const std::string&>()) : here.dump();
  }

  template <class T>
  bool unknown(const std::string& name) {
    std::vector<std::string_view> names;
    for_each_field<T>([&](const auto& field) { names.push_back(field.name); });
    const std::string_view near = nearest(name, names);
    error_ = fmt::format("There is no field {}{}{}", rota::quoted(name), path_.empty() ? "" : " in " + path_,
                         near.empty() ? "; docs/journal.md lists them." : fmt::format("; did you mean {}?", near));
    return false;
  }

  template <class E>
  bool read_list(const Json& from, std::vector<E>& list) {
    if (!from.is_array()) return wanted("a list", from);
    list.clear();
    const std::size_t length = path_.size();
    for (const Json& element : from) {
      path_ += fmt::format("[{}]", list.size());
      if (!read(element, list.emplace_back())) return false;
      path_.resize(length);
    }
    return true;
  }

  template <AnEnum T>
  bool read_name(const Json& from, T& value) {
    std::string all;
    for (std::size_t i = 0; i < ValueNames<T>::names.size(); ++i) {
      if (from == ValueNames<T>::names[i]) return (value = static_cast<T>(i), true);
      all += (i == 0 ? "" : ", ") + std::string(ValueNames<T>::names[i]);
    }
    return wanted("one of " + all, from);
  }

  template <std::floating_point T>
  bool read_figure(const Json& from, T& value) {
    if (from.is_number()) return (value = static_cast<T>(from.get<double>()), true);
    if (from == "nan") return (value = std::numeric_limits<T>::quiet_NaN(), true);
    if (from == "inf") return (value = std::numeric_limits<T>::infinity(), true);
    if (from == "-inf") return (value = -std::numeric_limits<T>::infinity(), true);
    return wanted("a number", from);
  }

  std::string path_;
  std::string error_;
};

// One JSON value, in which no object has a member twice. The error is a whole sentence.
Result<Json> parse_json(std::string_view text);

}  // namespace rota::store

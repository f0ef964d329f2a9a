// Text of any bytes in JSON, which is UTF-8: a byte that is none crosses as U+DC80 to U+DCFF, written "\udc80", as
// Python's surrogateescape has it. For nlohmann's json, which neither reads nor writes these; this room does not know
// the library. In a Json that json_from() gives and json_text() takes, texts are the bytes themselves.
#pragma once

#include <string>
#include <string_view>

#include "base/text.h"

namespace rota {

namespace json_bytes {

// In `json`, a text in JSON, escapes of such bytes become marks that every parser takes, and those of a parsed text
// become bytes; and the other way.
bool has_escapes(std::string_view json);
std::string marked(std::string_view json);
std::string bytes_of(std::string_view marked);
std::string marks_of(std::string_view bytes);
std::string escaped(std::string_view json);

template <class Json, class Change>
void each_text(Json& json, const Change& change) {
  if (json.is_string()) {
    auto& text = json.template get_ref<typename Json::string_t&>();
    text = change(text);
  } else if (json.is_structured()) {
    for (auto& item : json) each_text(item, change);
  }
}

template <class Json>
bool all_utf8(const Json& json) {
  if (json.is_string()) return is_utf8(json.template get_ref<const typename Json::string_t&>());
  if (!json.is_structured()) return true;
  for (const auto& item : json)
    if (!all_utf8(item)) return false;
  return true;
}

}  // namespace json_bytes

// Discarded where the text is no JSON. `callback` as nlohmann's parse() has it.
template <class Json, class Callback = std::nullptr_t>
Json json_from(std::string_view text, const Callback& callback = nullptr) {
  if (!json_bytes::has_escapes(text)) return Json::parse(text, callback, false);
  Json json = Json::parse(json_bytes::marked(text), callback, false);
  json_bytes::each_text(json, json_bytes::bytes_of);
  return json;
}

// `indent` as dump() has it. Names of members are UTF-8.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
  constexpr auto kReplace = Json::error_handler_t::replace;
  if (json_bytes::all_utf8(json)) return json.dump(indent, ' ', false, kReplace);
  Json marked = json;
  json_bytes::each_text(marked, json_bytes::marks_of);
  return json_bytes::escaped(marked.dump(indent, ' ', false, kReplace));
}

}  // namespace rota

// Where a text is no JSON, in words for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "log/json_characters.h"

namespace rota::log {

// So many bytes from its beginning on are UTF-8: all of them, or as many as stand before the first that is not.
std::size_t utf8_length(std::string_view text);

// What is wrong where the parser stopped, having taken `taken` characters: ":3: the JSON ends too early (...)". A whole
// sentence but for the file that stands before it. May read on, to the end.
std::string wrong_json(JsonCharacters::Source& source, std::size_t taken);

}  // namespace rota::log

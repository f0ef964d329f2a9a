// Text that was saved in UTF-16, as PowerShell's > and some editors on Windows do: nothing here reads it, and what it
// looks like to a reader of UTF-8 would only mislead.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace rota {

// Fails if a text that begins so is UTF-16, with a sentence that says how to convert it. `shown` is the file.
Result<void> refuse_utf16(std::string_view begin, const std::string& shown);

}  // namespace rota

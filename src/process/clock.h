// The clocks of this computer, in milliseconds.
#pragma once

#include <cstdint>
#include <string>

namespace rota::process {

std::string boot_id();             // of this start of the system; "unknown" where it does not say
std::int64_t boot_milliseconds();  // since then, sleep included; a clock that no program sets
std::int64_t unix_milliseconds();

}  // namespace rota::process

// Dates with their zones, as files of a site tell them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rota::site {

// Unix time in milliseconds of "2026-12-01T08:00Z", "2026-12-01T08:00:30+01:00", or with a blank in place of the T;
// nothing: it is none, is before 1970, or says no zone.
std::optional<std::int64_t> unix_milliseconds_of(std::string_view text);

}  // namespace rota::site

// Times as people write and read them at the command line, in the local time zone, and as Slurm's tools print them.
// Unix times and durations are seconds here, as in the service's JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rota::cli {

// The Unix time that a text means: "now", "now+1hour", "now-7days", "16:00" (the next one), "2026-11-30",
// "2026-11-30T12:00", "today", "tomorrow", "yesterday", "friday" (the next one, as it begins), "midnight", "noon",
// "@1795996800".
// `past`: a time of day is today's, even where that is over.
Result<std::int64_t> parse_when(std::string_view text, std::int64_t now, bool past = false);

std::string time_text(double unix_time);  // "2026-11-30T12:00:00"
std::string run_text(double seconds);     // "0:05", "12:34", "1:02:03", "2-01:02:03", as squeue's TIME
std::string limit_text(double seconds);   // the same, or "UNLIMITED"
std::string spoken_time(double seconds);  // "1h50m", "45s", "2d12h"; the two largest units
std::string memory_text(double bytes);    // "4G", "1.5G"; whole below 1 K

std::int64_t unix_now();

}  // namespace rota::cli

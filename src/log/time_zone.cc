#include "log/time_zone.h"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace rota::log {

struct TimeZone::Zone {
  absl::TimeZone zone;
};

namespace {

// The names that the system has, for a message.
std::vector<std::string> names_of_zones() {
  const char* told = std::getenv("TZDIR");
  const std::filesystem::path folder = told != nullptr ? told : "/usr/share/zoneinfo";
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().lexically_relative(folder).string();
    const bool copy = name.starts_with("posix/") || name.starts_with("right/");
    if (!copy && name.front() >= 'A' && name.front() <= 'Z') names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

Result<TimeZone> TimeZone::find(const std::string& name) {
  absl::TimeZone zone;
  if (absl::LoadTimeZone(name, &zone)) return TimeZone(std::make_shared<const Zone>(Zone{zone}));
  const std::vector<std::string> names = names_of_zones();
  if (names.empty()) {
    return fail(
        "There is no time zone {}, for this system has none: install the package tzdata, or have sacct print UTC "
        "(TZ=UTC sacct ...).",
        rota::quoted(name));
  }
  const std::string_view near = nearest(name, {names.begin(), names.end()});
  return fail("There is no time zone {}{}", rota::quoted(name),
              near.empty() ? ". Name it as in the IANA database, such as Europe/Berlin."
                           : fmt::format("; did you mean {}?", rota::quoted(near)));
}

TimeZone::Meaning TimeZone::meaning_of(std::int64_t local) const {
  const auto info = zone_->zone.At(absl::CivilSecond(1970, 1, 1) + local);
  const std::int64_t first = absl::ToUnixSeconds(info.pre);
  if (info.kind == absl::TimeZone::TimeInfo::REPEATED) return {first, absl::ToUnixSeconds(info.post)};
  return {first, first, info.kind == absl::TimeZone::TimeInfo::SKIPPED};
}

}  // namespace rota::log

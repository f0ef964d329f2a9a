// --time-zone: the zone of the clock whose times a log has.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "cli/command_line.h"
#include "log/time_zone.h"

namespace rota::cli {

void declare_time_zone(Command command, std::string& zone);

// The zone of that name; nullptr where it is empty.
Result<std::shared_ptr<const log::TimeZone>> zone_of(const std::string& name);

}  // namespace rota::cli

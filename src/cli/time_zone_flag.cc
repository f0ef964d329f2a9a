#include "cli/time_zone_flag.h"

namespace rota::cli {

void declare_time_zone(Command command, std::string& zone) {
  command
      .add_option("--time-zone", zone,
                  "zone in which sacct printed its times, such as Europe/Berlin; default: UTC (TZ=UTC sacct ...)")
      .type_name("ZONE");
}

Result<std::shared_ptr<const log::TimeZone>> zone_of(const std::string& name) {
  if (name.empty()) return nullptr;
  auto zone = TRY(log::TimeZone::find(name));
  return std::make_shared<const log::TimeZone>(std::move(zone));
}

}  // namespace rota::cli

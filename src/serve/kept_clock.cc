#include "serve/kept_clock.h"

#include <string>

#include "base/text.h"
#include "process/clock.h"

namespace rota::serve {

Result<void> set_clock(RealLoop& loop, store::SqliteStore& store, Instant past, bool runs) {
  constexpr const char* kClock = "clock";  // the start of the system, and how its clock and that of the service differ
  const std::string boot = process::boot_id() + " ";
  const auto before = store.setting(kClock);
  if (runs && before && *before && (*before)->starts_with(boot)) {
    if (const auto offset = parse_integer(std::string_view(**before).substr(boot.size()))) loop.goes_on(*offset);
  }
  loop.not_before(past);
  store.put_setting(kClock, boot + std::to_string(loop.offset()));
  return store.commit();  // while nothing happens nothing else would
}

}  // namespace rota::serve

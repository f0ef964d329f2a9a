// Time zones of the IANA database, by Abseil: what a clock on the wall meant.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace rota::log {

class TimeZone {
 public:
  // "Europe/Berlin". Where the system has none of that name the error names the nearest one.
  static Result<TimeZone> find(const std::string& name);

  // What a local time meant, in seconds since 1970 UTC. When clocks are put back an hour comes twice: then `second` is
  // later than `first`. A time that was left out when they were put forward is `never`, and taken as if they had not
  // been.
  struct Meaning {
    std::int64_t first = 0;
    std::int64_t second = 0;
    bool never = false;
    bool twice() const { return second != first; }
  };
  Meaning meaning_of(std::int64_t local) const;  // seconds since 1970 on the zone's own clock

 private:
  struct Zone;
  explicit TimeZone(std::shared_ptr<const Zone> zone) : zone_(std::move(zone)) {}
  std::shared_ptr<const Zone> zone_;
};

}  // namespace rota::log

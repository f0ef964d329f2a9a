// What the tests of this room have in common: a clock that is set by hand.
#pragma once

#include <map>
#include <utility>

#include "control/ports.h"

namespace rota {

class HandLoop final : public Loop {
 public:
  Instant now() const override { return now_; }
  void set(Alarm& alarm, Instant at) override { due_[&alarm] = at; }
  Instant due(Alarm& alarm) const { return due_.contains(&alarm) ? due_.at(&alarm) : kNever; }
  // Rings what is due until nothing is; alarms of these tests do not depend on each other's order.
  void move_to(Instant at) {
    now_ = at;
    for (bool rang = true; std::exchange(rang, false);) {
      for (auto& [alarm, due] : due_) {
        if (due > now_) continue;
        due = kNever;
        alarm->ring();
        rang = true;
        break;
      }
    }
  }

 private:
  Instant now_ = kEpoch;
  std::map<Alarm*, Instant> due_;
};

}  // namespace rota

// Virtual time: jumps from one alarm to the next.
#pragma once

#include <algorithm>
#include <vector>

#include "control/ports.h"

namespace rota::sim {

class VirtualLoop final : public Loop {
 public:
  explicit VirtualLoop(Instant from = kEpoch) : now_(from) {}

  Instant now() const override { return now_; }

  void set(Alarm& alarm, Instant at) override {
    for (Timer& t : timers_) {
      if (t.alarm == &alarm) {
        t.at = at;
        return;
      }
    }
    timers_.push_back({&alarm, at});
  }

  // When the next alarm rings; kNever: none is set.
  Instant next() const {
    const auto earliest = std::ranges::min_element(timers_, {}, &Timer::at);
    return earliest == timers_.end() ? kNever : earliest->at;
  }

  // Rings the next alarm; false if none is set.
  bool step() {
    const auto next = std::ranges::min_element(timers_, {}, &Timer::at);
    if (next == timers_.end() || next->at == kNever) return false;
    now_ = std::max(now_, next->at);
    next->at = kNever;
    next->alarm->ring();  // may set alarms: `next` is not used after
    return true;
  }

 private:
  struct Timer {
    Alarm* alarm;
    Instant at;
  };
  std::vector<Timer> timers_;  // a handful: the engine's and the controller's
  Instant now_;
};

}  // namespace rota::sim

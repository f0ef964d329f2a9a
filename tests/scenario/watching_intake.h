// For tests: an intake that hands everything on to a controller and looks at the state after each decision.
#pragma once

#include "control/controller.h"

namespace rota {

class WatchingIntake : public Intake {
 public:
  using Intake::record;
  JobId submit(const JobSpec& spec, Bars bars) override { return watched().submit(spec, bars); }
  Result<void> record(const Observed& fact, Instant happened) override { return watched().record(fact, happened); }
  Result<void> decide() override {
    auto done = watched().decide();
    decided(watched().view());
    return done;
  }

 private:
  virtual Controller& watched() = 0;
  virtual void decided(const View& /*view*/) {}
};

}  // namespace rota

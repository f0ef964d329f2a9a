// An engine for tests of what the service answers: it is told everything and does nothing, so that no command of a
// test is ever run.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "serve/engine_maker.h"

namespace rota::serve {

class IdleEngine : public LiveEngine {
 public:
  explicit IdleEngine(Capabilities can) : can_(std::move(can)) {}
  Capabilities capabilities() const override { return can_; }
  void dispatch(const Command& /*command*/) override {}
  Observation observe() const override { return {.complete = false, .jobs = {}, .nodes = {}}; }
  Result<void> open(Intake& /*intake*/, const Takeover& /*from*/) override { return {}; }
  void settled(JobId /*job*/, std::uint32_t /*dispatch*/) override {}
  Result<void> signal(JobId /*job*/, int /*number*/) override { return {}; }
  std::vector<std::string> warnings() const override { return {}; }

 private:
  Capabilities can_;
};

inline Capabilities idle_capabilities() {
  Capabilities can;
  can.tasks = can.sites = can.power = false;
  can.why_no_power = "Nothing switches the nodes of an idle engine.";
  can.confirms_starts = true;
  return can;
}

inline EngineMaker idle_engine(const Capabilities& can = idle_capabilities()) {
  return [can](const EngineSite&) { return std::make_unique<IdleEngine>(can); };
}

}  // namespace rota::serve

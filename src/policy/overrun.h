// What becomes of a job that has used up the time that was counted on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "policy/policy.h"

namespace rota {

enum class Overrun : std::uint8_t {
  kill,            // at the limit, by the engine
  fixed,           // so much after the limit (Slurm's OverTimeLimit)
  run_on,          // never
  strict,          // a backfilled job: when the promise that it was fitted in before is due (the base of Li and Lei 2018)
  rb_har,          // RB_HAR (Li and Lei 2018), the adopted reading
  rb_har_literal,  // RB_HAR, the literal reading
  lazy,            // a backfilled job: only when the promised job can really start by it; fewest victims, least lost work
};

// Decides about the jobs that stand in the way of a promise that is due. nullptr where the engine's limit is all.
std::unique_ptr<Policy> make_overrun(Overrun overrun);

}  // namespace rota

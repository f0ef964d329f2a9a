// What becomes of a job that has used up the time that was counted on.
#pragma once

#include <cstdint>
#include <memory>

#include "policy/policy.h"

namespace rota {

enum class Overrun : std::uint8_t {
  kill,    // at the limit, by the engine
  fixed,   // so much after the limit, by the engine (Slurm's OverTimeLimit)
  run_on,  // never
  // Those that follow never stop a job whose turn it was, and stop one that was backfilled only once its time is up and
  // a promised start is due. It goes back to the queue.
  strict,  // at once, if it holds what was set aside (the base of Li and Lei 2018)
  rb_har,  // RB_HAR (Li and Lei 2018), adopted reading: only if the promised job can start by it, or beside it if
           // no other job could use its processors; then it may go on until the next regular job is expected to end
  rb_har_literal,  // the same, decided as soon as the promise is due, whether or not the promised job can start by it
  grace,           // only when the promised job can start by it at once: the fewest jobs, of those the least lost work
};

constexpr bool asks_for_processors(Overrun overrun) {
  return overrun == Overrun::strict || overrun == Overrun::rb_har || overrun == Overrun::rb_har_literal;
}

// Decides about the jobs that stand in the way of a promise that is due. nullptr where the engine's limit is all.
std::unique_ptr<Policy> make_overrun(Overrun overrun);

}  // namespace rota

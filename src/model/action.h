// What a policy decided to do, each with the reason that `rota explain` will show.
#pragma once

#include <cstdint>

#include "model/job.h"

namespace rota {

enum class ActionKind : std::uint8_t { start, kill, extend, preempt, migrate, power_on, power_off };

// What becomes of the work of a job that gives way to one of higher priority.
enum class Preemption : std::uint8_t {
  none,        // no job gives way
  suspend,     // kept: it goes on where it was
  requeue,     // lost: it starts over
  checkpoint,  // kept, but writing it takes time, in which it still holds its processors
  cancel,      // lost: it ends for good
};

enum class Rule : std::uint8_t {
  head_fits,            // it was its turn and it fitted
  skipped_ahead,        // it fitted and the jobs before it did not; nothing was promised to them
  ends_before_promise,  // backfilled: expected to end before the promised start
  beside_promise,       // backfilled: on processors that the promised job leaves over
  planned,              // its promised start has come
  promise_due,          // killed or let go on because a promised start has come
  outranked,            // preempted: a job of higher priority can start in its place
  faster_node,          // migrated: to nodes with a higher CPU factor
  harms_nobody,         // let go on: the waiting job could not start even without it, or can start beside it
  job_waits,            // woken: a waiting job could start now if the node were on
  promise_rests,        // woken: a promise rests on it
  keeps_warm,           // woken: so many are kept ready at this hour of the week
  load_is_high,         // woken: the load factor says so
  load_is_low,          // sent to sleep: the load factor says so
  idle_for_long,        // sent to sleep: idle for as long as the rule allows
  rule_is_gone,         // woken: a rule sent it to sleep, and no rule switches nodes any more
  passes_unforeseen,    // backfilled: without an end in sight itself, ahead of a job whose start cannot be foreseen
  within_reservation,   // the first of those that wait for the reservation, which has begun and has room for it
};

struct Reason {
  Rule rule = Rule::head_fits;
  JobId promised;  // the job whose promise mattered, or for which others are preempted; invalid: none
  Instant promise = kNever;
  std::int64_t free = 0;    // processors free when it was decided
  std::int64_t needed = 0;  // processors that the promised job asks for
};

struct Action {
  ActionKind kind = ActionKind::start;
  bool backfilled = false;  // start: ahead of a waiting job that was promised a start
  JobId job;
  Instant until = kNever;  // extend: look again then; kNever: no new limit. preempt: expected to have left by then
  Reason reason;
  NodeId node = {};  // power_on, power_off

  bool has_place() const { return kind == ActionKind::start || kind == ActionKind::migrate; }  // on nodes
  bool of_power() const { return kind == ActionKind::power_on || kind == ActionKind::power_off; }
};

}  // namespace rota

// The narrow ports between the controller and everything impure. Each adapter implements one; nothing else crosses.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "model/action.h"
#include "model/fact.h"

namespace rota {

// Something that wants to be called at an instant.
class Alarm {
 public:
  virtual ~Alarm() = default;
  virtual void ring() = 0;
};

// The only source of time; virtual in a rehearsal, real in production.
class Loop {
 public:
  virtual ~Loop() = default;
  virtual Instant now() const = 0;
  // Rings the alarm once at this instant, in place of when it was set to ring before; kNever: not at all. At one
  // instant alarms ring in the order in which they were first set.
  virtual void set(Alarm& alarm, Instant at) = 0;
};

// What an engine is told to do. The key is the same however often the command is sent: it is carried out once.
struct Command {
  enum class Kind : std::uint8_t { start, kill, expect, preempt, migrate, power_on, power_off };
  Kind kind = Kind::start;
  std::uint64_t key = 0;
  JobId job;
  Instant expected_end = kNever;      // start, expect, migrate: report Overdue if it still runs then
  Instant limit_end = kNever;         // start, migrate: end it then, as timed out; kNever: let it run
  Preemption how = Preemption::none;  // preempt
  JobId beneficiary = {};             // preempt: in whose favour
  NodeId node = {};                   // power_on, power_off
  const Placement* where = nullptr;   // start, migrate: the nodes; only while the command is dispatched
  std::int32_t cpu_factor = 1000;     // start, migrate: per mille, of the slowest node that the job gets
  bool kept = true;                   // migrate, preempt: it goes on where it was; else it starts over
  Duration pause{0};                  // migrate, preempt: in which it does no work, once it goes on
};

// Carries out commands; of a job that was told to give way it reports Vacated in the end, or else that it Finished.
// Effects come back to the controller as events.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual Result<void> dispatch(const Command& command) = 0;
};

// Gets every job when it has ended for good or was rejected, before it is forgotten.
class JobSink {
 public:
  virtual ~JobSink() = default;
  virtual void left(JobId id, const Job& job) = 0;
};

// Where engines report what happened. Events of one call are folded together and followed by one scheduling cycle.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual Result<void> deliver(std::span<const Event> events) = 0;
};

}  // namespace rota

// What a job can be at, as its supervisor sees it: one state at a time, each with the data that it alone needs.
//
//   Launching ──▶ Running ◀──▶ Paused       a signal stops it, or lets it go on
//                    │ ▲ ────▶ Suspended    the service has it give way, and go on at its next turn
//                    ▼
//              Checkpointing ──▶ Ending     told to end; also from each of the states before
//   any of these ──▶ Leftovers ──▶ Gone     its first process is over; no process is left
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "engine/local/processes.h"
#include "engine/local/record.h"

namespace rota::local {

inline constexpr std::int64_t kNoTime = INT64_MAX;

// A job writes down how far it is before it is stopped to go on elsewhere or later: by a signal, or by a command of its
// user's.
class Checkpoint {
 public:
  // nullopt: the job has no way to, or none that works. `ran`: milliseconds so far; what it does while the checkpoint
  // is written may not be in it.
  static std::optional<Checkpoint> begin(const Order& order, pid_t main, std::int64_t ran, RunRecord& record);

  pid_t command() const { return command_; }  // 0: a signal was sent
  void command_ended(int status, RunRecord& record) const;
  void main_ended(int status, RunRecord& record) const;  // of the job
  void time_is_up(RunRecord& record) const;
  void end() const;  // of the command, where it still runs

 private:
  pid_t command_ = 0;
  std::int64_t ran_ = 0;
};

namespace run {

struct Launching {};
struct Running {};
struct Paused {
  std::int64_t since = 0;  // it stood or ran; settled up to then
};
struct Suspended {
  std::int64_t since = 0;   // the same
  std::int64_t ran_on = 0;  // milliseconds, while it was to stand
};
struct Checkpointing {
  Checkpoint checkpoint;
  std::int64_t until = kNoTime;
};
struct Ending {
  std::int64_t kill_at = kNoTime;
  std::unique_ptr<Ahead> ahead = {};
};
struct Leftovers {
  std::int64_t kill_at = kNoTime;  // none: they were not told to end
  std::unique_ptr<Ahead> ahead = {};
};
struct Gone {};

}  // namespace run

using RunState = std::variant<run::Launching, run::Running, run::Paused, run::Suspended, run::Checkpointing,
                              run::Ending, run::Leftovers, run::Gone>;

// Milliseconds for which a job has run, without those for which it stood.
class RunClock {
 public:
  void start(std::int64_t at) { since_ = at; }
  void stop(std::int64_t now) {
    before_ = ran(now);
    since_ = kNoTime;
  }
  void add(std::int64_t milliseconds) { before_ += milliseconds; }
  std::int64_t ran(std::int64_t now) const { return before_ + (since_ == kNoTime ? 0 : now - since_); }

 private:
  std::int64_t before_ = 0;
  std::int64_t since_ = kNoTime;  // none: it stands
};

}  // namespace rota::local

// What the engine keeps of a job: its latest dispatch, from the command on until its end is settled. How far that is,
// and which process looks after it, are one state each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "control/live_engine.h"
#include "engine/local/places.h"
#include "engine/local/record.h"
#include "engine/local/run_link.h"

namespace rota::local {

struct RunEntry {
  // It was ordered and has not been launched, or waits until it can be, or was told to go on where it stands.
  struct Begins {};
  // It is to go on once the accelerators that its stopped processes know are free.
  struct Parked {
    Command go_on;
  };
  struct Runs {};  // its launch was reported
  // How the dispatch ended was reported, or is about to be. Where its processes only stand still, it has vacated.
  struct Over {
    DispatchEnd end;
    bool reported = false;
  };
  struct Leaves {};  // the job has left for good: what is left of it is being ended, and nothing is reported
  using State = std::variant<Begins, Parked, Runs, Over, Leaves>;

  struct Supervised {
    std::unique_ptr<RunLink> link;  // none: it has not been ordered yet, or the supervisor has just gone
  };
  // The supervisor was killed, and the process at the link ends what is left.
  struct Buried {
    std::unique_ptr<RunLink> link;
  };
  // No supervisor is there, and what is left could not be ended just now: that is tried again.
  struct Unclear {
    Instant next_try = kNever;
  };
  using Keeper = std::variant<Supervised, Buried, Unclear>;

  std::string name;  // of its record; empty: none was made
  std::string left;  // the same where it was before it moved, for as long as that may be there
  std::uint32_t dispatch = kAnyDispatch;
  std::uint64_t key = 0;  // of the latest command about it
  RunRecord record;       // as it was last reported
  State state;
  Keeper keeper;
  Place place;
  Instant expected_end = kNever;
  Instant since = kNever;            // since when this dispatch counts as running here; kNever: of an earlier life
  Asked asked = Asked::nothing;      // by a command, and not carried out yet
  bool suspends = false;             // and to vacate is to stand still
  std::uint64_t stands = 0;          // key of the command by which a user has it stand still; 0: it goes on
  bool ours = false;                 // this life of the service ordered it, and so made its supervisor
  bool moving = false;               // is leaving a place that counts as free already
  std::optional<Command> next = {};  // about its next dispatch, once nothing is left of this one

  const Over* over() const { return std::get_if<Over>(&state); }
  bool launched() const { return std::holds_alternative<Runs>(state); }
  bool leaves() const { return std::holds_alternative<Leaves>(state); }
  bool under_way() const { return over() == nullptr && !leaves(); }
  // It has vacated its place, and its processes stand still.
  bool holds_stopped() const { return over() != nullptr && record.phase == RunPhase::suspended; }
  // Its processes stand still, or did until they were ended, and its place is others'.
  bool has_vacated() const { return !record.over() && (over() || leaves() || std::holds_alternative<Parked>(state)); }

  RunLink* link() const {
    if (const auto* buried = std::get_if<Buried>(&keeper)) return buried->link.get();
    const auto* supervised = std::get_if<Supervised>(&keeper);
    return supervised ? supervised->link.get() : nullptr;
  }
  void tell(const Tell& what) const {
    if (RunLink* const to = link()) to->tell(what);
  }
  // No process is at the link any more. True: that was to bury it.
  bool lost_keeper() {
    const Keeper before = std::exchange(keeper, Supervised{});
    return std::holds_alternative<Buried>(before);
  }
  // It counts as a dispatch of its own from this command on, whose job has vacated its place before.
  void begin_turn(const Command& command, Instant now) {
    dispatch = command.dispatch;
    key = command.key;
    expected_end = command.expected_end;
    since = now;
    state = Begins{};
    suspends = false;
    asked = Asked::nothing;
  }
};

// How one dispatch was over, by its record.
DispatchEnd end_of(const RunRecord& record);
JobUse use_of(const RunRecord& record);

}  // namespace rota::local

// Which commands have had no answer yet, and when each is to be sent again: first after the time that is set, then
// after twice as long, up to sixteen times. Only times are kept here; whether there has been an answer is for the state
// to say. Not thread-safe; O(commands without an answer) a look.
#pragma once

#include <cstdint>
#include <vector>

#include "control/ports.h"

namespace rota {

// What a controller does about answers that do not come. In a rehearsal all do, and none of this is needed.
struct AnswerRules {
  Duration answer_within{
      0};                  // a command without an answer for so long is sent again; 0: when it is looked at what exists
  Duration look_every{0};  // how often the engine is asked what really exists; 0: only after a restart
  Duration boot_grace{0};  // a node so late after it was expected to be on, or off, has failed; 0: it is waited for
};

class AnswerWatch {
 public:
  struct Awaited {
    Instant due;
    std::uint64_t key = 0;
    JobId job;    // or else
    NodeId node;  // of a command about power
    std::uint32_t tries = 1;
  };

  void set_rules(const AnswerRules& rules) {
    rules_ = rules;
    looked(kEpoch);
  }
  const AnswerRules& rules() const { return rules_; }
  bool watches() const { return rules_.answer_within > Duration{0} || rules_.look_every > Duration{0}; }

  // The command has gone out, for the first time or again.
  void sent(const Command& command, Instant now, std::uint32_t tries = 1);
  // When something is to be done next; kNever: nothing.
  Instant next() const;
  // Those that are due now, by when; they are watched no longer.
  std::vector<Awaited> take_due(Instant now);
  // Whether it is time to look at what really exists; then the next look is one interval from now.
  bool looks(Instant now);
  void looked(Instant now) {
    if (rules_.look_every > Duration{0}) look_at_ = now + rules_.look_every;
  }
  std::int64_t resent() const { return resent_; }

 private:
  AnswerRules rules_;
  std::vector<Awaited> awaited_;
  Instant look_at_ = kNever;
  std::int64_t resent_ = 0;
};

}  // namespace rota

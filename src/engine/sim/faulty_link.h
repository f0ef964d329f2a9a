// Between a controller and its engine: commands and answers that are lost, doubled and delayed, and so come out of
// order. The controller knows it as its engine, the engine as its intake. In virtual time; what goes wrong is drawn
// from a seeded generator. What the engine makes of such commands is its own affair (sim/run_ledger.h). Not
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <variant>

#include "base/random.h"
#include "control/ports.h"
#include "engine/sim/loop.h"

namespace rota::sim {

// Chances from 0 to 1, of each command and each answer.
struct LinkFaults {
  double loses = 0;
  double doubles = 0;
  double delays = 0;
  Duration longest{0};  // of a delay; > 0 where anything is delayed
};

struct LinkFaultCounts {
  std::int64_t lost_commands = 0;
  std::int64_t lost_answers = 0;
  std::int64_t doubled = 0;
  std::int64_t delayed = 0;
  std::int64_t unheard = 0;  // answers while no intake listened
};

class FaultyLink final : public Engine, public Intake, public Alarm {
 public:
  // All must outlive the link.
  FaultyLink(Engine& engine, VirtualLoop& loop, const LinkFaults& faults, std::uint64_t seed)
      : engine_(engine), loop_(loop), faults_(faults), chance_(seed) {}

  // What receives the answers from now on; nullptr: nothing does, and they are lost.
  void connect(Intake* listener) { listener_ = listener; }
  void heal() { faults_ = {}; }  // what is on its way still arrives
  bool idle() const { return on_the_way_.empty(); }
  const LinkFaultCounts& counts() const { return counts_; }

  Capabilities capabilities() const override { return engine_.capabilities(); }
  void dispatch(const Command& command) override { pass(command, counts_.lost_commands); }
  Observation observe() const override { return engine_.observe(); }

  // Jobs come to the controller on another way.
  JobId submit(const JobSpec& /*spec*/, Bars /*bars*/) override { return {}; }
  Result<void> record(const Observed& fact, Instant happened) override;
  Result<void> decide() override;
  void ring() override;

 private:
  struct Answer {
    Observed what;
    Instant happened;
  };
  using Message = std::variant<Command, Answer>;

  void pass(const Message& message, std::int64_t& lost);
  void arrive(const Message& message);
  void deliver(const Command& command) { engine_.dispatch(command); }
  void deliver(const Answer& answer);

  Engine& engine_;
  VirtualLoop& loop_;
  LinkFaults faults_;
  Random chance_;
  Intake* listener_ = nullptr;
  bool heard_ = false;  // something that has not been decided upon
  std::map<std::pair<Instant, std::uint64_t>, Message> on_the_way_;
  std::uint64_t messages_ = 0;
  LinkFaultCounts counts_;
};

}  // namespace rota::sim

// One site of a run and what happens to it at set times, by users and by the world: faults for a while, then everything
// is healed, and then every job must come to its end.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/sim/engine.h"
#include "swarm/site.h"

namespace rota::swarm {

class World final : private Alarm {
 public:
  // The case must outlive it.
  World(const Case& drawn, sim::VirtualLoop& loop);

  void begin();
  void wake_in_time();  // before each step of the loop
  void look();          // after it: what is wrong is kept for failure()
  void look_back();     // at the end: what the journal tells of comes out again
  // Everything has come to its end, and nothing is left.
  bool done() const;
  std::string what_is_missing() const;
  const std::optional<std::string>& failure() const { return failure_; }
  void take_stock(RunOutcome& outcome);  // at the end

  Site& site() { return site_; }
  Safety& safety() { return safety_; }
  sim::SimEngine& engine() { return engine_; }
  sim::FaultyLink& link() { return link_; }

 private:
  class NoJobs final : public sim::Source {
   public:
    bool next(sim::Arrival& /*arrival*/) override { return false; }
  };
  enum class Kind : std::uint8_t {
    submit,
    act,
    trouble,
    jump,
    compact,
    licences,
    reserve,
    take_back,
    look,
    heal,
    tidy
  };
  struct Due {
    Kind kind;
    std::size_t which;
  };

  void plan();
  void ring() override;
  void carry_out(const Due& due);
  void submit(const CaseJob& job);
  std::vector<Dependency> dependencies(const CaseJob& job) const;
  void act(const UserAct& act);
  void amend(const UserAct& act, JobId id, const Job& job);
  void trouble(const NodeTrouble& trouble);
  void count_licences(std::int64_t elsewhere);
  void look_at_reservations();
  void reserve(const Due& due);
  Result<void> ask_for(const CaseReservation& wanted, std::size_t which, const Controller& controller);
  void take_back(const Due& due);
  void operator_looks();
  void heal();
  void tidy();
  std::string what_is_left() const;
  void again(const Due& due);
  Result<void> decided(const Observed& fact, bool& taken);

  const Case& drawn_;
  Chain chain_;
  sim::VirtualLoop& loop_;
  NoJobs nothing_;
  Safety safety_;
  sim::SimEngine engine_;
  sim::FaultyLink link_;
  Site site_;
  std::multimap<Instant, Due> script_;
  bool healed_ = false;
  std::int64_t refused_reservations_ = 0;
  std::optional<std::string> failure_;
};

// Steps the loop; false: nothing is left to happen, or it has gone on for far too long.
bool steps(sim::VirtualLoop& loop, RunOutcome& outcome, std::int64_t most);
std::string when(const sim::VirtualLoop& loop, const RunOutcome& outcome);

RunOutcome run_case(const Case& drawn);

}  // namespace rota::swarm

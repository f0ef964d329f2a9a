// The controller: the only writer of state. Events come in, the policy chain drafts a plan, the referee checks it, and
// commands go out. One thread; no clock but the Loop's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/hash.h"
#include "control/ports.h"
#include "plan/plan.h"
#include "plan/referee.h"
#include "policy/chain.h"

namespace rota {

// A decision to let a job go on, and why that harms nobody; kept for the report. Jobs by the numbers that people use.
struct GrantRecord {
  std::int64_t job = 0;
  Instant at;
  Instant until = kNever;         // kNever: no limit was set
  std::int64_t beneficiary = -1;  // the waiting job whose promise was due; -1: none
  Instant promise = kNever;
  std::int64_t free = 0;    // processors free at that moment
  std::int64_t needed = 0;  // processors that the waiting job asks for
};

// Everything impure that a controller is wired to.
struct Ports {
  Loop& loop;
  Engine& engine;
  JobSink& jobs;
};

class Controller final : public EventSink, public Alarm {
 public:
  Controller(const ClusterOptions& options, const Chain& chain, const Ports& ports);

  // Folds the events and decides once. Fails if the referee refuses the plan or the engine a command.
  Result<void> deliver(std::span<const Event> events) override;
  // Shows the job sink those that were turned away after the last cycle. After the last delivery.
  void close();
  void ring() override;  // the policy asked to be woken; failure is kept for failure()

  const View& view() const { return cluster_; }
  const Result<void>& failure() const { return failure_; }
  const std::vector<GrantRecord>& grants() const { return grants_; }
  std::uint64_t plan_hash() const { return hash_.value(); }
  std::int64_t cycles() const { return cycles_; }
  std::int64_t referee_checks() const { return referee_.checks(); }
  Duration lost_work() const { return lost_work_; }

 private:
  bool fold(const Event& event);                     // true: worth a scheduling cycle
  [[gnu::cold]] bool fold_rare(const Event& event);  // what happens seldom
  bool admit(const Submitted& fact);
  Result<void> cycle();
  Result<void> carry_out_plan();
  Result<void> carry_out(const Action& action);
  Result<void> switch_power(NodeId node, bool on);
  Result<void> correct_expectation(JobId id);
  Result<void> start(const Action& action);
  [[gnu::cold]] Result<void> extend(const Action& action);
  [[gnu::cold]] Result<void> preempt(const Action& action);
  [[gnu::cold]] Result<void> migrate(const Action& action);
  std::int32_t cpu_factor_of(JobId id) const;
  void lose(Instant at, const Job& job, Duration kept);
  Instant limit_end_of(const Job& job) const;

  Cluster cluster_;
  const Chain& chain_;
  Ports ports_;
  Plan plan_;
  Referee referee_;
  Hash hash_;
  std::size_t next_place_ = 0;  // of the plan's places, while it is carried out
  std::int64_t cycles_ = 0;
  std::uint64_t next_key_ = 1;
  Duration lost_work_{0};
  std::vector<GrantRecord> grants_;
  Instant wakeup_ = kNever;      // when the loop will ring
  std::vector<JobId> outlived_;  // predictions to correct before the next cycle
  Result<void> failure_;
};

}  // namespace rota

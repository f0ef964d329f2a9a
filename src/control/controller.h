// The controller: the only writer of state. Facts come in, the policy chain drafts a plan, the referee checks it, what
// it decides is written down as facts, and commands go out. One thread; no clock but the Loop's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "control/answer_watch.h"
#include "control/ports.h"
#include "plan/plan.h"
#include "plan/referee.h"
#include "policy/chain.h"

namespace rota {

// Everything impure that a controller is wired to.
struct Ports {
  Loop& loop;
  Engine& engine;
  JobSink& jobs;
  // Asked to make what was written since the last time durable, before any command that rests on it goes out; nullptr:
  // nothing is kept. A failure ends the controller's work: what cannot be written down is not done.
  Durable* durable = nullptr;
};

class Controller final : public Intake, public Alarm {
 public:
  // What becomes of a plan that the referee refuses: in a rehearsal it ends the run; in production it is dropped, and
  // the cluster goes on in a plain mode (fcfs) until an operator looks.
  enum class Breach : std::uint8_t { ends_the_run, goes_plain };

  Controller(const ClusterOptions& options, const Chain& chain, const Ports& ports,
             Breach breach = Breach::ends_the_run);

  // Before anything else. Starts have answers where the cluster was made to confirm them.
  void set_answer_rules(const AnswerRules& rules) { answers_.set_rules(rules); }
  // Observers hear of facts in this order. They must outlive the controller.
  void add_observer(FactObserver& observer) {
    observers_.push_back(&observer);
    observed_ |= observer.wants();
  }

  JobId submit(const JobSpec& spec, Bars bars) override;
  using Intake::submit;
  // Submits a job with terms of its own, or held from the beginning. Fails with a sentence if the terms make no sense.
  // ahead: it goes before others of its priority.
  Result<JobId> submit(const JobSpec& spec, const JobTerms& terms, Bars holds, bool ahead = false);
  Result<void> record(const Observed& fact, Instant happened) override;
  using Intake::record;
  Result<void> decide() override;
  // A running job, or one that starts, is to stop and to be queued again. Fails with a sentence if it does not run, or
  // is just stopping.
  Result<void> requeue(JobId id);
  // A node is to be on, or off, by an operator's order. Fails with a sentence if it is so already, or on its way, or if
  // jobs run there.
  Result<void> order_power(NodeId node, bool on);
  // Why that cannot be, as a sentence; nothing if it can.
  std::optional<std::string> objection_to_power(NodeId node, bool on) const {
    return cluster_.objection(PowerOrdered{node, on});
  }
  // Shows the job sink those that were turned away after the last cycle. After the last decision.
  void close();
  void ring() override;  // a policy asked to be woken, or a begin time has come; a failure is kept for health()

  // Takes over a state from its facts: a snapshot and all that came after it. Once, before anything else. Fails with a
  // sentence if the facts contradict each other. Then resume().
  Result<void> replay(const Fact& fact);
  // The state goes on under other rules than those that it was made under: after replay() and before resume(). Jobs
  // that wait over a limit no longer do, and where `promises_end` what was promised ends with the policy that promised
  // it.
  void under_other_rules(bool promises_end);
  // Fails with a sentence if the engine lacks what the policy may order; changes nothing.
  Result<void> engine_can() const;
  // Begins to act on the state: a new epoch, what the engine says really exists, and commands without an answer again.
  // Fails with a sentence, that of engine_can() too.
  Result<void> resume();

  const View& view() const { return cluster_; }
  std::vector<Fact> snapshot() const;
  // Good, or what ended its work: from then on nothing is taken in or decided any more.
  const Result<void>& health() const { return health_; }
  std::uint64_t plan_hash() const { return hash_.value(); }
  std::int64_t cycles() const { return cycles_; }
  std::int64_t referee_checks() const { return referee_.checks(); }
  std::int64_t refusals() const { return refusals_; }            // observed facts that contradicted the state
  std::int64_t refused_plans() const { return refused_plans_; }  // by the referee, where that does not end the run
  // The policy decides again, after a plan of it was refused and an operator has looked.
  void leave_plain_mode();
  std::int64_t resent() const { return answers_.resent(); }  // commands that had no answer in time

 private:
  template <class Kind>
  [[gnu::always_inline]] inline void write(const Kind& what);
  template <class Kind>
  [[gnu::cold]] void show(const FactRef& fact);
  template <class Kind>
  Result<void> take_in(const Kind& what);
  template <class Kind>
  Duration late_for(const Kind& what, Instant happened) const;
  Result<void> refuse(std::string why);
  void withdraw_promises();
  void tell_refusal(const std::string& why);
  const Chain& deciding() const { return cluster_.plain() ? plain_chain_ : chain_; }
  // The world's clock may jump back; ours stands still then.
  void stamp() { cluster_.advance(std::max(ports_.loop.now(), cluster_.now())); }
  void correct_expectation(JobId id);
  void settle() {
    if (!outlived_.empty()) correct_expectations();
    if (!cluster_.eligibility().empty() || cluster_.limits().any_due()) settle_eligibility();
  }
  [[gnu::cold]] void correct_expectations();
  [[gnu::cold]] void adjusted(JobId job, Instant end_before);
  void settle_eligibility();
  void settle_bars(JobId id);
  void cycle();  // like send(), it sets health_ where it fails
  std::optional<std::string> draft();
  [[gnu::cold]] bool fall_back(const std::string& breach);
  bool check_bound() {
    cycles_at_instant_ = instant_ == cluster_.now() ? cycles_at_instant_ + 1 : 0;
    instant_ = cluster_.now();
    return cycles_at_instant_ <= kMostCycles || check_bound_of_size();
  }
  [[gnu::cold]] bool check_bound_of_size();
  void carry_out_plan();
  void carry_out(const Action& action);
  void switch_power(NodeId node, bool on, const Reason& reason);
  void start(const Action& action);
  [[gnu::cold]] void stop(JobId job, const Reason& reason, bool for_good);
  [[gnu::cold]] void extend(const Action& action);
  [[gnu::cold]] void preempt(const Action& action);
  [[gnu::cold]] void migrate(const Action& action);
  [[gnu::always_inline]] inline Command& command(Command::Kind kind, JobId job, const Job* about);
  Command& command(Command::Kind kind, JobId job);
  [[gnu::always_inline]] inline void run_terms(Command& command, const Job& job) const;
  Command& kill_command(JobId job);
  Command& preempt_command(JobId job, JobId beneficiary);
  Command& migrate_command(JobId job);
  Command& adjust_command(JobId job);
  Instant limit_end_of(const Job& job) const;
  void send() {
    if (unsent_ > 0 || ports_.durable) send_all();
  }
  void send_all();
  void set_alarm() {
    const Instant wakeup = answers_.watches() ? std::min(policy_wakes_, answers_.next()) : policy_wakes_;
    if (wakeup != wakeup_) ports_.loop.set(*this, wakeup_ = wakeup);
  }
  void watch_answers();
  void find_outlived();
  void look_after_answers();
  bool has_answer(const AnswerWatch::Awaited& awaited) const;
  void send_again(JobId id, bool seen);
  void adjust_again(JobId id, std::uint64_t carried_out);
  void send_again(NodeId id);
  void give_up_on_late_nodes();
  void reconcile(const Observation& seen, bool sends_again);
  void reconcile(JobId id, const Observation::JobSeen* seen, bool sends_again);
  void reconcile(const Observation::NodeSeen& seen, bool sends_again);
  void never_began(JobId id);
  void give_up(JobId id);

  static constexpr std::int64_t kMostCycles = 1000;  // at one instant, and four more for each job and node

  Cluster cluster_;
  const Chain& chain_;
  Chain plain_chain_;
  Ports ports_;
  Breach breach_;
  Plan plan_;
  Referee referee_;
  Hash hash_;
  std::vector<FactObserver*> observers_;
  std::uint64_t observed_ = 0;     // kinds of facts that some of them want
  std::vector<Command> commands_;  // the first unsent_ of them; the others keep their room for shares
  std::size_t unsent_ = 0;
  Duration late_{0};            // so long after it happened what is being taken in is heard
  std::size_t next_place_ = 0;  // of the plan's places, while it is carried out
  Started started_;             // scratch: keeps its room for shares
  std::int64_t cycles_ = 0;
  std::int64_t cycles_at_instant_ = 0;
  Instant instant_ = kEpoch;
  Instant wakeup_ = kNever;  // when the loop will ring
  Instant policy_wakes_ = kNever;
  AnswerWatch answers_;
  std::vector<AnswerWatch::Awaited> tries_;  // scratch: what is being sent again
  bool due_ = false;                         // something is worth a cycle
  std::vector<JobId> outlived_;              // predictions to correct before the next cycle
  std::int64_t refusals_ = 0;
  std::int64_t refused_plans_ = 0;
  Result<void> health_;
};

}  // namespace rota

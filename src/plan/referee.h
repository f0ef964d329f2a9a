// Checks every plan before it is carried out, with a ledger and arithmetic of its own: nothing here is shared with Plan
// or Profile, and the ledger is kept from the events alone. It is on in every rehearsal and in production. What
// running jobs release by an instant it reads in the view's index of running jobs, and the recount checks that index.
//
// In every plan it checks: that each action is about a job in the right state, once, and starts that overtake no job
// are the first of the queue; that the starts fit the processors that are free; that every promise that stands after
// the plan can be kept if all running jobs end as expected; that no promise is moved later, or withdrawn, or spoilt by
// a start, unless the world itself had already broken it; that no job starts on a node that is not on, only a node that
// is on and idle is sent to sleep, only one that sleeps is woken, and none is sent to sleep that a promise needs before
// it could be back. Beyond what one plan touches, it recounts the whole state and
// all promises together from time to time, paid from a credit that each plan earns, so that its cost per plan stays
// bounded.
//
// About reservations it checks that no start and no promise lies where something is reserved, unless there is room
// beside it.
//
// About migration it checks that a job moves once, to a place that is free before any job has moved, and that no
// waiting job is the worse for it: promises can be kept as before, and no job starts over while others wait.
//
// About preemption it checks that the jobs that give way have strictly lower priority than the jobs that they give way
// to, that what they free suffices for all of these, and, where nothing else happens in between, that these do start in
// their place and no job that gave way does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/moment.h"
#include "plan/plan.h"

namespace rota {

class Referee {
 public:
  // Must see every fact: `before` is the state at its time without it.
  template <class Kind>
  void judge(const View& /*before*/, const Kind& /*fact*/) {}
  void judge(const View& before, const Submitted& fact);
  void judge(const View& before, const Started& fact);
  void judge(const View& before, const Found& fact);
  void judge(const View& before, const Finished& fact) { ended(before, fact.job, false); }
  void judge(const View& before, const Requeued& fact) { ended(before, fact.job, true); }
  void judge(const View& before, const Vacated& fact) { ended(before, fact.job, true); }
  void judge(const View& before, const LaunchFailed& fact) { ended(before, fact.job, fact.again); }
  void judge(const View& before, const Cancelled& fact);
  void judge(const View& before, const Preempted& fact);
  void judge(const View& before, const Migrated& fact);
  void judge(const View& before, const PowerChanged& fact) {
    switched(before, fact.node, fact.state, kNever);
    gave_way_.clear();
  }
  void judge(const View& before, const PowerOrdered& fact) {
    switched(before, fact.node, fact.on ? PowerState::booting : PowerState::shutting_down, fact.until);
  }
  void judge(const View& before, const HealthChanged& fact) {
    drain(before, fact.node, fact.health != Health::up);
    gave_way_.clear();
  }
  void judge(const View& before, const LicencesCounted& fact);
  [[gnu::cold]] void judge(const View& before, const Described& fact);
  [[gnu::cold]] void judge(const View& before, const Reserved& fact);
  [[gnu::cold]] void judge(const View& before, const Unreserved& fact);
  // A job that gave way did so for what was known then.
  void judge(const View& /*before*/, const Opened& /*fact*/) { gave_way_.clear(); }  // and was seen to, or not
  void judge(const View& /*before*/, const Launched& /*fact*/) { gave_way_.clear(); }
  void judge(const View& /*before*/, const Overdue& /*fact*/) { gave_way_.clear(); }
  void judge(const View& /*before*/, const Expected& /*fact*/) { gave_way_.clear(); }
  void judge(const View& /*before*/, const Suspended& /*fact*/) { gave_way_.clear(); }
  void judge(const View& /*before*/, const Resumed& /*fact*/) { gave_way_.clear(); }
  void judge(const View& /*before*/, const LimitChanged& /*fact*/) { gave_way_.clear(); }
  // And of some what became of it: `after` is the state with it.
  template <class Kind>
  void settled(const View& /*after*/, const Kind& /*fact*/) {}
  void settled(const View& after, const Held& fact) { see_bars(after, fact.job); }
  void settled(const View& after, const Released& fact) { see_bars(after, fact.job); }
  void settled(const View& after, const Amended& fact) { see_bars(after, fact.job); }
  void settled(const View& after, const LicencesChanged& fact) { see_bars(after, fact.job); }
  void settled(const View& after, const Eligible& fact) { see_bars(after, fact.job); }
  void settled(const View& after, const LaunchFailed& fact) {
    if (fact.again) see_bars(after, fact.job);
  }
  void settled(const View& after, const Described& fact);
  void settled(const View& after, const Requeued& fact) {
    if (!after.job(fact.job).ours()) see_bars(after, fact.job);
  }
  void settled(const View& after, const JobKept& fact);
  void settled(const View& after, const NodeKept& fact);
  void settled(const View& /*after*/, const ReservationKept& fact) { reserved_.push_back(fact.row); }
  void settled(const View& after, const LicenceKept& fact);

  // The first breach found, as a sentence; nothing if the plan is sound. `view` is the state that it was made for.
  // Never inlined: profiles say what it costs.
  [[gnu::noinline]] std::optional<std::string> check(const View& view, const Plan& plan);

  std::int64_t checks() const { return checks_; }  // single facts recomputed so far

 private:
  enum class State : std::uint8_t { waiting, running, barred };

  void ended(const View& before, JobId job, bool queued_again);
  // What others do on a shared cluster can break any sum over it: where counts do not decide, nodes are looked at
  // alone.
  static bool sums_hold(const View& view) { return !view.options().shared || view.counts_decide(); }
  void switched(const View& before, NodeId node, PowerState state, Instant until);
  void drain(const View& before, NodeId node, bool unfit);
  std::int64_t drained_on(const View& view, NodeId node) const;
  void count_elsewhere(const View& view);
  bool may_lack_for_ever(const View& view, JobId job) const;
  void see_bars(const View& after, JobId job);
  bool waits(JobId job) const {
    const State* s = ledger_.find(job.value);
    return s && *s == State::waiting;
  }
  [[gnu::noinline]] std::optional<std::string> check_everything(const View& view, const Plan& plan);
  std::optional<std::string> check_actions(const View& view, const Plan& plan);
  std::optional<std::string> check_kept_promises(const View& view, const Plan& plan);
  std::optional<std::string> check_new_promises(const View& view, const Plan& plan);
  [[gnu::cold]] std::optional<std::string> check_reserved(const View& view, const Plan& plan);
  const Reservation* own_reservation(const View& view, JobId job) const;
  std::optional<std::string> check_start_within(const View& view, JobId job, const Placement& where);
  std::optional<std::string> check_start_beside(const View& view, const Plan& plan, JobId job, const Placement& where);
  std::optional<std::string> check_promise_beside(const View& view, const Plan& plan, const Promise& promise,
                                                  const Placement& where);
  std::int64_t held_beyond(const View& view, Instant at) const;
  std::int64_t reserved_at(Instant at) const;
  std::int64_t reserved_beside(const View& view, Instant at) const;
  std::int64_t least_free(const View& view, const Plan& plan, JobId job, Instant from) const;
  // Whether what is reserved is held from its beginning, or from when the jobs that run there are expected to have
  // left.
  enum class HeldFrom : std::uint8_t { beginning, others_ends };
  void count_reserved(const View& view, HeldFrom from);
  std::optional<std::string> recount(const View& view);
  enum class Promises : std::uint8_t { before, after };
  struct Excess {
    Instant at;
    std::int64_t used;
  };
  std::optional<Excess> first_excess(const View& view, const Plan& plan, Promises promises);
  std::optional<std::string> check_all_promises_together(const View& view, const Plan& plan);
  std::optional<std::string> check_preemption(const View& view, const Action& action) const;
  std::optional<std::string> check_beneficiaries(const View& view, const Plan& plan);
  std::optional<std::string> check_owed(const View& view, const Plan& plan);
  std::optional<std::string> check_room_made(const View& view, const Plan& plan);
  bool could_hold(const View& view, const JobSpec& spec) const;
  void use_what_peers_are_promised(const View& view, JobId beneficiary, std::int64_t sign);
  std::optional<std::string> check_peers(const View& view, const Plan& plan, JobId beneficiary);
  std::optional<std::string> check_migration(const View& view, const Action& action) const;
  std::optional<std::string> check_migrations(const View& view, const Plan& plan);
  std::optional<std::string> check_turns(const View& view, const Plan& plan);
  std::optional<std::string> check_places(const View& view, const Plan& plan);
  std::optional<std::string> check_room(const View& view, const Action& action, const Placement& where);
  std::optional<std::string> check_shape(const View& view, JobId job, const Placement& where);
  std::optional<std::string> node_excess(const View& view, const Plan& plan, Promises promises,
                                         HeldFrom held_from = HeldFrom::others_ends);
  std::optional<std::string> worst_node(const View& view);
  bool could_be_kept_on_nodes(const View& view, const Promise& promise) const;
  const char* breach_of_switch(const View& view, const Action& action);
  std::optional<std::string> check_power(const View& view, const Plan& plan);
  std::optional<std::string> check_promises_awake(const View& view, const Plan& plan);
  std::int64_t away_at(const View& view, Instant at) const;
  Instant back_at(const View& view, NodeId node) const;
  bool is_unfit(std::size_t node) const { return unfit_nodes_ > 0 && unfit_[node]; }
  bool back_by(const View& view, const Placement& where, Instant at) const;
  void count_power(const View& view, NodeId node, std::int64_t sign);
  template <class Visit>
  void for_each_away(const View& view, const Visit& visit) const;
  void count_nodes(const View& view, JobId job, const Placement& where, std::int64_t sign) {
    if (!view.nodes().counted()) count_described(view, job, where, sign);
  }
  void count_described(const View& view, JobId job, const Placement& where, std::int64_t sign);
  void count_place(const View& view, JobId job, const Placement& where, std::int64_t sign);
  void count_licences(const View& view, JobId job, std::int64_t sign);
  static Instant gone_by(const Plan& plan, JobId job);
  std::int64_t free_at(const View& view, const Plan& plan, Instant at, bool backfilled) const;
  bool starts(JobId job) const { return std::ranges::binary_search(started_, job); }
  bool were_broken(const View& view, const Plan& plan);

  PagedTable<State> ledger_;  // by job id; a job that is gone is forgotten
  std::int64_t held_ = 0;     // processors of running jobs
  std::int64_t leaving_ = 0;  // of those, of jobs that were told to give way
  // Which jobs gave way, and to which, at one instant at which nothing else has happened since; else empty.
  struct GaveWay {
    JobId job;
    JobId beneficiary;
    bool gone;
    Placement given_up;  // what it leaves, where places matter
  };
  std::vector<GaveWay> gave_way_;
  Instant gave_way_at_ = kNever;
  struct Used {
    std::int64_t processors = 0;
    std::int64_t memory = 0;
    std::int64_t accelerators = 0;

    void add(const Used& o) {
      processors += o.processors;
      memory += o.memory;
      accelerators += o.accelerators;
    }
  };
  static Used use_of(const JobSpec& spec, const Share& share, std::int64_t sign) {
    return {sign * share.processors, sign * spec.memory, sign * spec.accelerators};
  }
  static bool has(const Node& node, const Used& used) {
    return used.processors <= node.processors && has_rest(node, used);
  }
  static bool has_rest(const Node& node, const Used& used) {  // but for processors
    return used.accelerators <= node.accelerators && (node.memory == 0 || used.memory <= node.memory);
  }
  // Whether the job may run there at all; what is wrong with it if not, as the end of a sentence.
  static const char* bars(NodeId id, const Node& node, const JobSpec& spec);
  std::vector<Used> used_;  // by node, where nodes are described; licences come after the nodes
  struct Power {
    PowerState state = PowerState::on;
    Instant until = kNever;
    std::uint32_t failures = 0;  // boots that failed in a row; then `until` says how long the node is left alone
  };
  std::vector<Power> power_;                 // by node, once one has changed
  std::map<Instant, std::int64_t> booting_;  // processors of nodes that are not on: by when their boots end;
  std::map<std::pair<Instant, Duration>, std::int64_t> falling_asleep_;  // by when they sleep, and their boot times;
  std::map<Duration, std::int64_t> asleep_;                              // by their boot times
  std::int64_t away_ = 0;                                                // and all together, with
  std::int64_t drained_ = 0;           // what is unused on nodes that are on and not fit for use
  std::vector<Reservation> reserved_;  // those that are not over
  std::vector<bool> unfit_;            // by node; empty: none has ever been
  std::size_t unfit_nodes_ = 0;
  struct NodeChange {
    std::uint32_t node;
    Instant at;
    Used used;
    bool is_so = false;  // and no plan can change that
  };
  std::vector<NodeChange> node_changes_;  // scratch, as are
  std::vector<std::uint32_t> looked_at_;  // by node: in which look
  std::uint32_t looks_ = 0;
  std::vector<JobId> started_;  // by the plan that is looked at, rising
  std::int64_t credit_ = 0;     // for recounting
  std::int64_t checks_ = 0;
  std::vector<std::pair<Instant, std::int64_t>> changes_;  // scratch, as is
  std::vector<Promise> fresh_;
};

// visit(when they can take jobs, processors) for nodes that are not on; kNever: no policy promises to wake them.
template <class Visit>
void Referee::for_each_away(const View& view, const Visit& visit) const {
  const Instant now = view.now();
  const bool woken = view.options().wakes_for_promises;
  if (drained_ > 0) visit(kNever, drained_);
  for (const auto& [until, count] : booting_) visit(std::max(until, now + kMoment), count);
  for (const auto& [off, count] : falling_asleep_) visit(woken ? std::max(off.first, now) + off.second : kNever, count);
  for (const auto& [boot, count] : asleep_) visit(woken ? now + boot : kNever, count);
}

}  // namespace rota

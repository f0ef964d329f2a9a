// The one door through which state changes: observers, referee, fold; and before it, for what the world says, the
// check. And what is told the engine of a fact. For the files of Controller only.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "control/controller.h"
#include "plan/watched_fold.h"

namespace rota {

template <class Kind>
void Controller::show(const FactRef& fact) {
  for (FactObserver* observer : observers_) {
    if ((observer->wants() & FactKinds::bit<Kind>()) != 0) observer->fact_recorded(cluster_, fact);
  }
}

template <class Kind>
void Controller::write(const Kind& what) {
  const std::uint64_t sequence = cluster_.sequence() + 1;
  const Duration late = std::exchange(late_, Duration{0});  // what follows from it happens now
  if ((observed_ & FactKinds::bit<Kind>()) != 0) show<Kind>({cluster_.now(), sequence, &what, late});
  watched_fold(cluster_, referee_, sequence, what, late);
}

// About what the latest fact has decided.
Command& Controller::command(Command::Kind kind, JobId job, const Job* about) {
  if (unsent_ == commands_.size()) commands_.emplace_back();
  Command& command = commands_[unsent_++];
  command.forget();
  command.kind = kind;
  command.epoch = cluster_.epoch();
  command.key = cluster_.sequence();
  command.job = job;
  if (about) command.dispatch = about->dispatch;
  return command;
}

// Where and how long a job runs that starts or moves.
void Controller::run_terms(Command& command, const Job& job) const {
  command.start = job.start;
  command.expected_end = job.expected_end();
  command.limit_end = limit_end_of(job);
  if (cluster_.nodes().counted()) return;
  command.where = cluster_.placement(command.job);
  command.cpu_factor = cluster_.nodes().cpu_factor(command.where);
}

// By how much it lies behind: not after now, and of a job not before what of it came first.
template <class Kind>
Duration Controller::late_for(const Kind& what, Instant happened) const {
  if (happened >= cluster_.now()) return Duration{0};
  if constexpr (requires { what.job; }) {
    const Job* job = cluster_.find_job(what.job);
    if (job) happened = std::max(happened, job->state == JobState::running ? job->start : job->spec.submit);
  }
  return std::max(cluster_.now() - std::max(happened, kEpoch), Duration{0});
}

template <class Kind>
Result<void> Controller::take_in(const Kind& what) {
  if constexpr (std::is_same_v<Kind, Vacated>) {  // an engine's clock may be ahead of this one
    const Job* job = cluster_.knows(what.job) ? &cluster_.job(what.job) : nullptr;
    const Duration most = job && job->leaving ? cluster_.now() - late_ - job->start : kLongest;
    if (what.kept > most) return take_in(Vacated{what.job, most, what.dispatch, what.use});
  }
  if (auto why = cluster_.objection(what)) return refuse(std::move(*why));
  if constexpr (std::is_same_v<Kind, Reserved>) {
    if (auto kept = chain_.keeps_reservations(); !kept) return refuse(kept.error().message);
  }
  if constexpr (std::is_same_v<Kind, Finished>) {
    // Lost with its node: it is done again, unless it must not be, or others have the say: there it has ended.
    const Job& job = cluster_.job(what.job);
    const bool again = job.spec.may_move() && !cluster_.options().shared && !job.cancelling;
    if (what.outcome == Outcome::node_failed && again)
      return take_in(Requeued{what.job, job.spec.limit, what.dispatch, what.use});
    const bool for_good = job.spec.restart == Restart::once && !job.cancelling;  // as a rule has stopped it
    if (what.outcome == Outcome::cancelled && job.stopping && for_good)
      return take_in(Finished{what.job, Outcome::timed_out, what.dispatch, what.status, what.use});
  }
  if constexpr (std::is_same_v<Kind, Requeued>) {
    const Job& job = cluster_.job(what.job);
    if (job.spec.restart == Restart::once && job.ours() && !job.starting && !job.cancelling)
      return take_in(Finished{what.job, Outcome::timed_out, what.dispatch, 0, what.use});
  }
  if constexpr (std::is_same_v<Kind, Overdue>) {
    const Job& job = cluster_.job(what.job);
    if (job.limit_end() > cluster_.now()) {  // it has only outrun a prediction
      outlived_.push_back(what.job);
      return {};
    }
    if (!job.ours()) return {};  // others see to it
  }
  bool worth_it = true;
  if constexpr (std::is_same_v<Kind, PowerChanged>) {
    // A node that sleeps now may be needed, or be one that is to be woken again.
    worth_it = what.state == PowerState::on || all_waiting(cluster_) > 0 ||
               (!chain_.knobs().power.switches() && cluster_.power().row(what.node).by_rule);
  }
  if constexpr (kBesidePlans<Kind>) worth_it = false;
  if constexpr (std::is_same_v<Kind, Launched>) worth_it = cluster_.options().by_priority;  // it can give way now
  due_ = due_ || worth_it;
  instant_ = kNever;  // there is reason to look again
  if constexpr (std::is_same_v<Kind, Requeued> || std::is_same_v<Kind, Vacated> || std::is_same_v<Kind, LaunchFailed>) {
    if (cluster_.job(what.job).cancelling) {
      if constexpr (std::is_same_v<Kind, LaunchFailed>) {
        write(Cancelled{what.job});
      } else {
        write(Cancelled{what.job, what.use});
      }
      return Result<void>{};
    }
  }
  constexpr bool kAdjusts =
      std::is_same_v<Kind, Suspended> || std::is_same_v<Kind, Resumed> || std::is_same_v<Kind, LimitChanged>;
  if constexpr (kAdjusts) {
    const Instant end_before = cluster_.job(what.job).expected_end();
    write(what);
    adjusted(what.job, end_before);
    return Result<void>{};
  }
  write(what);
  if constexpr (std::is_same_v<Kind, CancelAsked>) {
    if (!cluster_.job(what.job).cancelling) stop(what.job, {}, true);
  }
  return {};
}

}  // namespace rota

// What the controller tells the engine, and how it takes over a state that another process has left.
#include <algorithm>
#include <string>
#include <utility>

#include "control/door.h"
#include "model/snapshot.h"

namespace rota {

// About what the latest fact has decided.
Command& Controller::command(Command::Kind kind, JobId job, const Job* its) {
  if (unsent_ == commands_.size()) commands_.emplace_back();
  Command& command = commands_[unsent_++];
  command.forget();
  command.kind = kind;
  command.epoch = cluster_.epoch();
  command.key = cluster_.sequence();
  command.job = job;
  if (its) command.dispatch = its->dispatch;
  return command;
}

// Where and how long a job runs that starts or moves.
void Controller::run_terms(Command& command, const Job& job) const {
  command.expected_end = job.expected_end();
  command.limit_end = limit_end_of(job);
  if (cluster_.nodes().counted()) return;
  command.where = cluster_.placement(command.job);
  command.cpu_factor = cluster_.nodes().cpu_factor(command.where);
}

Instant Controller::limit_end_of(const Job& job) const {
  switch (chain_.knobs().overrun) {
    case Overrun::kill:
      return job.limit_end();
    case Overrun::fixed:
      return job.limit_end() + chain_.knobs().grace;
    default:
      return kNever;
  }
}

Command& Controller::preempt_command(JobId job, JobId beneficiary) {
  Command& leave = command(Command::Kind::preempt, job);
  leave.how = chain_.knobs().preempt;
  leave.beneficiary = beneficiary;
  const JobSpec& spec = cluster_.job(job).spec;
  const bool by_itself = leave.how == Preemption::requeue && spec.restart == Restart::checkpoint;
  leave.kept = leave.how != Preemption::requeue || by_itself;
  if (by_itself) leave.pause = spec.restart_cost;
  return leave;
}

Command& Controller::migrate_command(JobId job) {
  const Job& its = cluster_.job(job);
  const JobSpec& spec = its.spec;
  Command& move = command(Command::Kind::migrate, job, &its);
  run_terms(move, its);
  move.kept = spec.restart == Restart::checkpoint;
  move.pause = spec.restart_cost;
  return move;
}

// What was decided is durable before anybody acts on it.
void Controller::send_all() {
  if (ports_.durable) {
    failure_ = ports_.durable->commit();
    if (!failure_) {
      unsent_ = 0;
      return;
    }
  }
  for (std::size_t i = 0; i < unsent_; ++i) ports_.engine.dispatch(commands_[i]);
  if (answers_.watches()) watch_answers();
  unsent_ = 0;
}

Result<void> Controller::replay(const Fact& fact) {
  if (auto why = cluster_.objection(fact)) {
    return fail("fact " + std::to_string(fact.sequence) + " of the journal contradicts those before it: " + *why);
  }
  watched_fold(cluster_, referee_, fact);
  return {};
}

std::vector<Fact> Controller::snapshot() const { return Snapshot::facts_of(cluster_); }

}  // namespace rota

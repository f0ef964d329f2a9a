// What the controller tells the engine, and how it takes over a state that another process has left.
#include <algorithm>
#include <string>
#include <utility>

#include "control/door.h"
#include "model/snapshot.h"

namespace rota {

Command& Controller::command(Command::Kind kind, JobId job) {
  return command(kind, job, job.valid() ? cluster_.find_job(job) : nullptr);
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

Command& Controller::kill_command(JobId job) {
  Command& kill = command(Command::Kind::kill, job);
  const Job& stopped = cluster_.job(job);
  kill.for_good = stopped.cancelling || stopped.spec.restart == Restart::once;
  return kill;
}

Command& Controller::preempt_command(JobId job, JobId beneficiary) {
  Command& leave = command(Command::Kind::preempt, job);
  leave.how = chain_.knobs().preempt;
  leave.beneficiary = beneficiary;
  const JobSpec& spec = cluster_.job(job).spec;
  const bool by_itself = leave.how == Preemption::requeue && spec.restart == Restart::checkpoint;
  leave.kept = (leave.how != Preemption::requeue && leave.how != Preemption::cancel) || by_itself;
  if (by_itself) leave.pause = spec.restart_cost;
  return leave;
}

Command& Controller::migrate_command(JobId job) {
  const Job& moved = cluster_.job(job);
  const JobSpec& spec = moved.spec;
  Command& move = command(Command::Kind::migrate, job, &moved);
  run_terms(move, moved);
  move.kept = spec.restart == Restart::checkpoint;
  move.pause = spec.restart_cost;
  return move;
}

// All of it, so that whichever of these comes last is enough.
Command& Controller::adjust_command(JobId job) {
  Job goes_on = cluster_.job(job);
  goes_on.stood = cluster_.stood(job);
  Command& adjust = command(Command::Kind::adjust, job);
  adjust.stands = goes_on.suspended();
  adjust.expected_end = goes_on.expected_end();
  adjust.limit_end = limit_end_of(goes_on);
  adjust.limit = goes_on.spec.limit;
  if (!cluster_.nodes().counted()) adjust.where = cluster_.placement(job);
  return adjust;
}

// What was decided is durable before it is acted on.
void Controller::send_all() {
  if (ports_.durable) {
    health_ = unsent_ > 0 ? ports_.durable->commit() : ports_.durable->commit_soon();
    if (!health_) {
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
    return fail("fact {} of the journal contradicts those before it: {}", fact.sequence, *why);
  }
  watched_fold(cluster_, referee_, fact);
  return {};
}

std::vector<Fact> Controller::snapshot() const { return Snapshot::facts_of(cluster_); }

}  // namespace rota

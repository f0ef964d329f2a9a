// What the controller tells the engine, and how it finds its way back into a state that another process has left.
#include <algorithm>
#include <string>
#include <utility>

#include "control/door.h"
#include "model/snapshot.h"

namespace rota {

// About what the latest fact has decided.
Command& Controller::command(Command::Kind kind, JobId job) {
  if (unsent_ == commands_.size()) commands_.emplace_back();
  Command& command = commands_[unsent_++];
  Placement where = std::move(command.where);
  where.shares.clear();
  command = {};
  command.kind = kind;
  command.epoch = cluster_.epoch();
  command.key = cluster_.sequence();
  command.job = job;
  command.where = std::move(where);
  return command;
}

// Where and how long a job runs that starts or moves.
void Controller::run_terms(Command& command) const {
  const Job& job = cluster_.job(command.job);
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

// What was decided is durable before anybody acts on it.
Result<void> Controller::send() {
  if (ports_.durable) {
    if (auto kept = ports_.durable->commit(); !kept) {
      unsent_ = 0;
      return kept;
    }
  }
  for (std::size_t i = 0; i < unsent_; ++i) ports_.engine.dispatch(commands_[i]);
  unsent_ = 0;
  return {};
}

Result<void> Controller::replay(const Fact& fact) {
  if (auto why = cluster_.objection(fact)) {
    return fail("fact " + std::to_string(fact.sequence) + " of the journal contradicts those before it: " + *why);
  }
  std::visit(
      [&](const auto& what) {
        cluster_.advance(fact.at);
        referee_.saw(cluster_, what);
        cluster_.fold(fact.at, fact.sequence, what);
        referee_.settled(cluster_, what);
      },
      fact.what);
  return {};
}

Result<void> Controller::resume() {
  stamp();
  write(Opened{cluster_.epoch() + 1});
  reconcile(ports_.engine.observe());
  due_ = true;
  return decide();
}

void Controller::reconcile(const Observation& seen) {
  std::vector<JobId> jobs;
  cluster_.for_each_job([&](JobId id, const Job& job) {
    if (job.state == JobState::running) jobs.push_back(id);
  });
  const auto by_id = [](const Observation::JobSeen& a, JobId b) { return a.job < b; };
  for (const JobId id : jobs) {
    const auto at = std::lower_bound(seen.jobs.begin(), seen.jobs.end(), id, by_id);
    reconcile(id, at != seen.jobs.end() && at->job == id ? &*at : nullptr);
  }
  for (const Observation::JobSeen& job : seen.jobs) {  // it runs and we do not count on it: it must not go on
    if (!job.runs || (cluster_.knows(job.job) && cluster_.job(job.job).state == JobState::running)) continue;
    command(Command::Kind::kill, job.job).for_good = true;
  }
  for (const Observation::NodeSeen& node : seen.nodes) reconcile(node);
}

// A job that holds what it asked for, and what the engine knows of it; nullptr: nothing.
void Controller::reconcile(JobId id, const Observation::JobSeen* seen) {
  const Job& job = cluster_.job(id);
  if (seen && !seen->runs) return write(Finished{id, seen->outcome});
  const bool carried_out = seen && seen->key >= job.command;
  if (!seen && !job.starting) {
    // It was there and is gone: nobody knows how it ended.
    if (job.cancelling) return write(Cancelled{id});
    if (job.spec.restart == Restart::never && !job.leaving) return write(Finished{id, Outcome::node_failed});
    return write(Requeued{id, job.spec.limit});
  }
  if (seen && job.starting) write(Launched{id});
  if (carried_out) return;
  // The latest command may not have come through: it is sent again under its own key.
  const auto again = [&](Command::Kind kind) -> Command& {
    Command& command = this->command(kind, id);
    command.key = job.command;
    return command;
  };
  if (job.stopping) {
    again(Command::Kind::kill).for_good = job.cancelling;
  } else if (job.leaving) {
    const auto& leaving = cluster_.leaving();
    const auto its = std::find_if(leaving.begin(), leaving.end(), [&](const Leaving& l) { return l.job == id; });
    preempt_command(id, its->beneficiary).key = job.command;
  } else {
    run_terms(again(seen ? Command::Kind::migrate : Command::Kind::start));
  }
}

void Controller::reconcile(const Observation::NodeSeen& seen) {
  if (seen.health != cluster_.power().health(seen.node)) write(HealthChanged{seen.node, seen.health});
  const PowerState known = cluster_.power().state(seen.node);
  const bool waited_for = known == PowerState::booting || known == PowerState::shutting_down;
  const PowerState target = known == PowerState::booting ? PowerState::on : PowerState::off;
  if (waited_for && seen.power != target) {
    Command& again = command(known == PowerState::booting ? Command::Kind::power_on : Command::Kind::power_off, {});
    again.node = seen.node;
    again.key = cluster_.power().row(seen.node).command;
  } else if (seen.power != known && !cluster_.objection(PowerChanged{seen.node, seen.power})) {
    write(PowerChanged{seen.node, seen.power});
  }
}

std::vector<Fact> Controller::snapshot() const { return Snapshot::facts_of(cluster_); }

}  // namespace rota

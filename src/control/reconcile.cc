// Commands whose answers do not come, and what the engine says really exists: how the controller finds its way back
// when something was lost between the two, or when another process has left the state to it.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "control/door.h"
#include "control/suitable.h"

namespace rota {

// How often each has been sent is written in `tries_`; what is sent for the first time is not in it.
void Controller::watch_answers() {
  const bool confirmed = cluster_.options().confirms_starts;
  for (std::size_t i = 0; i < unsent_; ++i) {
    const Command& command = commands_[i];
    if (command.kind == Command::Kind::start && !confirmed) continue;
    const auto again =
        std::find_if(tries_.begin(), tries_.end(), [&](const AnswerWatch::Awaited& a) { return a.key == command.key; });
    answers_.sent(command, cluster_.now(), again == tries_.end() ? 1 : again->tries + 1);
  }
  tries_.clear();
  set_alarm();
}

void Controller::look_after_answers() {
  for (const AnswerWatch::Awaited& awaited : answers_.take_due(cluster_.now())) {
    if (has_answer(awaited)) continue;
    tries_.push_back(awaited);
    if (awaited.job.valid()) {
      send_again(awaited.job, true);
    } else {
      send_again(awaited.node);
    }
  }
  if (!answers_.looks(cluster_.now())) return;
  reconcile(ports_.engine.observe(), answers_.rules().answer_within <= Duration{0});
  give_up_on_late_nodes();
}

bool Controller::has_answer(const AnswerWatch::Awaited& awaited) const {
  if (!awaited.job.valid()) {
    const PowerState state = cluster_.power().state(awaited.node);
    const bool settled = state == PowerState::on || state == PowerState::off;
    return settled || cluster_.power().row(awaited.node).command != awaited.key;
  }
  if (!cluster_.knows(awaited.job)) return true;
  const Job& job = cluster_.job(awaited.job);
  return job.state != JobState::running || job.settled() || job.command != awaited.key;
}

// The latest command about a job that runs, under its own key, and what it was told beside.
void Controller::send_again(JobId id, bool seen) {
  const Job& job = cluster_.job(id);
  if (job.stopping) {
    kill_command(id).key = job.command;
  } else if (job.leaving) {
    const auto& leaving = cluster_.leaving();
    const auto found = std::find_if(leaving.begin(), leaving.end(), [&](const Leaving& l) { return l.job == id; });
    preempt_command(id, found->beneficiary).key = job.command;
  } else {
    const bool moves = seen && !job.starting;
    Command& run = moves ? migrate_command(id) : command(Command::Kind::start, id);
    run.key = job.command;
    if (!moves) run_terms(run, job);
  }
  adjust_again(id, job.command);
}

// What a running job was told beside to run, unless that was carried out.
void Controller::adjust_again(JobId id, std::uint64_t carried_out) {
  const RunOrders* orders = cluster_.options().shared ? nullptr : cluster_.orders_of(id);
  if (orders && orders->command > carried_out && cluster_.job(id).settled()) adjust_command(id).key = orders->command;
}

void Controller::send_again(NodeId id) {
  const bool on = cluster_.power().state(id) == PowerState::booting;
  Command& again = command(on ? Command::Kind::power_on : Command::Kind::power_off, {});
  again.node = id;
  again.key = cluster_.power().row(id).command;
}

Result<void> Controller::engine_can() const {
  if (auto suits = engine_suits(chain_, ports_.engine.capabilities()); !suits) return suits;
  if (ports_.engine.capabilities().shared != cluster_.options().shared) {
    return fail(
        "the engine's cluster is {} by others, and the state was made for one that is {}; give it another engine.",
        cluster_.options().shared ? "not used" : "used", cluster_.options().shared ? "used" : "not");
  }
  if (ports_.engine.capabilities().confirms_starts != cluster_.options().confirms_starts) {
    return fail(
        "the engine {} when a job has started, and the state was made for one that does otherwise; give it another "
        "engine.",
        cluster_.options().confirms_starts ? "never says" : "says");
  }
  return {};
}

Result<void> Controller::resume() {
  if (auto can = engine_can(); !can) return can;
  if (!cluster_.reservations().empty()) {
    if (auto kept = chain_.keeps_reservations(); !kept) return kept;
  }
  stamp();
  write(Opened{cluster_.epoch() + 1});
  reconcile(ports_.engine.observe(), true);
  answers_.looked(cluster_.now());
  find_outlived();
  due_ = true;
  return decide();
}

// A job that had outrun a prediction when the controller went away is not reported again.
void Controller::find_outlived() {
  cluster_.running().for_each([&](const RunningEntry& e) {
    if (e.place.end > cluster_.now()) return false;
    const Job& job = cluster_.job(e.job);
    if (job.steady() && job.limit_end() > cluster_.now()) outlived_.push_back(e.job);
    return true;
  });
}

// `sends_again`: it is not known what was sent, and no answer is waited for, so all that has not been carried out is
// sent again.
void Controller::reconcile(const Observation& seen, bool sends_again) {
  std::vector<JobId> jobs;
  cluster_.running().for_each([&](const RunningEntry& entry) {
    jobs.push_back(entry.job);
    return true;
  });
  std::ranges::sort(jobs);
  std::vector<Observation::JobSeen> by_job = seen.jobs;
  std::ranges::stable_sort(by_job, {}, &Observation::JobSeen::job);
  for (const JobId id : jobs) {
    const auto at = std::ranges::lower_bound(by_job, id, {}, &Observation::JobSeen::job);
    const auto of_this_run = [&](const Observation::JobSeen& job) {
      return job.dispatch == kAnyDispatch || job.dispatch == cluster_.job(id).dispatch;
    };
    const auto end = std::ranges::upper_bound(at, by_job.end(), id, {}, &Observation::JobSeen::job);
    const auto found = std::find_if(at, end, of_this_run);
    if (found != end || seen.complete) {
      reconcile(id, found != end ? &*found : nullptr, sends_again);
    } else if (sends_again && !cluster_.job(id).settled()) {
      send_again(id, !cluster_.job(id).starting);  // its answer may have been lost
    }
  }
  for (const Observation::JobSeen& job : seen.jobs) {  // it runs and we do not count on it: it must not go on
    if (!job.runs || cluster_.options().shared ||
        (cluster_.knows(job.job) && cluster_.job(job.job).state == JobState::running))
      continue;
    Command& kill = command(Command::Kind::kill, job.job);
    kill.for_good = true;
    kill.dispatch = job.dispatch;
  }
  for (const Observation::NodeSeen& node : seen.nodes) reconcile(node, sends_again);
}

// A job that holds what it asked for, and what the engine knows of it; nullptr: nothing.
void Controller::reconcile(JobId id, const Observation::JobSeen* seen, bool sends_again) {
  const Job& job = cluster_.job(id);
  if (seen && !seen->runs) {
    late_ = late_for(Finished{id}, seen->ended);
    const auto taken = std::visit([&](const auto& end) { return take_in(end); }, seen->end);
    late_ = Duration{0};
    if (!taken && cluster_.knows(id) && cluster_.job(id).state == JobState::running) give_up(id);  // gone all the same
    return;
  }
  if (seen && seen->held) return;
  // It is not known whether a start that is not confirmed ever came; a job that was started would be seen.
  if (!seen && !cluster_.options().confirms_starts && !job.cancelling) {
    if (!job.settled()) return never_began(id);
    return send_again(id, false);
  }
  if (!seen && !job.starting) return give_up(id);
  if (seen && job.starting) static_cast<void>(take_in(Launched{id, job.dispatch}));
  if (seen && job.expected_end() <= cluster_.now() && job.steady())
    static_cast<void>(take_in(Overdue{id, job.dispatch}));
  const bool carried_out = seen && seen->key >= job.command;
  if (seen && (carried_out || !sends_again)) adjust_again(id, seen->key);
  if (!sends_again) return;
  if (!carried_out) {
    send_again(id, seen != nullptr);
  } else if (cluster_.job(id).steady()) {  // when to look at it again may not have been heard
    command(Command::Kind::expect, id).expected_end = cluster_.job(id).expected_end();
  }
}

// It was told to stop or to give way, and its start had not come yet.
void Controller::never_began(JobId id) {
  const Job& job = cluster_.job(id);
  if (job.leaving) {
    static_cast<void>(take_in(Vacated{id, Duration{0}, job.dispatch}));
  } else {
    static_cast<void>(take_in(Requeued{id, job.spec.limit, job.dispatch}));
  }
}

// It was there and is gone, and nothing tells how it ended. Where the engine forgets, it may have run to its end, and
// is not run again.
void Controller::give_up(JobId id) {
  if (cluster_.job(id).cancelling) {
    static_cast<void>(take_in(Cancelled{id}));
  } else if (ports_.engine.capabilities().remembers < kLongest) {
    static_cast<void>(take_in(Finished{id, Outcome::unknown}));
  } else {
    static_cast<void>(take_in(Finished{id, Outcome::node_failed}));
  }
}

void Controller::reconcile(const Observation::NodeSeen& seen, bool sends_again) {
  if (seen.node.value >= cluster_.nodes().size()) {
    static_cast<void>(refuse(
        fmt::format("the engine tells of the node with id {}, which the cluster does not have; nothing was changed.",
                    seen.node.value)));
    return;
  }
  if (seen.health && *seen.health != cluster_.power().health(seen.node))
    static_cast<void>(take_in(HealthChanged{seen.node, *seen.health}));
  const NodePowerRow& known = cluster_.power().row(seen.node);
  const bool waited_for = known.state == PowerState::booting || known.state == PowerState::shutting_down;
  const bool settled = seen.power == PowerState::on || seen.power == PowerState::off;
  const bool carried_out = seen.key >= known.command;
  if (waited_for && !carried_out) {
    if (sends_again) send_again(seen.node);
  } else if (settled && seen.power != known.state) {
    static_cast<void>(take_in(PowerChanged{seen.node, seen.power, waited_for ? known.command : 0}));
  }
}

// A boot that takes far longer than it should hangs: it has failed, and is tried again later like any other.
void Controller::give_up_on_late_nodes() {
  const Duration grace = answers_.rules().boot_grace;
  if (grace <= Duration{0}) return;
  for (std::uint32_t i = 0; i < cluster_.nodes().size(); ++i) {
    const NodePowerRow& row = cluster_.power().row(NodeId{i});
    if (row.until == kNever || row.until + grace > cluster_.now()) continue;
    static_cast<void>(take_in(PowerChanged{NodeId{i}, PowerState::off, row.command}));
  }
}

}  // namespace rota

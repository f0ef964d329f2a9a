#include "control/claim_gate.h"

#include <algorithm>
#include <utility>

namespace rota {

void ClaimGate::revoked(JobId id) {
  if (const auto job = jobs_.find(id); job != jobs_.end()) job->second.gone = true;
}

void ClaimGate::job_gone(JobId id) {
  jobs_.erase(id);
  held_.erase(id);
  for (auto& [job, commands] : held_) {
    std::erase_if(commands, [&](const Held& h) { return h.command.job == id; });
  }
}

// A job that runs is stopped whatever becomes of the claim that it was to give way for.
void ClaimGate::drop_held_preempt(JobId stopped) {
  for (auto& [job, commands] : held_) {
    const auto about_it = [&](const Held& h) { return h.command.job == stopped; };
    const auto gives_way = [&](const Held& h) { return about_it(h) && h.command.kind == Command::Kind::preempt; };
    if (std::ranges::count_if(commands, about_it) == std::ranges::count_if(commands, gives_way))
      std::erase_if(commands, gives_way);
  }
  std::erase_if(held_, [](const auto& held) { return held.second.empty(); });
}

// The job for whose claim the command has to wait because an earlier one about the same job does.
const JobId* ClaimGate::waiting_for(const Command& command) const {
  for (const auto& [job, commands] : held_) {
    const bool same =
        std::any_of(commands.begin(), commands.end(), [&](const Held& h) { return h.command.job == command.job; });
    if (same) return &job;
  }
  return nullptr;
}

void ClaimGate::dispatch(const Command& command) {
  const bool of_power = command.kind == Command::Kind::power_on || command.kind == Command::Kind::power_off;
  if (!held_.empty() && command.kind == Command::Kind::kill) drop_held_preempt(command.job);
  if (!held_.empty() && !of_power && command.kind != Command::Kind::preempt) {
    if (const JobId* job = waiting_for(command)) return hold(*job, command);
  }
  const bool about_start = command.kind == Command::Kind::start;
  if (!about_start && command.kind != Command::Kind::preempt) return engine_.dispatch(command);
  const JobId id = about_start ? command.job : command.beneficiary;
  const auto job = jobs_.find(id);
  return job == jobs_.end() ? pass(command) : ask(id, job->second, command);
}

Observation ClaimGate::observe() const {
  Observation seen = engine_.observe();
  if (held_.empty() || engine_.capabilities().confirms_starts) return seen;
  for (const auto& [job, commands] : held_) {
    const auto start = std::find_if(commands.begin(), commands.end(),
                                    [](const Held& h) { return h.command.kind == Command::Kind::start; });
    if (start == commands.end()) continue;
    const auto at = std::ranges::lower_bound(seen.jobs, job, {}, &Observation::JobSeen::job);
    const Observation::JobSeen held{job, true, {}, start->command.key, start->command.dispatch, true};
    if (at != seen.jobs.end() && at->job == job) {
      if (!at->runs) *at = held;  // an earlier dispatch
    } else {
      seen.jobs.insert(at, held);
    }
  }
  return seen;
}

void ClaimGate::ask(JobId id, Claimed& job, const Command& command) {
  if (job.gone) return refuse(id, command);
  if (held_.contains(id)) return hold(id, command);  // asked already
  const bool about_start = command.kind == Command::Kind::start;
  switch (about_start ? keeper_.claim_to_start(job.number) : keeper_.claim_to_make_room(job.number)) {
    case StartAnswer::ours:
      return pass(command);
    case StartAnswer::pending:
      held_starts_ += about_start ? 1 : 0;
      return hold(id, command);
    case StartAnswer::gone:
      break;
  }
  job.gone = true;
  refuse(id, command);
  keeper_.lost(id);
}

void ClaimGate::pass(const Command& command) {
  if (command.kind == Command::Kind::preempt) {
    keeper_.makes_room(command.beneficiary);
    if (drop_start(command)) return;
  }
  if (command.kind == Command::Kind::start) {
    if (const auto job = jobs_.find(command.job); job != jobs_.end()) keeper_.starts(command.job, job->second.number);
  }
  return engine_.dispatch(command);
}

// A job whose start is held back gives way by not starting. What is asked about it at the exchange goes on.
bool ClaimGate::drop_start(const Command& give_way) {
  const JobId id = give_way.job;
  const auto held = held_.find(id);
  if (held == held_.end()) return false;
  const auto about_it = [&](const Held& h) { return h.command.job == id; };
  if (std::erase_if(held->second, about_it) == 0) return false;
  if (held->second.empty()) held_.erase(held);
  keeper_.not_started(give_way);
  return true;
}

// What follows a start that is held back is as late as that, and of orders when to look at it the last one counts.
void ClaimGate::hold(JobId id, const Command& command) {
  std::vector<Held>& held = held_[id];
  Instant since = loop_.now();
  for (const Held& h : held) {
    if (h.command.kind == Command::Kind::start && h.command.job == command.job) since = h.since;
  }
  if (command.kind == Command::Kind::expect) {
    std::erase_if(held, [&](const Held& h) { return h.command.kind == command.kind && h.command.job == command.job; });
  }
  std::erase_if(held, [&](const Held& h) {  // it is sent again
    return h.command.key == command.key && h.command.kind == command.kind && h.command.job == command.job;
  });
  held.push_back({command, since});
}

void ClaimGate::release(const Held& held) {
  Command command = held.command;
  command.shift(loop_.now() - held.since);
  return pass(command);
}

// A job that was to give way is not disturbed: it leaves without having done anything in vain, and can go on at once.
// For all other orders about a job that has not started nothing is left to do.
void ClaimGate::refuse(JobId id, const Command& command) {
  if (command.kind != Command::Kind::preempt || command.job == id || drop_start(command)) return;
  Command unharmed = command;
  unharmed.how = Preemption::suspend;
  unharmed.kept = true;
  unharmed.pause = Duration{0};
  return engine_.dispatch(unharmed);
}

void ClaimGate::answered(std::int64_t job, bool ours) {
  const auto named = [&](const auto& known) { return known.second.number == job && !known.second.gone; };
  const auto known = std::find_if(jobs_.begin(), jobs_.end(), named);
  if (known == jobs_.end()) return;
  const JobId id = known->first;
  known->second.gone = !ours;
  auto commands = held_.extract(id);
  if (commands) {
    for (const Held& held : commands.mapped()) {
      if (ours) {
        release(held);
      } else {
        refuse(id, held.command);
      }
    }
  }
  if (!ours) keeper_.lost(id);
}

}  // namespace rota

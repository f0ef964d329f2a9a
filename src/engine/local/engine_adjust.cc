// A running job stands still, goes on, or gets another limit. Its supervisor does it, and keeps the limit meanwhile.
#include <csignal>

#include "engine/local/engine.h"

namespace rota::local {

// What jobs hold stays taken, whichever node's it is now.
void LocalEngine::describe(const Machine& machine) {
  options_.machine = &machine;
  places_ = Places(machine, options_.pins);
  for (const auto& [job, entry] : runs_) places_.take(entry.place);
  switch_.describe(machine);
}

// While a job moves there is no supervisor to tell: its start elsewhere takes these terms.
void LocalEngine::adjust(const Command& command) {
  const auto found = runs_.find(command.job);
  if (found == runs_.end() || found->second.end || found->second.dispatch != command.dispatch) return;
  Entry& entry = found->second;
  if (command.key <= entry.key) return;
  const bool stood = entry.stands != 0 || entry.record.paused != 0;
  entry.stands = command.stands ? command.key : 0;
  entry.expected_end = command.stands ? kNever : command.expected_end;
  if (entry.asked == Asked::move) {
    if (entry.next) entry.next->expected_end = command.expected_end;
    if (entry.next) entry.next->limit_end = command.limit_end;
    return;
  }
  remind(command.job, entry);
  if (!entry.link) return;  // the command comes again once a supervisor can receive it
  entry.key = command.key;
  entry.record.deadline = command.stands ? INT64_MAX : on_boot_clock(command.limit_end);
  const bool signals = command.stands || stood;
  if (command.limit.count() != entry.record.limit) {
    Tell limit = tell(Tell::Kind::limit, command);
    if (signals) limit.key = 0;  // were this all that is heard, the rest must not count as carried out
    limit.deadline = on_boot_clock(command.limit_end);
    limit.limit = entry.record.limit = command.limit.count();
    entry.link->tell(limit);
  }
  if (!signals) return;
  Tell signal = tell(Tell::Kind::signal, command);
  signal.number = command.stands ? SIGSTOP : SIGCONT;
  entry.link->tell(signal);
}

// It moved, and was suspended before it had begun there.
void LocalEngine::stop_moved(const Entry& entry) {
  if (entry.stands <= entry.record.key || entry.asked == Asked::move || !entry.link) return;
  entry.link->tell({.kind = Tell::Kind::signal, .epoch = epoch_, .key = entry.stands, .number = SIGSTOP});
}

bool LocalEngine::ends_at_limit(JobId job) const {
  const auto found = runs_.find(job);
  return found != runs_.end() && found->second.record.asked == Asked::limit && !found->second.record.over();
}

}  // namespace rota::local

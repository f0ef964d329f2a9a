// A job that runs stands still, goes on, gets another limit, gives way and has its next turn, or moves.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/words.h"
#include "engine/local/engine.h"
#include "process/descriptor.h"

namespace rota::local {

// ---- terms: the supervisor keeps them

// What jobs hold stays taken, whichever node's it is now.
void LocalEngine::describe(const Machine& machine) {
  options_.machine = &machine;
  places_ = Places(machine, options_.pins);
  for (const auto& [job, entry] : runs_) places_.occupy(entry.place);
  switch_.describe(machine);
}

// While a job moves there is no supervisor to tell: its start elsewhere takes these terms.
void LocalEngine::adjust(const Command& command) {
  const auto found = runs_.find(command.job);
  if (found == runs_.end() || found->second.over() || found->second.dispatch != command.dispatch) return;
  RunEntry& entry = found->second;
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
  if (!entry.link()) return;  // the command comes again once a supervisor can receive it
  entry.key = command.key;
  entry.record.deadline = command.stands ? INT64_MAX : on_boot_clock(command.limit_end);
  const bool signals = command.stands || stood;
  if (command.limit.count() != entry.record.limit) {
    Tell limit = tell(Tell::Kind::limit, command);
    if (signals) limit.key = 0;  // were this all that is heard, the rest must not count as carried out
    limit.deadline = on_boot_clock(command.limit_end);
    limit.limit = entry.record.limit = command.limit.count();
    entry.tell(limit);
  }
  if (!signals) return;
  Tell signal = tell(Tell::Kind::signal, command);
  signal.number = command.stands ? SIGSTOP : SIGCONT;
  entry.tell(signal);
}

// It moved, and was suspended before it had begun there.
void LocalEngine::stop_moved(const RunEntry& entry) {
  if (entry.stands <= entry.record.key || entry.asked == Asked::move) return;
  entry.tell({.kind = Tell::Kind::signal, .epoch = epoch_, .key = entry.stands, .number = SIGSTOP});
}

bool LocalEngine::ends_at_limit(JobId job) const {
  const auto found = runs_.find(job);
  return found != runs_.end() && found->second.record.asked == Asked::limit && !found->second.record.over();
}

// ---- turns: a job that was suspended to give way, from the start that is its next one on

// Its processes are there, and stopped.
void LocalEngine::go_on(RunEntry& entry, const Command& command) {
  entry.begin_turn(command, since(command));
  // Its processes know the accelerators that they were given first: the job waits until others leave these.
  if (!places_.are_free(entry.record.devices)) {
    entry.state = RunEntry::Parked{command};
    return;
  }
  Placement where = command.where;
  where.per_node.accelerators = 0;
  entry.place = places_.occupy(where, entry.record.processors);
  entry.place.devices = entry.record.devices;
  places_.occupy(entry.place);
  entry.record.phase = RunPhase::claimed;
  Tell go_on = tell(Tell::Kind::go_on, command);
  go_on.deadline = entry.record.deadline = on_boot_clock(limit_end_in_turn(command));
  go_on.since = on_boot_clock(entry.since);
  go_on.cores = entry.place.cores;
  entry.tell(go_on);
}

// While the service was away nothing of its limit has passed.
Instant LocalEngine::limit_end_in_turn(const Command& command) const {
  const bool of_earlier_life = is_of_earlier_life(command) && command.start != kNever;
  return of_earlier_life && command.limit_end != kNever ? command.limit_end + (loop_.now() - command.start)
                                                        : command.limit_end;
}

// Others get these only where there are no others left.
std::vector<std::uint32_t> LocalEngine::devices_of_stopped() const {
  std::vector<std::uint32_t> devices;
  if (!options_.machine->has_accelerators()) return devices;
  for (const auto& [job, entry] : runs_) {
    if (!entry.has_vacated()) continue;
    devices.insert(devices.end(), entry.record.devices.begin(), entry.record.devices.end());
  }
  return devices;
}

void LocalEngine::go_on_where_free() {
  for (auto& [job, entry] : runs_) {
    const auto* parked = std::get_if<RunEntry::Parked>(&entry.state);
    if (parked && places_.are_free(entry.record.devices)) go_on(entry, begins_later(parked->go_on, entry.since));
  }
}

// Its work was to be kept, so that it may not begin anew unasked: how it ended counts, but is told of the dispatch
// under which it was to go on. Until then nothing follows from it.
void LocalEngine::ended_while_it_stood(JobId job, RunEntry& entry) {
  entry.record.stood = true;
  source_.note_of_job(job, entry.record.lost
                               ? "Its supervisor was killed while the job was suspended, and the job with it; that is "
                                 "told as a failure of its node when its turn comes."
                               : "The job ended while it was suspended; how it did is told when its turn comes.");
}

// Written down before it is told: a service that starts again must not tell it of a later turn once more. Where it
// cannot be written, the command comes again (AnswerRules).
void LocalEngine::end_in_turn(RunEntry& entry, const Command& command) {
  RunRecord told = entry.record;
  told.stood = false;
  told.dispatch = command.dispatch;
  told.key = command.key;
  const process::Descriptor file(
      ::openat(folder_.get(), entry.name.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  const bool kept = file ? process::add_line(file.get(), "\n" + in_words(told)) == 0 : errno == ENOENT;
  if (!kept) return;
  entry.begin_turn(command, since(command));
  entry.record = std::move(told);
  over(command.job, entry);
}

// ---- moves: a running job writes down how far it is, if it can; it is stopped, with all its processes; and only once
// nothing is left of it does it begin on the nodes that it is to have. What it leaves counts as free from the decision
// on, so a job that is to start there waits until it has left, and so does the command that switches the node off.

void LocalEngine::migrate(const Command& command) {
  const auto found = runs_.find(command.job);
  if (found == runs_.end() || found->second.dispatch != command.dispatch) return;  // what became of it was told
  RunEntry& entry = found->second;
  if (command.key < entry.key) return;
  if (entry.over()) return answer_again(command.job, entry);
  const bool known = command.key == entry.key;
  if (known && (entry.next || entry.asked != Asked::move)) return;  // under way, or over
  entry.key = command.key;
  entry.asked = Asked::move;
  entry.expected_end = command.expected_end;
  entry.next = command;
  if (entry.record.over()) return over(command.job, entry);  // it has left already
  entry.moving = true;
  Tell stop = tell(Tell::Kind::stop, command);
  stop.asked = Asked::move;
  stop.checkpoint = command.kept;
  entry.tell(stop);
}

// Nothing is left of it where it was. False: it does not go on elsewhere after all, and that is its end.
bool LocalEngine::moves_on(JobId job, RunEntry& entry) {
  RunRecord& record = entry.record;
  if (record.lost && record.asked == Asked::move) record.asked = Asked::nothing;
  const bool stays = record.asked != Asked::move;  // it has ended by itself, or was cancelled
  const bool anew = !stays && entry.next && entry.next->kept && record.kept < 0;  // there is nothing to go on from
  if (stays || anew) {
    if (anew) record.asked = Asked::requeue;
    entry.asked = Asked::nothing;
    entry.next.reset();
  } else if (entry.next) {
    begin_elsewhere(job, entry);
  }  // else it was told to by an earlier life of the service: the command comes again
  return !stays && !anew;
}

void LocalEngine::begin_elsewhere(JobId job, RunEntry& entry) {
  Command command = *entry.next;
  if (must_wait(command)) return;
  command.limit_end = limit_end_in_turn(command);
  entry.next.reset();
  entry.asked = Asked::nothing;
  entry.since = loop_.now();
  entry.left = entry.name;
  const RunRecord before = std::exchange(entry.record, {});
  const std::uint32_t move = before.move + 1;
  entry.record.move = move;
  entry.record.elsewhere = before.elsewhere + before.ran;
  entry.record.user = before.user;
  entry.record.system = before.system;
  entry.record.memory = before.memory;
  entry.record.used_in = before.used_in;
  const bool lost = folder_.rebooted() && is_of_earlier_life(command);  // it may have run there before
  auto run = lost ? Result<RunRequest>() : source_.run_of(command);
  if (lost) {
    entry.record.lost = true;
    entry.record.phase = RunPhase::ended;
    entry.record.job = job.value;
    over(job, entry);
  } else if (!run) {
    could_not_launch(job, entry, run.error().message);
  } else {
    order(command, *std::move(run), move);
    remind(job, entry);
  }
}

// Whether another one has yet to leave a node that this start or move is for, or that is to go to sleep: then it is
// kept for later.
bool LocalEngine::must_wait(const Command& command) {
  const auto is_about = [&](std::uint32_t node) {
    return std::ranges::find(command.where.shares, NodeId{node}, &Share::node) != command.where.shares.end() ||
           (command.kind == Command::Kind::power_off && command.node.value == node);
  };
  const auto leaves = [&](const auto& each) {
    const auto& [job, entry] = each;
    return job != command.job && entry.moving && std::ranges::any_of(entry.record.nodes, is_about);
  };
  if (std::ranges::none_of(runs_, leaves)) return false;
  const auto is_this = [&](const Command& other) { return other.kind == command.kind && other.key == command.key; };
  // It may come again meanwhile.
  if (std::ranges::none_of(waiting_, is_this, &Waiting::command)) waiting_.push_back({command, loop_.now()});
  return true;
}

// It still has all of its limit.
Command LocalEngine::begins_later(Command command, Instant since) const {
  command.shift(loop_.now() - since);
  return command;
}

void LocalEngine::start_those_that_waited() {
  for (const auto& [command, since] : std::exchange(waiting_, {})) {
    if (!command.job.valid()) {
      dispatch(command);
      continue;
    }
    const auto found = runs_.find(command.job);
    if (found == runs_.end() || found->second.key != command.key || found->second.over()) continue;  // it is not to be
    if (command.kind == Command::Kind::start) {
      launch(begins_later(command, since));
    } else if (found->second.next && found->second.record.over()) {
      found->second.next = begins_later(*found->second.next, since);
      found->second.expected_end = found->second.next->expected_end;
      begin_elsewhere(command.job, found->second);
    }
  }
}

}  // namespace rota::local

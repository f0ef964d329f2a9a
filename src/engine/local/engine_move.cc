// A running job goes on elsewhere: it writes down how far it is, if it can; it is stopped, with all its processes; and
// only once nothing is left of it does it begin on the nodes that it is to have. What it leaves counts as free from the
// decision on, so a job that is to start there waits until it has left, and so does the command that switches the node
// off.
#include <algorithm>
#include <utility>

#include "engine/local/engine.h"

namespace rota::local {

void LocalEngine::migrate(const Command& command) {
  const auto found = runs_.find(command.job);
  if (found == runs_.end() || found->second.dispatch != command.dispatch) return;  // what became of it was told
  Entry& entry = found->second;
  if (command.key < entry.key) return;
  if (entry.end) return answer_again(command.job, entry);
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
  tell_keeper(entry, stop);
}

// Nothing is left of it where it was. False: it does not go on elsewhere after all, and that is its end.
bool LocalEngine::moves_on(JobId job, Entry& entry) {
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

void LocalEngine::begin_elsewhere(JobId job, Entry& entry) {
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
  const bool lost = rebooted_ && is_of_earlier_life(command);  // it may have run there before
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
    if (found == runs_.end() || found->second.key != command.key || found->second.end) continue;  // it is not to be
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

// A run whose supervisor is gone, or hangs so that it cannot be spoken to.
#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "engine/local/engine.h"
#include "engine/local/processes.h"
#include "engine/local/record_holder.h"
#include "process/descriptor.h"

namespace rota::local {

using process::Descriptor;
using process::Reached;
using process::try_to_connect;

// What is on disk tells how far it got. Until it is over, that has the limit with which it was claimed, and the limit
// may have been changed since. False: there is no record.
bool LocalEngine::read_again(Entry& entry) const {
  const auto record = read_record(folder_.get(), entry.name);
  if (!record) return false;
  const RunRecord known = std::exchange(entry.record, *record);
  if (record->over()) return true;
  entry.record.limit = known.limit;
  entry.record.deadline = known.deadline;
  return true;
}

// The connection is closed and nothing was said before.
void LocalEngine::look(JobId job, Entry& entry) {
  const bool not_buried = std::exchange(entry.silence.buried, false);  // the spawner has ended, or can make no process
  const bool claimed = read_again(entry);
  if (claimed && entry.record.over()) return over(job, entry);
  if (not_buried || (!claimed && cannot_be_read(entry))) return look_later(job, entry);
  if (claimed && speak_to(job, entry)) return plan_look(job, entry, over_by(entry));
  if (claimed && entry.record.pid == 0) {
    end_before_it_begins(job, entry);
  } else {
    no_supervisor_left(job, entry);
  }
}

// It may be there: there are no files left to open, say.
bool LocalEngine::cannot_be_read(const Entry& entry) const {
  const Descriptor record(::openat(folder_.get(), entry.name.c_str(), O_RDONLY | O_CLOEXEC));
  return !record && errno != ENOENT;
}

// Any user can take the name of a supervisor that is gone, and crowd one that is there: then it counts whether the
// supervisor lives.
Reached LocalEngine::reach(const Entry& entry) const {
  Reached reached = try_to_connect(entry.record.socket);
  if (reached.crowded && can_open_more()) reached.crowded = record_holder(folder_.get(), entry.name) != 0;
  return reached;
}

// False: no supervisor is there.
bool LocalEngine::speak_to(JobId job, Entry& entry) {
  Reached reached = reach(entry);
  if (reached.socket) {
    watch(job, entry, std::move(reached.socket));
  } else if (reached.crowded) {
    const auto try_again = [this, job] { return reach(runs_.at(job)); };
    entry.link = std::make_unique<RunLink>(io_, try_again, hearing_of(job));
  } else {
    return false;
  }
  entry.link->tell({.kind = Tell::Kind::hello, .epoch = epoch_});
  return true;
}

// A supervisor that hangs must not begin it later.
void LocalEngine::end_before_it_begins(JobId job, Entry& entry) {
  Descriptor holder = kill_holder(folder_.get(), entry.name);
  if (!holder && (cannot_be_read(entry) || record_holder(folder_.get(), entry.name) != 0))
    return look_later(job, entry);
  if (!holder) return no_supervisor_left(job, entry);
  entry.silence.dying = std::make_unique<GoneWatch>(io_, std::move(holder), [this, job] { holder_gone(job); });
  entry.silence.killed = loop_.now();
  plan_look(job, entry, entry.silence.killed + options_.hang_wait);
}

// Commands about the job that came meanwhile were noted, and count now.
void LocalEngine::holder_gone(JobId job) {
  Entry& entry = runs_.at(job);
  const auto over_now = std::move(entry.silence.dying);
  no_supervisor_left(job, entry);
}

void LocalEngine::no_supervisor_left(JobId job, Entry& entry) {
  const bool claimed = read_again(entry);
  if (!claimed && cannot_be_read(entry)) return look_later(job, entry);
  if (claimed && entry.record.over()) return over(job, entry);
  if (claimed && entry.record.pid != 0) return bury(job, entry);
  if (!claimed && entry.silence.given_up) spawner_.end(entry.silence.spawner);
  could_not_launch(job, entry,
                   entry.silence.given_up ? "Its start was given up: the process that was to start it did not answer."
                                          : "The process that was to start it was killed.");
}

// No process can wait for the job's processes any more: they are ended, and with them the dispatch. Until they are, the
// job keeps its place.
void LocalEngine::bury(JobId job, Entry& entry) {
  constexpr int kTriesUntold = 5;
  if (++entry.silence.burials == kTriesUntold) {
    cannot_be_ended(job,
                    "Its supervisor was killed, and what is left of it cannot be ended, as no process can be made for "
                    "that, or too many files are open; it is tried again and again.");
  }
  RunRecord& record = entry.record;
  if (entry.silence.given_up) {
    const bool at_limit = entry.silence.told_to_end == kNever && entry.silence.runs_by == kNever;
    if (at_limit) record.asked = Asked::limit;
    record.sentence =
        "Its supervisor hung and was killed, and what was left of the job with it; see whether the file system of its "
        "output answers.";
  }
  ConnectionEnds ends = connection_ends();
  if (!ends.ours) return look_later(job, entry);
  Order order;
  order.kind = Order::Kind::bury;
  order.name = entry.name;
  order.engine_folder = options_.folder;
  record.stood = entry.end.has_value();
  record.dispatch = entry.dispatch;  // it may have been told to go on, and not have heard of it
  record.key = entry.key;
  order.claim = record;
  entry.silence.buried = true;
  entry.silence.buried_by = loop_.now() + options_.hang_wait;
  plan_look(job, entry, entry.silence.buried_by);
  watch(job, entry, std::move(ends.ours));
  spawner_.send(order, std::move(ends.theirs));
  entry.silence.spawner = spawner_.pid();
}

// Buries these runs before anything else is done, and in a time that all have together. A run of which something is
// left even then is not over.
void LocalEngine::bury_now(const std::vector<Entry*>& entries) {
  std::vector<Descriptor> holders;
  for (const Entry* entry : entries) holders.push_back(kill_holder(folder_.get(), entry->name));
  wait_until_gone(holders);
  const auto until = std::chrono::steady_clock::now() + kToEndLeftovers;
  for (Entry* entry : entries) {
    RunRecord& record = entry->record;
    if (const auto latest = read_record(folder_.get(), entry->name)) record = *latest;
    if (record.over()) continue;
    if (record.pid == 0) {  // it never was executed
      record.phase = RunPhase::failed;
      continue;
    }
    if (!end_leftovers({.pid = record.pid, .began = record.began, .owner = record.owner},
                       mark_of(options_.folder, entry->name), record.cgroups, until)) {
      entry->silence.looks_later = true;
      continue;
    }
    remove_cgroups(record.cgroups);
    record.lost = true;
    record.stood = record.phase == RunPhase::suspended;
    record.phase = RunPhase::ended;
  }
}

}  // namespace rota::local

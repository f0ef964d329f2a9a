// A run whose supervisor is gone, or cannot be spoken to.
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
  // Its burial has come to nothing: the spawner has ended, or can make no process.
  const bool not_buried = std::exchange(entry.keeper, Keeper::supervisor) == Keeper::burial;
  const bool claimed = read_again(entry);
  if (claimed && entry.record.over()) return over(job, entry);
  if (not_buried || (!claimed && cannot_be_read(entry))) return try_later(job, entry);
  if (claimed && speak_to(job, entry)) return;
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

// A supervisor that still dies must not begin it.
void LocalEngine::end_before_it_begins(JobId job, Entry& entry) {
  kill_holder(folder_.get(), entry.name);
  if (cannot_be_read(entry) || record_holder(folder_.get(), entry.name) != 0) return try_later(job, entry);
  no_supervisor_left(job, entry);
}

// What it takes to end what is left of it is lacking just now.
void LocalEngine::try_later(JobId job, Entry& entry) {
  entry.keeper = Keeper::unclear;
  entry.next_try = loop_.now() + options_.retry_wait;
  ring_at({.at = entry.next_try, .job = job, .dispatch = entry.dispatch, .tries = true});
}

void LocalEngine::no_supervisor_left(JobId job, Entry& entry) {
  const bool claimed = read_again(entry);
  if (!claimed && cannot_be_read(entry)) return try_later(job, entry);
  if (claimed && entry.record.over()) return over(job, entry);
  if (claimed && entry.record.pid != 0) return bury(job, entry);
  could_not_launch(job, entry, "The process that was to start it was killed.");
}

// No process can wait for the job's processes any more: they are ended, and with them the dispatch. Until they are, the
// job keeps its place.
void LocalEngine::bury(JobId job, Entry& entry) {
  ConnectionEnds ends = connection_ends();
  if (!ends.ours) return try_later(job, entry);
  Order order;
  order.kind = Order::Kind::bury;
  order.name = entry.name;
  order.engine_folder = options_.folder;
  RunRecord& record = entry.record;
  record.stood = entry.end.has_value();
  record.dispatch = entry.dispatch;  // it may have been told to go on, and not have heard of it
  record.key = entry.key;
  order.claim = record;
  entry.keeper = Keeper::burial;
  watch(job, entry, std::move(ends.ours));
  spawner_.send(order, std::move(ends.theirs));
}

// Some of its processes are still there, and its node stays taken.
void LocalEngine::cannot_be_ended(JobId job, const std::string& sentence) {
  source_.note_of_job(job, sentence);
  source_.warn_of_job(job, sentence);
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
      entry->keeper = Keeper::unclear;
      continue;
    }
    remove_cgroups(record.cgroups);
    record.lost = true;
    record.stood = record.phase == RunPhase::suspended;
    record.phase = RunPhase::ended;
  }
}

}  // namespace rota::local

#include "control/start_log.h"

namespace rota {

StartNote& StartLog::note_of(JobId job) {
  if (job.value >= notes_.size()) {
    notes_.resize(job.value + 1);
    numbers_.resize(job.value + 1, -1);
  }
  return notes_[job.value];
}

void StartLog::saw(const View& before, const FactRef& fact) {
  if (const auto* started = std::get_if<const Started*>(&fact.what)) {
    StartNote& note = note_of((*started)->job);
    const Reason& why = (*started)->reason;
    note.started = true;
    numbers_[(*started)->job.value] = before.job((*started)->job).spec.number;
    note.rule = why.rule;
    note.promised = why.promised.valid() ? before.job(why.promised).spec.number : -1;
    note.promise = why.promise;
    note.free = why.free;
    note.needed = why.needed;
    note.where = (*started)->where.shares;
  } else if (const auto* migrated = std::get_if<const Migrated*>(&fact.what)) {
    note_of((*migrated)->job).where = (*migrated)->where.shares;
  }
}

}  // namespace rota

#include "control/start_log.h"

#include "model/shortage.h"

namespace rota {

StartNote note_of_start(const View& before, const Started& fact) {
  const Reason& why = fact.reason;
  StartNote note{.started = true,
                 .rule = why.rule,
                 .promise = why.promise,
                 .free = why.free,
                 .needed = why.needed,
                 .lacks = {},
                 .where = fact.where.shares};
  const Job* const promised = why.promised.valid() ? before.find_job(why.promised) : nullptr;
  if (promised == nullptr) return note;
  note.promised = promised->spec.number;
  if (why.rule == Rule::beside_promise) note.lacks = lacking(before, promised->spec);
  return note;
}

StartNote& StartLog::note_of(JobId job) {
  if (job.value >= notes_.size()) {
    notes_.resize(job.value + 1);
    numbers_.resize(job.value + 1, -1);
  }
  return notes_[job.value];
}

void StartLog::saw(const View& before, const FactRef& fact) {
  if (const auto* started = std::get_if<const Started*>(&fact.what)) {
    note_of((*started)->job) = note_of_start(before, **started);
    numbers_[(*started)->job.value] = before.job((*started)->job).spec.number;
  } else if (const auto* migrated = std::get_if<const Migrated*>(&fact.what)) {
    note_of((*migrated)->job).where = (*migrated)->where.shares;
  }
}

}  // namespace rota

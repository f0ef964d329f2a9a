#include "control/start_log.h"

#include <utility>

#include "model/shortage.h"

namespace rota {
namespace {

// Its latest dispatch is over, or goes on elsewhere. A job that keeps nothing has lost what was kept of those before,
// too.
void add_run(std::vector<EarlierRun>& runs, EarlierRun run, Duration done) {
  if (done <= Duration{0}) {
    runs.clear();
    return;
  }
  run.kept = done;
  for (const EarlierRun& before : runs) run.kept -= before.kept;
  if (run.kept > Duration{0}) runs.push_back(run);
}

}  // namespace

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

void StartLog::fact_recorded(const View& before, const FactRef& fact) {
  if (const auto* started = std::get_if<const Started*>(&fact.what)) {
    const Job& job = before.job((*started)->job);
    StartNote& note = note_of((*started)->job);
    std::vector<EarlierRun> runs = std::move(note.runs);
    if (job.start != kNever) add_run(runs, {job.start, job.end}, job.done);
    note = note_of_start(before, **started);
    note.runs = std::move(runs);
    numbers_[(*started)->job.value] = job.spec.number;
  } else if (const auto* migrated = std::get_if<const Migrated*>(&fact.what)) {
    const Job& job = before.job((*migrated)->job);
    StartNote& note = note_of((*migrated)->job);
    note.where = (*migrated)->where.shares;
    const Duration kept = (*migrated)->kept ? job.done + job.ran_by(fact.at) : Duration{0};
    add_run(note.runs, {job.start, fact.at}, kept);
  }
}

}  // namespace rota

// A supervisor that hangs, in a file of its job's user, say, neither ends its job nor tells of it. One that says
// nothing when it is asked, though its job should be over, is killed, and what is left of the job is ended.
#include "engine/local/engine.h"
#include "engine/local/record_holder.h"

namespace rota::local {
namespace {

// It is asked so often, one time after the other: a clock that leaps, or a machine that stood still, is no silence.
constexpr int kLooks = 3;

}  // namespace

// Unless its supervisor hangs, or the system does not let go of its processes. kNever: nothing ends it.
Instant LocalEngine::over_by(const Entry& entry) const {
  const Duration to_end{entry.record.ends_within};
  if (entry.told_to_end != kNever) return entry.told_to_end + to_end;
  if (entry.record.deadline == INT64_MAX) return kNever;
  return loop_.now() + Duration{entry.record.deadline - boot_milliseconds()} + to_end;
}

void LocalEngine::tell_to_end(JobId job, Entry& entry, const Tell& how) {
  if (entry.link) entry.link->tell(how);
  if (entry.told_to_end == kNever) entry.told_to_end = loop_.now();
  plan_look(job, entry, over_by(entry));
}

void LocalEngine::plan_look(JobId job, Entry& entry, Instant at) {
  if (at >= entry.next_look) return;
  entry.next_look = at;
  reminders_.push({.at = at, .job = job, .dispatch = entry.dispatch, .of_end = true});
  loop_.set(*this, reminders_.top().at);
}

void LocalEngine::look_whether_over(JobId job, Entry& entry) {
  entry.next_look = kNever;
  const bool stopped = entry.end && !entry.leaves;
  if (stopped || entry.name.empty() || entry.record.over() || entry.dying || entry.buried) return;
  const Instant now = loop_.now();
  if (const Instant by = over_by(entry); by > now) return plan_look(job, entry, by);  // it was let run on meanwhile
  if (entry.unanswered == kLooks) return end_hung(job, entry);
  ++entry.unanswered;
  if (entry.link) entry.link->tell({.kind = Tell::Kind::hello, .epoch = epoch_});
  plan_look(job, entry, now + options_.hang_wait / kLooks);
}

void LocalEngine::end_hung(JobId job, Entry& entry) {
  entry.unanswered = 0;
  entry.link.reset();  // what it has not read of it does not count any more
  if (const auto record = read_record(folder_.get(), entry.name)) entry.record = *record;
  RunRecord& record = entry.record;
  if (record.over()) {
    kill_holder(folder_.get(), entry.name);
    return over(job, entry);
  }
  if (record.pid == 0) return end_before_it_begins(job, entry);
  if (entry.told_to_end == kNever) record.asked = Asked::limit;
  record.sentence =
      "Its supervisor hung and was killed, and what was left of the job with it; see whether the file system of its "
      "output answers.";
  bury(job, entry);
}

// Its node stays taken: who hangs there is still there.
void LocalEngine::cannot_be_ended(JobId job, const std::string& sentence) {
  source_.note_of_job(job, sentence);
  source_.warn_of_job(job, sentence);
}

}  // namespace rota::local

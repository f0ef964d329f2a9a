// A supervisor that hangs, in a file of its job's user, say, neither begins its job, nor ends it, nor tells of it. One
// that says nothing when it is asked, though its job should run by now, or be over, is killed, and what is left of the
// job is ended.
#include <algorithm>
#include <utility>

#include "engine/local/engine.h"
#include "engine/local/record_holder.h"
#include "process/clock.h"

namespace rota::local {

using process::boot_milliseconds;

namespace {

// It is asked so often, one time after the other: a clock that leaps, or a machine that stood still, is no silence.
constexpr int kLooks = 3;

}  // namespace

// Or it is known to run, if it is to begin. Unless its supervisor hangs, or the system does not let go of its
// processes. kNever: nothing ends it.
Instant LocalEngine::over_by(const Entry& entry) const {
  const Duration to_end{entry.record.ends_within};
  if (entry.silence.told_to_end != kNever) return entry.silence.told_to_end + to_end;
  if (entry.record.deadline == INT64_MAX) return entry.silence.runs_by;
  const Instant limit_end = loop_.now() + Duration{entry.record.deadline - boot_milliseconds()};
  return std::min(entry.silence.runs_by, limit_end + to_end);
}

// It was ordered, or told to go on: it runs soon, or its supervisor says what keeps it from that.
void LocalEngine::expect_run(JobId job, Entry& entry) {
  entry.silence.unanswered = 0;
  entry.silence.runs_by = loop_.now() + options_.launch_wait + Duration{entry.record.ends_within};
  plan_look(job, entry, over_by(entry));
}

void LocalEngine::tell_to_end(JobId job, Entry& entry, const Tell& how) {
  if (entry.link) entry.link->tell(how);
  if (entry.silence.told_to_end == kNever) entry.silence.told_to_end = loop_.now();
  plan_look(job, entry, over_by(entry));
}

void LocalEngine::plan_look(JobId job, Entry& entry, Instant at) {
  if (at >= entry.silence.next_look) return;
  entry.silence.next_look = at;
  ring_at({.at = at, .job = job, .dispatch = entry.dispatch, .of_end = true});
}

void LocalEngine::look_whether_over(JobId job, Entry& entry) {
  Silence& silence = entry.silence;
  silence.next_look = kNever;
  if (silence.dying) return look_whether_gone(job, entry);
  if (std::exchange(silence.looks_later, false)) return look(job, entry);
  const Instant now = loop_.now();
  if (silence.buried && silence.buried_by > now) return plan_look(job, entry, silence.buried_by);
  if (silence.buried) return spawner_.end(silence.spawner);  // whose end is heard, and it is buried again
  const bool stopped = entry.end && !entry.leaves;
  if (stopped || entry.name.empty() || entry.record.over()) return;
  if (const Instant by = over_by(entry); by > now) return plan_look(job, entry, by);  // it was let run on meanwhile
  if (silence.unanswered == kLooks) return end_hung(job, entry);
  ++silence.unanswered;
  if (entry.link) entry.link->tell({.kind = Tell::Kind::hello, .epoch = epoch_});
  plan_look(job, entry, now + options_.hang_wait / kLooks);
}

void LocalEngine::end_hung(JobId job, Entry& entry) {
  entry.silence.unanswered = 0;
  entry.silence.given_up = true;
  entry.link.reset();  // what it has not read of it does not count any more
  if (!read_again(entry) && cannot_be_read(entry)) return look_later(job, entry);
  if (entry.record.over()) {
    kill_holder(folder_.get(), entry.name);
    return over(job, entry);
  }
  if (entry.record.pid == 0) {
    end_before_it_begins(job, entry);
  } else {
    bury(job, entry);
  }
}

// What it takes to end what is left of it is lacking just now.
void LocalEngine::look_later(JobId job, Entry& entry) {
  entry.silence.looks_later = true;
  plan_look(job, entry, loop_.now() + options_.hang_wait / kLooks);
}

// It was killed, and should be gone by now.
void LocalEngine::look_whether_gone(JobId job, Entry& entry) {
  if (entry.silence.killed == kNever) return;
  const Instant by = entry.silence.killed + options_.hang_wait;
  if (by > loop_.now()) return plan_look(job, entry, by);
  const pid_t holder = record_holder(folder_.get(), entry.name);
  if (holder == 0) return;  // it goes just now
  entry.silence.killed = kNever;
  cannot_be_ended(job, why_not_ended(holder));
}

// The process that hangs is still there. Where a job had begun, its node stays taken.
void LocalEngine::cannot_be_ended(JobId job, const std::string& sentence) {
  source_.note_of_job(job, sentence);
  source_.warn_of_job(job, sentence);
}

}  // namespace rota::local

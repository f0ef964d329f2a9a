// What the service learns from facts as they are written: how dispatches ended, rows of the history, events.
#include <fmt/core.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "model/fact_fields.h"
#include "serve/service.h"
#include "store/fact_json.h"

namespace rota::serve {
namespace {

// The number of the job that a fact is about; 0: it is about none.
template <class Kind>
std::int64_t number_in(const View& before, const Kind& what) {
  if constexpr (requires { what.spec.number; }) return what.spec.number;
  if constexpr (requires { what.job; }) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(what.job)>, JobId>) {
      const Job* const job = what.job.valid() ? before.find_job(what.job) : nullptr;
      return job != nullptr ? job->spec.number : 0;
    }
  }
  return 0;
}

}  // namespace

template <class Kind>
void Service::saw_kind(const View& before, const Kind& what) {
  constexpr bool kEnds = std::is_same_v<Kind, Finished> || std::is_same_v<Kind, Vacated> ||
                         std::is_same_v<Kind, Requeued> || std::is_same_v<Kind, LaunchFailed> ||
                         std::is_same_v<Kind, Cancelled>;
  if constexpr (std::is_same_v<Kind, Released>) {
    if (JobEntry* entry = book_.find(what.job)) entry->hear().released = before.now();
    keep(kReleased, what.job, std::to_string(before.now().time_since_epoch().count()));
  }
  if constexpr (std::is_same_v<Kind, Started>) {
    if (JobEntry* entry = book_.find(what.job)) {
      note_terms(before, what.job, *entry);
      if (entry->told) entry->told->used = {};
    }
  }
  if constexpr (std::is_same_v<Kind, Amended>) {  // what it used was of as many processors as it had
    JobEntry* entry = what.processors != 0 ? book_.find(what.job) : nullptr;
    if (entry && entry->told) entry->told->used = {};
  }
  if constexpr (std::is_same_v<Kind, Requeued> || std::is_same_v<Kind, Vacated>) {
    if (mail_) mail_of_requeue(what.job, before.job(what.job).stopping);
  }
  if constexpr (std::is_same_v<Kind, Stopped>) note_stop(before, what);
  if constexpr (std::is_same_v<Kind, Overdue>) note_grace(what.job, "");
  if constexpr (std::is_same_v<Kind, Extended>) note_grace(what.job, why_extended(what));
  if constexpr (std::is_same_v<Kind, Launched>) room_.script_is_there(what.job);
  if constexpr (kEnds && !std::is_same_v<Kind, Vacated>)
    room_.script_is_gone(what.job);  // a job that was suspended has it yet
  if constexpr (std::is_same_v<Kind, Launched>) {
    leave_if_down(what.job);
    if (mail_) mail_of_start(what.job);
  }
  if constexpr (std::is_same_v<Kind, PowerChanged>) say_if_on_for_want_of_commands(before, what);
  if constexpr (kEnds) {
    const Job& job = before.job(what.job);
    if (job.state != JobState::running) {
      if (JobEntry* entry = book_.find(what.job)) entry->never_again = true;
      return;
    }
    ended_.push_back({what.job, job.dispatch});
    if constexpr (std::is_same_v<Kind, Finished>) {
      // It began and ended while no service ran.
      const bool ran = what.outcome != Outcome::cancelled && what.outcome != Outcome::node_failed;
      if (mail_ && job.starting && ran) mail_of_start(what.job);
    }
    JobEntry* entry = book_.find(what.job);
    if (entry == nullptr) return;
    entry->hear().nodes = nodes_of(what.job);
    if constexpr (requires { what.use; }) entry->hear().used = what.use;
    // If it goes, which jobs waited is known only now; if it waits again, the next dispatch has its whole time.
    const store::Grace grace = grace_of(what.job, job, before.now());
    if (grace.over > Duration{0} && entry->heard().grace.why.empty()) entry->hear().grace = {grace.rule, grace.why};
    constexpr bool kWaitsAgain =
        std::is_same_v<Kind, Vacated> || std::is_same_v<Kind, Requeued> || std::is_same_v<Kind, LaunchFailed>;
    if (kWaitsAgain) forget_grace(what.job, *entry);
    if (kWaitsAgain && !entry->heard().nodes.empty()) {
      keep(kRanOn, what.job, entry->heard().nodes);
      entry->kept_where = true;
    }
    if constexpr (std::is_same_v<Kind, Finished>) entry->status = what.status;
  }
}

// What let it wait will not be known any more when it has left. A begin time that was changed counts as it was last.
void Service::note_terms(const View& before, JobId job, JobEntry& entry) {
  entry.not_before = entry.heard().released;
  const JobTerms* terms = before.eligibility().terms(job);
  if (terms == nullptr) return;
  entry.not_before = std::max(entry.not_before, terms->begin);
  entry.throttle = terms->array > 0 ? before.eligibility().throttle(terms->array) : 0;
}

void Service::saw(const View& before, const FactRef& fact) {
  std::visit([&](const auto* what) { saw_kind(before, *what); }, fact.what);
  if (!events_.wanted()) return;
  std::visit(
      [&]<class Kind>(const Kind* what) {
        events_.add({fact.sequence, std::string(Fields<Kind>::name), store::fact_line(fact), number_in(before, *what)});
      },
      fact.what);
}

store::RareRequest Service::rarely_asked(const JobSpec& spec, const JobEntry* entry) const {
  store::RareRequest asked;
  asked.priority =
      spec.priority - (spec.partition.valid() ? desk_.machine()->partitions[spec.partition.value].priority : 0);
  asked.accelerators = spec.accelerators;
  if (spec.accelerator_type.valid())
    asked.accelerator_type = desk_.machine()->accelerator_types[spec.accelerator_type.value];
  if (spec.licence.valid()) asked.licence = desk_.machine()->licences[spec.licence.value].name;
  asked.licences = spec.licences;
  for (const LicenceUse& also : spec.more_licences.all())
    asked.more_licences.push_back(fmt::format("{}:{}", desk_.machine()->licences[also.licence.value].name, also.count));
  asked.requeue = spec.may_move();
  asked.once = spec.restart == Restart::once;
  asked.checkpoint = spec.restart == Restart::checkpoint;
  if (entry == nullptr) return asked;
  asked.after = entry->about->after;
  asked.texts = entry->about->texts;
  asked.throttle = entry->throttle;
  asked.not_before = entry->not_before;
  return asked;
}

// The job leaves for good. What it ran stays known for as long as its row of the history.
void Service::job_gone(JobId id, const Job& job) {
  const JobEntry* entry = book_.find(id);
  const store::HistoryRow row = history_row(id, job, entry);
  if (entry != nullptr && mail_) mail_of_end(row, *entry->about);
  desk_.store().put_history(row);
  if (entry != nullptr && !entry->heard().message.empty()) keep(kMessage, id, "");
  if (entry != nullptr && entry->heard().released != kEpoch) keep(kReleased, id, "");
  if (entry != nullptr && entry->kept_where) keep(kRanOn, id, "");
  if (entry != nullptr && !entry->heard().grace.rule.empty()) keep(kGrace, id, "");
  left_.push_back(id);
  if (!operates(row.uid)) room_.ended(row.uid);
  book_.forget(id);
}

store::HistoryRow Service::history_row(JobId id, const Job& job, const JobEntry* entry) const {
  store::HistoryRow row;
  row.job = id;
  row.number = job.spec.number;
  row.uid = job.spec.user;
  if (entry) {
    row.name = entry->about->name;
    row.user = entry->about->user;
    row.array = entry->about->array;
    row.array_index = entry->index;
    row.reason = entry->heard().message;
    row.nodes = entry->heard().nodes;
    const ProcessEnd end = end_of(entry->status);
    row.exit_code = end.exit_code;
    row.signal = end.signal;
  }
  row.state = state_word(job);
  if (job.spec.partition.valid()) row.partition = desk_.machine()->partitions[job.spec.partition.value].name;
  row.processors = job.spec.processors;
  row.node_count = job.spec.nodes;
  row.memory = job.spec.memory;
  row.submit = job.spec.submit;
  const bool taken_back = entry != nullptr && entry->never_again;
  const bool waited_again = taken_back && job.kills + job.preemptions > 0;
  const bool left_waiting = job.start == kNever || (taken_back && !waited_again);
  row.start = left_waiting ? kNever : job.start;
  row.end = left_waiting || waited_again || job.end == kNever ? desk_.view().now() : job.end;
  row.limit = job.spec.limit;
  const Duration held = left_waiting ? Duration{0} : job.earlier + (job.end - job.start);
  row.waited = left_waiting || waited_again ? std::max(row.end - row.submit - held, Duration{0}) : job.wait();
  row.restarts = restarts_of(job);
  row.backfills = job.backfills;
  row.preemptions = job.preemptions;
  row.asked = rarely_asked(job.spec, entry);
  if (left_waiting) return row;
  if (entry != nullptr) row.used = entry->heard().used;
  if (waited_again) row.asked.waited_again = row.end - job.end;
  if (!waited_again) row.asked.grace = grace_of(id, job, row.end);
  row.asked.earlier = job.earlier;
  row.asked.suspended = std::clamp(job.stood, Duration{0}, row.end - row.start);
  return row;
}

}  // namespace rota::serve

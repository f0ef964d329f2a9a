#include "serve/job_records.h"

#include <fmt/core.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "serve/grace.h"

namespace rota::serve {
namespace {

// Beginnings of names under which the store keeps, with the job's id behind them:
constexpr const char* kMessage = "message ";      // what was said of it last
constexpr const char* kSuspended = "suspended ";  // by older versions: the dispatch that stands still
constexpr const char* kReleased = "released ";    // when
constexpr const char* kRanOn = "ran on ";         // where its latest dispatch that is over ran, if it was to wait again
constexpr const char* kGrace = "grace ";          // why it may run beyond its limit

constexpr char kBetween = '\n';  // rule and reason, as the store keeps them

JobEntry::Grace read_grace(const std::string& text) {
  const std::size_t between = std::min(text.find(kBetween), text.size());
  return {text.substr(0, between), text.substr(std::min(between + 1, text.size()))};
}

}  // namespace

Result<void> JobRecords::read() {
  TRY(read_book());
  TRY(read_of_jobs(kMessage, [](JobId, JobEntry& entry, std::string& text) {
    entry.hear().message = std::move(text);
    return true;
  }));
  TRY(read_of_jobs(kReleased, [](JobId, JobEntry& entry, const std::string& at) {
    entry.hear().released = Instant{Duration{parse_integer(at).value_or(0)}};
    entry.not_before = std::max(entry.not_before, entry.heard().released);
    return true;
  }));
  TRY(read_of_jobs(kRanOn, [](JobId, JobEntry& entry, std::string& nodes) {
    entry.hear().nodes = std::move(nodes);
    return entry.kept_where = true;
  }));
  return read_of_jobs(kGrace, [](JobId, JobEntry& entry, const std::string& text) {
    entry.hear().grace = read_grace(text);
    return !text.empty();
  });
}

Result<void> JobRecords::read_book() {
  std::vector<JobId> known;
  desk_.view().for_each_job([&](JobId id, const Job&) { known.push_back(id); });
  AboutReader reader;
  return desk_.store().abouts(known, [&](JobId id, std::string_view text) -> Result<void> {
    auto kept = TRY(reader.read(text));
    JobEntry entry{std::move(kept.about), desk_.view().job(id).spec.number, kept.index};
    note_terms(desk_.view(), id, entry);
    if (const JobTerms* terms = desk_.view().eligibility().terms(id))
      entry.awaits = static_cast<std::uint32_t>(terms->after.size());
    book_.put(id, std::move(entry));
    return {};
  });
}

// What is known of jobs that is no fact. What was kept of jobs that have left meanwhile is removed.
Result<void> JobRecords::read_of_jobs(const char* what,
                                      const std::function<bool(JobId, JobEntry&, std::string&)>& take) {
  auto all = TRY(desk_.store().settings(what));
  for (auto& [name, text] : all) {
    const auto number = parse_integer(name);
    const JobId job =
        number && *number >= 0 && *number < UINT32_MAX ? JobId{static_cast<std::uint32_t>(*number)} : JobId{};
    JobEntry* entry = job.valid() ? book_.find(job) : nullptr;
    if (entry == nullptr || !take(job, *entry, text)) desk_.store().put_setting(what + name, "");
  }
  return {};
}

Result<void> JobRecords::suspend_as_before() {
  return read_of_jobs(kSuspended, [&](JobId job, JobEntry&, const std::string& dispatch) {
    if (dispatch == std::to_string(desk_.view().job(job).dispatch))
      static_cast<void>(desk_.controller().record(Suspended{job, kHeldByUser}));
    return false;
  });
}

void JobRecords::note(JobId job, std::string sentence) {
  constexpr std::size_t kMostToldOfJob = 600;  // with what StateRoom sets aside for its row of the history
  sentence = without_middle(std::move(sentence), kMostToldOfJob);
  JobEntry* entry = book_.find(job);
  if (entry == nullptr) return;
  keep(kMessage, job, sentence);
  entry->hear().message = std::move(sentence);
}

void JobRecords::keep(const char* what, JobId job, const std::string& text) {
  desk_.store().put_setting(what + std::to_string(job.value), text);
}

void JobRecords::settle() {
  LiveEngine& engine = desk_.engine();
  for (const Ended& ended : ended_) engine.settled(ended.job, ended.dispatch);
  ended_.clear();
  for (const JobId job : left_) engine.settled(job, kAnyDispatch);  // nothing may remain of it
  left_.clear();
}

// ---- facts

std::uint64_t JobRecords::wants() const {
  return FactKinds::bits<Released, Started, Amended, Stopped, Overdue, Extended, Finished, Vacated, Requeued,
                         LaunchFailed, Cancelled, EndedElsewhere>();
}

void JobRecords::fact_recorded(const View& before, const FactRef& fact) {
  std::visit([&](const auto* what) { saw_kind(before, *what); }, fact.what);
}

template <class Kind>
void JobRecords::saw_kind(const View& before, const Kind& what) {
  constexpr auto kIs = []<class... Kinds>() { return (std::is_same_v<Kind, Kinds> || ...); };
  if constexpr (kIs.template operator()<Released>()) {
    if (JobEntry* entry = book_.find(what.job)) entry->hear().released = before.now();
    keep(kReleased, what.job, std::to_string(before.now().time_since_epoch().count()));
  }
  if constexpr (kIs.template operator()<Started>()) {
    if (JobEntry* entry = book_.find(what.job)) {
      note_terms(before, what.job, *entry);
      if (entry->told) entry->told->used = {};
    }
  }
  if constexpr (kIs.template operator()<Amended>()) {  // what it used was of as many processors as it had
    JobEntry* entry = what.processors != 0 ? book_.find(what.job) : nullptr;
    if (entry && entry->told) entry->told->used = {};
  }
  if constexpr (kIs.template operator()<Stopped>()) note_stop(before, what);
  if constexpr (kIs.template operator()<Overdue>()) note_grace(what.job, "");
  if constexpr (kIs.template operator()<Extended>()) note_grace(what.job, why_extended(what));
  if constexpr (kIs.template operator()<EndedElsewhere>()) {
    if (JobEntry* entry = book_.find(what.job)) entry->status = what.status;
  }
  if constexpr (kIs.template operator()<Finished, Vacated, Requeued, LaunchFailed, Cancelled>()) saw_end(before, what);
}

template <class Kind>
void JobRecords::saw_end(const View& before, const Kind& what) {
  const Job& job = before.job(what.job);
  JobEntry* entry = book_.find(what.job);
  if (job.state != JobState::running) {
    if (entry != nullptr) entry->never_again = true;
    return;
  }
  ended_.push_back({what.job, job.dispatch});
  if (entry == nullptr) return;
  entry->hear().nodes = jobs_.nodes_of(what.job);
  if constexpr (requires { what.use; }) entry->hear().used = what.use;
  // If it goes, which jobs waited is known only now; if it waits again, the next dispatch has its whole time.
  const store::Grace grace = grace_of(desk_, jobs_, what.job, job, before.now());
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

// What let it wait will not be known any more when it has left. A begin time that was changed counts as it was last.
void JobRecords::note_terms(const View& before, JobId job, JobEntry& entry) {
  entry.not_before = entry.heard().released;
  const JobTerms* terms = before.eligibility().terms(job);
  if (terms == nullptr) return;
  entry.not_before = std::max(entry.not_before, terms->begin);
  entry.throttle = terms->array > 0 ? before.eligibility().throttle(terms->array) : 0;
}

// Its time is up, or a rule has just decided that it may go on for a while.
void JobRecords::note_grace(JobId id, std::string why) {
  JobEntry* entry = book_.find(id);
  const std::string rule = overrun_rule(desk_.chain().knobs());
  if (entry == nullptr || rule.empty()) return;
  JobEntry::Grace& grace = entry->hear().grace;
  if (!grace.rule.empty() && why.empty()) return;  // the first that let it go on
  grace = {rule, std::move(why)};
  keep(kGrace, id, grace.rule + kBetween + grace.why);
}

void JobRecords::forget_grace(JobId id, JobEntry& entry) {
  if (entry.heard().grace.rule.empty()) return;
  entry.hear().grace = {};
  keep(kGrace, id, "");
}

// Where an overrun rule stops a job: for which other one, and what becomes of it.
void JobRecords::note_stop(const View& before, const Stopped& fact) {
  if (fact.for_good || fact.reason.rule != Rule::promise_due) return;
  const Job& job = before.job(fact.job);
  const JobId promised = fact.reason.promised;
  const Duration over = std::max(before.now() - job.limit_end(), Duration{0});
  const Duration next = next_limit(desk_, job);
  note(fact.job,
       fmt::format("It was stopped at {} under overrun={}, {} beyond its limit, {}{}",
                   desk_.loop().date_of(before.now()), overrun_rule(desk_.chain().knobs()), format_duration(over),
                   promised.valid() ? fmt::format("for job {}, which was promised a start at {}", book_.shown(promised),
                                                  desk_.loop().date_of(fact.reason.promise))
                                    : std::string("since the time for which it was let go on was over"),
                   job.spec.restart == Restart::once ? ". It must not run again (--no-requeue)."
                   : next == job.spec.limit
                       ? ". It waits again, with the same limit."
                       : fmt::format(". It waits again, with a limit of {}; `rota update` sets another.",
                                     format_duration(next))));
}

std::string JobRecords::why_extended(const Extended& fact) const {
  const Reason& why = fact.reason;
  if (!why.promised.valid()) return "no job that was promised a start needed what it held";
  return fmt::format(
      "job {}, promised a start at {}, asked for {}, of which {} were free beside it, and no other job could have "
      "started; it was let go on until {}",
      book_.shown(why.promised), desk_.loop().date_of(why.promise), amount(why.needed, "processor"),
      grouped(std::max<std::int64_t>(0, why.free)), desk_.loop().date_of(fact.until));
}

// ---- the history

// What it ran stays known for as long as its row of the history.
void JobRecords::job_gone(JobId id, const Job& job) {
  const JobEntry* entry = book_.find(id);
  const store::HistoryRow row = history_row(id, job, entry);
  leaving_(row, entry);
  desk_.store().put_history(row);
  if (entry != nullptr && !entry->heard().message.empty()) keep(kMessage, id, "");
  if (entry != nullptr && entry->heard().released != kEpoch) keep(kReleased, id, "");
  if (entry != nullptr && entry->kept_where) keep(kRanOn, id, "");
  if (entry != nullptr && !entry->heard().grace.rule.empty()) keep(kGrace, id, "");
  left_.push_back(id);
  book_.forget(id);
}

store::RareRequest JobRecords::rarely_asked(const JobSpec& spec, const JobEntry* entry) const {
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

store::HistoryRow JobRecords::history_row(JobId id, const Job& job, const JobEntry* entry) const {
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
  if (!waited_again) row.asked.grace = grace_of(desk_, jobs_, id, job, row.end);
  row.asked.earlier = job.earlier;
  row.asked.suspended = std::clamp(job.stood, Duration{0}, row.end - row.start);
  return row;
}

}  // namespace rota::serve

// What users and operators do to jobs and nodes that are known.
#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "serve/service.h"

namespace rota::serve {
namespace {

constexpr std::int64_t kFewNumbers = 1000;

}  // namespace

Result<std::vector<JobId>> Service::select(const Caller& caller, const std::string& selector) {
  auto parts = parse_selector(selector);
  if (!parts) return std::unexpected(parts.error());
  if (auto named = named_one_by_one(*parts)) return std::move(*named);
  std::vector<JobId> chosen;
  std::array<bool, SelectorPart::kSorts> asked{};
  for (const SelectorPart& part : *parts) asked[part.sort()] = true;
  const JobId last = latest_of(caller);
  book_.for_each_after({}, [&](JobId id, const JobEntry& entry) {
    const Job& job = view().job(id);
    const auto suits = [&](const SelectorPart& part) {
      switch (part.kind) {
        case SelectorPart::Kind::last:
          return id == last;
        case SelectorPart::Kind::all:
          return caller.operates || entry.about->uid == caller.uid;
        case SelectorPart::Kind::state:
          return state_word(job, entry) == part.word;
        default:
          return book_.means(part, id, entry, job.spec, *machine_);
      }
    };
    std::array<bool, SelectorPart::kSorts> suited{};
    for (const SelectorPart& part : *parts) suited[part.sort()] = suited[part.sort()] || suits(part);
    if (suited == asked) chosen.push_back(id);
    return true;
  });
  return chosen;
}

// The usual case: a few ids, for which nobody has to look through all jobs. Nothing: it is another.
std::optional<std::vector<JobId>> Service::named_one_by_one(const std::vector<SelectorPart>& parts) const {
  std::set<JobId> named;
  for (const SelectorPart& part : parts) {
    if (part.kind != SelectorPart::Kind::numbers || part.to - part.from >= kFewNumbers) return std::nullopt;
    for (std::int64_t number = part.from; number <= part.to && number < UINT32_MAX; ++number) {
      if (book_.find(job_of(number)) != nullptr) named.insert(job_of(number));
      book_.for_each_task(number, [&](std::int64_t, JobId task) { named.insert(task); });
    }
  }
  return std::vector<JobId>(named.begin(), named.end());
}

Result<std::optional<store::HistoryRow>> Service::history_of(JobId job) const {
  store::HistoryQuery query;
  query.numbers = {number_of(job)};
  auto rows = store_->history(query);
  if (!rows) return std::unexpected(rows.error());
  if (rows->empty()) return std::nullopt;
  return std::optional(std::move(rows->front()));
}

std::string Service::shown(JobId job) {
  if (book_.find(job) != nullptr) return book_.shown(job);
  const auto row = history_of(job);
  if (!row || !*row || (*row)->array == 0) return std::to_string(number_of(job));
  return std::to_string((*row)->array) + "_" + std::to_string((*row)->array_index);
}

JobId Service::latest_of(const Caller& caller) {
  const JobId known = book_.latest_of(caller.uid);
  store::HistoryQuery query;
  query.user = caller.user;
  query.limit = 1;
  const auto rows = store_->history(query);
  if (!rows || rows->empty()) return known;
  return known.valid() ? std::max(known, rows->front().job) : rows->front().job;
}

std::optional<JobId> Service::task_of(std::int64_t array, std::int64_t index) {
  std::optional<JobId> found;
  book_.for_each_task(array, [&](std::int64_t i, JobId job) {
    if (i == index) found = job;
  });
  if (found || array < 1 || array >= UINT32_MAX) return found;
  for (const store::HistoryRow& row : ended_tasks(array)) {
    if (row.array_index == index) return row.job;
  }
  return std::nullopt;
}

// Tasks have numbers in a row.
std::vector<store::HistoryRow> Service::ended_tasks(std::int64_t array) const {
  std::vector<store::HistoryRow> tasks;
  if (array < 1 || job_of(array) >= view().next_job() || array >= UINT32_MAX) return tasks;
  const std::int64_t behind = std::min(array + settings_.most_array, number_of(view().next_job()));
  store::HistoryQuery query;
  for (std::int64_t number = array; number < behind; ++number) query.numbers.push_back(number);
  const auto rows = store_->history(query);
  if (!rows) return tasks;
  for (const store::HistoryRow& row : *rows) {
    if (row.array == array) tasks.push_back(row);
  }
  std::ranges::sort(tasks, {}, &store::HistoryRow::array_index);
  return tasks;
}

std::vector<ActionResult> Service::not_there(const Caller& caller, const std::string& selector) {
  std::vector<ActionResult> rows;
  const auto parts = parse_selector(selector);
  if (!parts) return rows;
  for (const SelectorPart& part : *parts) {
    const bool last = part.kind == SelectorPart::Kind::last;
    if (!last && (part.kind != SelectorPart::Kind::numbers || part.from != part.to)) continue;
    const JobId job = last ? latest_of(caller) : job_of(part.from);
    if (book_.find(job) != nullptr || (last && !job.valid())) continue;
    bool tasks = false;  // the first task of an array may have ended before the others
    book_.for_each_task(part.from, [&](std::int64_t, JobId) { tasks = true; });
    if (tasks && !last) continue;
    const std::string id = std::to_string(number_of(job));
    const auto row = history_of(job);
    const bool ended = row && *row;
    rows.push_back({id, false, ended ? "job " + id + " has ended already." : "there is no job " + id + "."});
  }
  return rows;
}

ActionResult Service::change(const Caller& caller, JobId job, const Change& change) {
  ActionResult result{book_.shown(job)};
  asked_ = true;
  const auto done = changed(caller, job, change);
  asked_ = false;
  if (!done) {
    result.done = false;
    result.detail = done.error().message;
  }
  return result;
}

Result<void> Service::changed(const Caller& caller, JobId job, const Change& change) {
  using Kind = Change::Kind;
  const JobEntry* entry = book_.find(job);
  if (entry == nullptr || !view().knows(job) || view().job(job).gone())
    return fail("job " + book_.shown(job) + " has ended already.");
  if (!may_see_inside(caller, entry->about->uid))
    return fail("job " + book_.shown(job) + " is " + entry->about->user +
                "'s; only its user or an operator may do that.");
  const Bars who = caller.uid == entry->about->uid ? kHeldByUser : kHeldByOperator;
  switch (change.kind) {
    case Kind::cancel:
      return cancel(job);
    case Kind::hold:
      return record(Held{job, who});
    case Kind::release:
      return release(caller, job);
    case Kind::update:
      return amend(caller, job, change);
    case Kind::signal:
    case Kind::requeue:
    case Kind::suspend:
    case Kind::resume:
      return control(job, change);
  }
  return {};
}

Result<void> Service::cancel(JobId job) {
  if (view().job(job).state == JobState::running) return record(CancelAsked{job});
  return record(Cancelled{job});
}

Result<void> Service::release(const Caller& caller, JobId job) {
  const Bars bars = view().job(job).bars & kHolds;
  if (bars == kNoBars) return fail("job " + book_.shown(job) + " is not held.");
  if ((bars & kHeldByOperator) != 0 && !caller.operates)
    return fail("job " + book_.shown(job) + " is held by an operator, who has to release it.");
  for (const Bars each : {kHeldByUser, kHeldByOperator}) {
    if ((bars & each) == 0) continue;
    if (auto done = record(Released{job, each}); !done) return done;
  }
  return {};
}

// What goes to its processes and not to the state.
Result<void> Service::control(JobId job, const Change& change) {
  using Kind = Change::Kind;
  JobEntry& entry = *book_.find(job);
  const Job& row = view().job(job);
  if (row.state != JobState::running) return fail("job " + book_.shown(job) + " does not run.");
  if (!row.steady()) return fail("job " + book_.shown(job) + " is just starting or stopping; try again in a moment.");
  if (change.kind == Kind::requeue) {
    auto done = controller_->requeue(job);
    if (done) static_cast<void>(decide());
    return done;
  }
  if (change.kind == Kind::signal) return engine_->signal(job, change.signal), Result<void>{};
  const bool stops = change.kind == Kind::suspend;
  if (entry.suspended == stops)
    return fail("job " + book_.shown(job) + (stops ? " is suspended already." : " is not suspended."));
  engine_->signal(job, stops ? SIGSTOP : SIGCONT);
  entry.suspended = stops;
  keep(kSuspended, job, stops ? std::to_string(row.dispatch) : "");
  return {};
}

Result<void> Service::amend(const Caller& caller, JobId job, const Change& change) {
  const Job& row = view().job(job);
  if (row.state == JobState::running) {
    return fail("job " + book_.shown(job) + " runs already; what it was started on stands. Requeue it to change it.");
  }
  const JobTerms* own = view().eligibility().terms(job);
  JobTerms terms = own ? *own : JobTerms{row.spec.limit, row.spec.priority, row.spec.partition, kEpoch, {}, 0, 0};
  const auto of_partition = [&](PartitionId id) { return id.valid() ? machine_->partitions[id.value].priority : 0; };
  if (change.priority) {
    if (*change.priority > 0 && !caller.operates) return fail("only an operator may give a priority above 0.");
    terms.priority = *change.priority + of_partition(terms.partition);
  }
  if (change.limit) terms.limit = *change.limit;
  if (change.begin) terms.begin = *change.begin;
  if (change.throttle && terms.array == 0) {
    return fail("job " + book_.shown(job) + " is not of an array with a limit of tasks at one time; give one as in " +
                "--array 1-100%10.");
  }
  if (terms.array != 0) terms.throttle = change.throttle.value_or(view().eligibility().throttle(terms.array));
  if (change.partition) {
    const auto found = std::ranges::find(machine_->partitions, *change.partition, &Partition::name);
    if (found == machine_->partitions.end())
      return fail("there is no partition " + rota::quoted(*change.partition) + ".");
    const PartitionId before = terms.partition;
    terms.partition = PartitionId{static_cast<std::uint32_t>(found - machine_->partitions.begin())};
    terms.priority += of_partition(terms.partition) - of_partition(before);
  }
  return record(Amended{job, std::move(terms)});
}

}  // namespace rota::serve

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

// What a job has of the sort of a word that selects.
std::string_view word_of(std::size_t sort, const Job& job, const JobEntry& entry, const Machine& machine) {
  using Kind = SelectorPart::Kind;
  const auto is = [&](Kind kind) { return sort == SelectorPart{kind, 0, 0, {}, {}}.sort(); };
  if (is(Kind::user)) return entry.about->user;
  if (is(Kind::name)) return entry.about->name;
  if (is(Kind::state)) return state_word(job);
  return job.spec.partition.valid() ? std::string_view(machine.partitions[job.spec.partition.value].name) : "";
}

}  // namespace

Result<std::vector<JobId>> Service::select(const Caller& caller, const std::string& selector) {
  auto parts = parse_selector(selector);
  if (!parts) return std::unexpected(parts.error());
  std::array<std::set<std::string, std::less<>>, SelectorPart::kSorts> words;  // none of a sort: any suits
  std::array<std::size_t, SelectorPart::kSorts> asked{};
  bool all = false;
  for (const SelectorPart& part : *parts) {
    ++asked[part.sort()];
    all = all || part.kind == SelectorPart::Kind::all;
    if (part.sort() > 0) words[part.sort()].insert(part.word);
  }
  const std::vector<JobId> by_id = named_one_by_one(caller, *parts);
  const bool by_id_alone = asked[0] > 0 && !all;
  const auto suits = [&](JobId id, const JobEntry& entry) {
    if (all && !caller.operates && entry.about->uid != caller.uid && !std::ranges::binary_search(by_id, id))
      return false;
    const Job& job = view().job(id);
    for (std::size_t sort = 1; sort < words.size(); ++sort) {
      if (asked[sort] > 0 && !words[sort].contains(word_of(sort, job, entry, *machine_))) return false;
    }
    return true;
  };
  std::vector<JobId> chosen;
  if (by_id_alone) {
    for (const JobId id : by_id) {
      if (suits(id, *book_.find(id))) chosen.push_back(id);
    }
    return chosen;
  }
  book_.for_each_after({}, [&](JobId id, const JobEntry& entry) {
    if (suits(id, entry)) chosen.push_back(id);
    return true;
  });
  return chosen;
}

// Known jobs that are named by their ids or that of their array, or as the last one: for these nobody has to look
// through all jobs.
std::vector<JobId> Service::named_one_by_one(const Caller& caller, const std::vector<SelectorPart>& parts) {
  std::vector<JobId> named;
  for (const auto& [from, to] : numbers_of(parts)) {
    if (from >= UINT32_MAX) continue;
    const JobId before = from > 1 ? job_of(from - 1) : JobId{};
    book_.for_each_after(before, [&](JobId id, const JobEntry&) {
      if (number_of(id) <= to) named.push_back(id);
      return number_of(id) <= to;
    });
    book_.for_each_task_of(from, to, [&](JobId task) { named.push_back(task); });
  }
  for (const SelectorPart& part : parts) {
    if (part.kind == SelectorPart::Kind::last) {
      if (const JobId last = latest_of(caller); book_.find(last) != nullptr) named.push_back(last);
    } else if (part.kind == SelectorPart::Kind::tasks) {
      book_.for_each_task(part.from, [&](std::int64_t index, JobId task) {
        if (within(part.indexes, index)) named.push_back(task);
      });
    }
  }
  std::ranges::sort(named);
  named.erase(std::ranges::unique(named).begin(), named.end());
  return named;
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
  return shown_task((*row)->array, (*row)->array_index);
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

std::vector<store::HistoryRow> Service::ended_tasks(std::int64_t array) const {
  if (array < 1 || array >= UINT32_MAX || job_of(array) >= view().next_job()) return {};
  store::HistoryQuery query;
  query.array = array;
  auto tasks = store_->history(query);
  if (!tasks) return {};
  std::ranges::sort(*tasks, {}, &store::HistoryRow::array_index);
  return std::move(*tasks);
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
    // The state counts jobs and knows no tasks of arrays.
    const std::string counted = "job " + std::to_string(number_of(job)) + " ";
    if (result.detail.starts_with(counted)) result.detail.replace(0, counted.size(), "job " + result.id + " ");
  }
  return result;
}

Result<void> Service::changed(const Caller& caller, JobId job, const Change& change) {
  using Kind = Change::Kind;
  if (stopped_) return fail("the service is stopping and changes nothing; try again when it is back.");
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
      if (view().job(job).state == JobState::running)
        return fail("job " + book_.shown(job) + " runs already; only a job that waits can be held.");
      return record(Held{job, who});
    case Kind::release:
      return release(caller, job);
    case Kind::update:
      return amend(caller, job, change);
    case Kind::signal:
    case Kind::requeue:
      return control(caller, job, change);
    case Kind::suspend:
    case Kind::resume:
      return suspend(caller, job, change.kind == Kind::suspend);
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

// Of a job that runs. Whoever sends it SIGSTOP suspends it, and whoever sends SIGCONT to one that is suspended resumes
// it: the state knows of both, and who may.
Result<void> Service::control(const Caller& caller, JobId job, const Change& change) {
  if (auto can = can_be_told(job); !can) return can;
  if (change.kind == Change::Kind::signal) {
    const bool suspended = view().job(job).suspended();
    if (change.signal == SIGSTOP || (change.signal == SIGCONT && suspended))
      return suspend(caller, job, change.signal == SIGSTOP);
    return engine_->signal(job, change.signal), Result<void>{};
  }
  if ((view().job(job).suspended_by & kHeldByOperator) != 0 && !caller.operates)
    return fail("job " + book_.shown(job) + " is suspended by an operator, who has to resume it first.");
  auto done = controller_->requeue(job);
  if (done) static_cast<void>(decide());
  return done;
}

Result<void> Service::can_be_told(JobId job) const {
  const Job& row = view().job(job);
  const std::string name = "job " + book_.shown(job);
  if (row.state != JobState::running) return fail(name + " does not run.");
  if (row.settled()) return {};
  if (row.stopping) return fail(name + " is just stopping; try again once it has ended.");
  if (row.leaving) return fail(name + " is just giving way; try again once it waits or runs again.");
  return fail(name +
              " is just being started; try again once it runs. Whether its folder, input and output can be opened is "
              "known within a minute; it can be cancelled at once.");
}

// A job is suspended by its user, by an operator, or by both; it goes on once nobody wants it to stand still.
Result<void> Service::suspend(const Caller& caller, JobId job, bool stops) {
  if (auto can = can_be_told(job); !can) return can;
  const Job& row = view().job(job);
  const std::string name = "job " + book_.shown(job);
  const Bars who = caller.uid == book_.find(job)->about->uid ? kHeldByUser : kHeldByOperator;
  if (stops) {
    if ((row.suspended_by & who) != 0) return fail(name + " is suspended already.");
    return record(Suspended{job, who});
  }
  if (!row.suspended()) return fail(name + " is not suspended.");
  if ((row.suspended_by & kHeldByOperator) != 0 && !caller.operates)
    return fail(name + " is suspended by an operator, who has to resume it.");
  return record(Resumed{job, row.suspended_by});
}

// Older versions kept this beside the journal. From now on it is a fact.
Result<void> Service::suspend_as_before() {
  return read_of_jobs(kSuspended, [&](JobId job, JobEntry&, const std::string& dispatch) {
    if (dispatch == std::to_string(view().job(job).dispatch))
      static_cast<void>(controller_->record(Suspended{job, kHeldByUser}));
    return false;
  });
}

// Of all tasks of an array at once: one that waits is told, also where it was a running one that was named.
Result<void> Service::change_throttle(JobId job, std::uint32_t most) {
  const Eligibility& eligibility = view().eligibility();
  const std::int64_t array = eligibility.terms(job)->array;
  if (eligibility.throttle(array) == most) return {};
  JobId waits;
  book_.for_each_task(array, [&](std::int64_t, JobId task) {
    if (waits.valid() || !view().knows(task)) return;
    const JobState state = view().job(task).state;
    if (state == JobState::waiting || state == JobState::barred) waits = task;
  });
  if (!waits.valid()) return {};  // and so nobody is left whom it concerns
  JobTerms terms = *eligibility.terms(waits);
  terms.limit = view().job(waits).spec.limit;
  terms.throttle = most;
  return record(Amended{waits, std::move(terms)});
}

Result<void> Service::change_running(const Caller& caller, JobId job, const Change& change) {
  if (!change.throttle) return change_limit(caller, job, change);
  if (auto can = has_throttle(job); !can) return can;
  Change rest = change;
  rest.throttle.reset();
  const bool alone = !rest.limit && !rest.is_for_waiting();
  auto done = alone ? Result<void>() : change_limit(caller, job, rest);
  return done ? change_throttle(job, *change.throttle) : done;
}

Result<void> Service::has_throttle(JobId job) const {
  const JobTerms* terms = view().eligibility().terms(job);
  if (terms != nullptr && terms->array != 0) return {};
  return fail("job " + book_.shown(job) + " is not of an array with a limit of tasks at one time; give one as in " +
              "--array 1-100%10.");
}

// Users may have their running jobs end sooner, operators also later.
Result<void> Service::change_limit(const Caller& caller, JobId job, const Change& change) {
  const std::string name = "job " + book_.shown(job);
  if (change.is_for_waiting() || !change.limit) {
    return fail(name + " runs already; of what it was started on only its time limit can be changed. Requeue it to " +
                "change more.");
  }
  if (*change.limit > view().job(job).spec.limit && !caller.operates)
    return fail("only an operator may give a running job more time.");
  if (auto can = can_be_told(job); !can) return can;
  return record(LimitChanged{job, *change.limit});
}

// Where another number of processes is asked for and nothing is said of processors, each has as many as before.
Service::Change Service::with_processors(JobId job, Change change) const {
  if (!change.tasks || *change.tasks == 0 || change.processors) return change;
  const JobSpec& spec = view().job(job).spec;
  const std::uint32_t before = book_.find(job)->about->tasks;
  const std::uint64_t each = before == 0 ? 1 : std::max(spec.processors / before, 1U);
  change.processors = static_cast<std::uint32_t>(std::min<std::uint64_t>(each * *change.tasks, UINT32_MAX - 1));
  if (each == 1) change.tasks = 0;
  const bool was_one = before == 1 && spec.nodes == 1;  // all of it on one node, for it was a single process
  if (was_one && !change.nodes && *change.tasks != 1) change.nodes = 0;
  const bool is_one = *change.tasks == 1 && each > 1;  // and so all of it on one node
  if (is_one && !change.nodes && spec.nodes == 0) change.nodes = 1;
  return change;
}

// All of it, or nothing.
Result<void> Service::amend(const Caller& caller, JobId job, const Change& asked) {
  if (view().job(job).state == JobState::running) return change_running(caller, job, asked);
  const Change change = with_processors(job, asked);
  if ((change.resizes() || change.partition) && engine_->holds_stopped(job))
    return fail("job " + book_.shown(job) +
                " was stopped to give way and goes on with what it was started on; cancel it and submit it again to " +
                "change its processors, nodes, memory or partition.");
  if (change.tasks.value_or(0) > change.processors.value_or(UINT32_MAX))
    return fail("a job has at most as many `tasks` as processors; ask for more of these or fewer of those.");
  if (!change.rewords()) return change_facts(caller, job, change);
  if (change.name) {
    if (auto good = check_name(*change.name); !good) return good;
  }
  auto done = change_facts(caller, job, change);
  if (done) reword(job, change);
  return done;
}

// Of how many processes it is made is said with its processors, as at its submission; else it is one for each.
void Service::reword(JobId job, const Change& change) {
  JobEntry entry = std::move(*book_.find(job));
  auto about = std::make_shared<About>(*entry.about);
  if (change.name) about->name = *change.name;
  if (change.processors || change.tasks) about->tasks = change.tasks.value_or(0);
  store_->put_about(job, about_text(*about, entry.index));
  entry.about = std::move(about);
  book_.put(job, std::move(entry));
}

Result<void> Service::change_facts(const Caller& caller, JobId job, const Change& change) {
  const Job& row = view().job(job);
  LicencesChanged before{.job = job};
  copy_licences(row.spec, before);
  if (change.licences) {
    if (auto done = change_licences(job, *change.licences); !done) return done;
  }
  const bool other_terms = change.limit || change.priority || change.partition || change.begin || change.throttle;
  if (!other_terms && !change.resizes()) return {};
  auto done = change_terms(caller, job, change);
  if (!done && change.licences) static_cast<void>(record(std::move(before)));
  return done;
}

Result<void> Service::change_terms(const Caller& caller, JobId job, const Change& change) {
  const Job& row = view().job(job);
  const JobTerms* own = view().eligibility().terms(job);
  JobTerms terms = own ? *own : JobTerms{row.spec.limit, row.spec.priority, row.spec.partition, kEpoch, {}, 0, 0};
  terms.limit = row.spec.limit;  // an operator may have changed it while the job ran
  const auto of_partition = [&](PartitionId id) { return id.valid() ? machine_->partitions[id.value].priority : 0; };
  if (change.priority) {
    const std::int32_t present = terms.priority - of_partition(terms.partition);
    if (*change.priority > present && !caller.operates)
      return fail("only an operator may raise a priority; that of job " + book_.shown(job) + " is " +
                  std::to_string(present) + ".");
    terms.priority = *change.priority + of_partition(terms.partition);
  }
  if (change.limit) terms.limit = *change.limit;
  if (change.begin) terms.begin = *change.begin;
  if (change.throttle) {
    if (auto can = has_throttle(job); !can) return can;
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
  Amended fact{job, std::move(terms)};
  if (change.resizes()) {
    fact.processors = change.processors.value_or(row.spec.processors);
    fact.nodes = std::min(change.nodes.value_or(row.spec.nodes), fact.processors);
    fact.memory = change.memory.value_or(row.spec.memory);
  }
  return record(std::move(fact));
}

Result<void> Service::change_licences(JobId job, const LicencesAsked& asked) {
  JobSpec spec;
  if (auto found = look_up_licences(asked, *machine_, spec); !found) return found;
  LicencesChanged fact{.job = job};
  copy_licences(spec, fact);
  return record(std::move(fact));
}

}  // namespace rota::serve

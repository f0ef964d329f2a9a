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

// "14_3", "14_[1-5]".
std::string shown_tasks(std::int64_t array, std::int64_t from, std::int64_t to) {
  if (from == to) return shown_task(array, from);
  return std::to_string(array) + "_[" + std::to_string(from) + "-" + std::to_string(to) + "]";
}

}  // namespace

Result<std::vector<JobId>> Service::select(const Caller& caller, const std::string& selector) {
  const auto parts = parts_of(caller, selector);
  if (!parts) return std::unexpected(parts.error());
  std::array<std::set<std::string, std::less<>>, SelectorPart::kSorts> words;  // none of a sort: any suits
  std::array<std::size_t, SelectorPart::kSorts> asked{};
  bool all = false;
  for (const SelectorPart& part : *parts) {
    ++asked[part.sort()];
    all = all || part.kind == SelectorPart::Kind::all;
    if (part.sort() > 0) words[part.sort()].insert(part.word);
  }
  const std::vector<JobId> by_id = named_one_by_one(*parts);
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

Result<std::vector<SelectorPart>> Service::parts_of(const Caller& caller, const std::string& selector) {
  using Kind = SelectorPart::Kind;
  auto parts = parse_selector(selector);
  if (!parts) return parts;
  for (SelectorPart& part : *parts) {
    if (part.kind == Kind::user) part.word = user_called(caller, part.word);
    if (part.kind != Kind::last) continue;
    part.kind = Kind::numbers;
    part.from = part.to = number_of_last(caller);
  }
  return parts;
}

// Known jobs that are named by their ids or that of their array: for these nobody has to look through all jobs.
std::vector<JobId> Service::named_one_by_one(const std::vector<SelectorPart>& parts) const {
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
    if (part.kind != SelectorPart::Kind::tasks) continue;
    book_.for_each_task(part.from, [&](std::int64_t index, JobId task) {
      if (within(part.indexes, index)) named.push_back(task);
    });
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

std::int64_t Service::number_of_last(const Caller& caller) const {
  const JobId known = book_.latest_of(caller.uid);
  store::HistoryQuery query;
  query.users = {caller.user};
  query.limit = 1;
  const auto rows = store_->history(query);
  const bool has_left = rows && !rows->empty() && (!known.valid() || known < rows->front().job);
  if (has_left) return rows->front().array > 0 ? rows->front().array : rows->front().number;
  if (!known.valid()) return 0;
  const JobEntry* const entry = book_.find(known);
  if (entry != nullptr) return entry->about->array > 0 ? entry->about->array : number_of(known);
  const auto row = history_of(known);
  return row && *row && (*row)->array > 0 ? (*row)->array : number_of(known);
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

std::string Service::Absent::sentence() const {
  return ended ? "job " + id + " has ended already." : "there is no job " + id + ".";
}

std::vector<Service::Absent> Service::not_there(const Caller& caller, const std::string& selector) {
  using Kind = SelectorPart::Kind;
  std::vector<Absent> absent;
  const auto parts = parts_of(caller, selector);
  if (!parts) return absent;
  for (const SelectorPart& part : *parts) {
    if (part.kind == Kind::tasks) add_absent_tasks(part, absent);
    if (part.kind != Kind::numbers || part.from != part.to || part.from < 1) continue;
    bool known = part.from < UINT32_MAX && book_.find(job_of(part.from)) != nullptr;
    // Of an array the first task may have ended before the others.
    book_.for_each_task(part.from, [&](std::int64_t, JobId) { known = true; });
    const std::string id = std::to_string(part.from);
    const bool told = std::ranges::find(absent, id, &Absent::id) != absent.end();  // "12,last"
    if (!known && !told) absent.push_back({id, has_ended(part.from)});
  }
  return absent;
}

// Of tasks that are named in a row some have to be known.
void Service::add_absent_tasks(const SelectorPart& part, std::vector<Absent>& absent) const {
  std::set<std::int64_t> known;
  book_.for_each_task(part.from, [&](std::int64_t index, JobId) { known.insert(index); });
  const auto some_of = [](const std::set<std::int64_t>& indexes, std::int64_t from, std::int64_t to) {
    const auto at = indexes.lower_bound(from);
    return at != indexes.end() && *at <= to;
  };
  std::optional<std::set<std::int64_t>> ended;
  for (const auto& [from, to] : part.indexes) {
    if (some_of(known, from, to)) continue;
    if (!ended) {
      ended.emplace();
      for (const store::HistoryRow& task : ended_tasks(part.from)) ended->insert(task.array_index);
    }
    absent.push_back({shown_tasks(part.from, from, to), some_of(*ended, from, to)});
  }
}

bool Service::has_ended(std::int64_t number) const {
  if (number < 1 || number >= UINT32_MAX || job_of(number) >= view().next_job()) return false;
  const auto row = history_of(job_of(number));
  return row && *row;
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

namespace {

// What is asked for from now on. Where nothing is said of processors, each process has as many as before. Where nothing
// is said of processes either, other nodes have as many each as was asked for; a single one stands for one on each.
Size resized(Size size, const Service::Change& change) {
  constexpr std::uint64_t kMost = UINT32_MAX - 1;
  const std::uint64_t each = std::max(size.processors / size.all_tasks(), 1U);
  const std::uint32_t before = size.tasks_per_node > 0 ? size.tasks_per_node : size.all_tasks() == 1 ? 1 : 0;
  const std::uint32_t per_node = change.tasks_per_node.value_or(before);
  const bool counts = change.processors || change.tasks;
  const bool by_node = !counts && per_node > 0 && change.nodes.value_or(0) > 0;
  size.nodes = change.nodes.value_or(size.nodes);
  if (by_node) {
    size.tasks_per_node = per_node;
  } else if (counts || size.nodes == 0 || change.tasks_per_node) {
    size.tasks_per_node = change.tasks_per_node.value_or(0);
  }
  const std::uint64_t tasks = by_node ? std::uint64_t{per_node} * size.nodes : change.tasks.value_or(0);
  if (change.processors || (change.tasks && tasks == 0)) {
    size.processors = change.processors.value_or(size.processors);
    size.tasks = static_cast<std::uint32_t>(tasks);
  } else if (tasks > 0) {
    size.processors = static_cast<std::uint32_t>(std::min(kMost, each * std::min(kMost, tasks)));
    size.tasks = each == 1 ? 0 : static_cast<std::uint32_t>(std::min(kMost, tasks));
  }
  return size;
}

}  // namespace

// As if it were submitted anew, with all that was asked for it and what is asked for now.
Result<Service::Sized> Service::sized(JobId job, const Change& change) const {
  Sized sized{view().job(job).spec, *book_.find(job)->about};
  if (change.partition) {
    const auto found = std::ranges::find(machine_->partitions, *change.partition, &Partition::name);
    if (found == machine_->partitions.end())
      return fail("there is no partition " + rota::quoted(*change.partition) + ".");
    sized.spec.partition = PartitionId{static_cast<std::uint32_t>(found - machine_->partitions.begin())};
  }
  if (change.name) {
    if (auto good = check_name(*change.name); !good) return std::unexpected(good.error());
    sized.about.name = *change.name;
  }
  if (change.memory) sized.spec.memory = *change.memory;
  if (!change.resizes() && !(sized.about.exclusive && change.partition)) return sized;
  const Size size = resized(size_asked(sized.about, sized.spec), change);
  if (auto given = give_size(size, *machine_, sized.spec); !given) return std::unexpected(given.error());
  keep_size(size, sized.spec, sized.about);
  return sized;
}

// All of it, or nothing.
Result<void> Service::amend(const Caller& caller, JobId job, const Change& change) {
  if (view().job(job).state == JobState::running) return change_running(caller, job, change);
  if ((change.resizes() || change.memory || change.partition) && engine_->holds_stopped(job))
    return fail("job " + book_.shown(job) +
                " was stopped to give way and goes on with what it was started on; cancel it and submit it again to " +
                "change its processors, nodes, memory or partition.");
  const auto wanted = sized(job, change);
  if (!wanted) return std::unexpected(wanted.error());
  auto done = change_facts(caller, job, change, wanted->spec);
  if (done && wanted->about != *book_.find(job)->about) reword(job, wanted->about);
  return done;
}

void Service::reword(JobId job, const About& about) {
  JobEntry entry = std::move(*book_.find(job));
  store_->put_about(job, about_text(about, entry.index));
  entry.about = std::make_shared<About>(about);
  book_.put(job, std::move(entry));
}

Result<void> Service::change_facts(const Caller& caller, JobId job, const Change& change, const JobSpec& wanted) {
  const Job& row = view().job(job);
  LicencesChanged before{.job = job};
  copy_licences(row.spec, before);
  if (change.licences) {
    if (auto done = change_licences(job, *change.licences); !done) return done;
  }
  const bool other_terms = change.limit || change.priority || change.partition || change.begin || change.throttle;
  if (!other_terms && !change.memory && !change.resizes()) return {};
  auto done = change_terms(caller, job, change, wanted);
  if (!done && change.licences) static_cast<void>(record(std::move(before)));
  return done;
}

Result<void> Service::change_terms(const Caller& caller, JobId job, const Change& change, const JobSpec& wanted) {
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
  terms.priority += of_partition(wanted.partition) - of_partition(terms.partition);
  terms.partition = wanted.partition;
  Amended fact{job, std::move(terms)};
  const JobSpec& spec = row.spec;
  const bool same = wanted.processors == spec.processors && wanted.nodes == spec.nodes && wanted.memory == spec.memory;
  if (!same || change.memory || change.resizes()) {
    fact.processors = wanted.processors;
    fact.nodes = wanted.nodes;
    fact.memory = wanted.memory;
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

// What users and operators do to jobs and nodes that are known.
#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/text.h"
#include "serve/federation_desk.h"
#include "serve/job_desk.h"

namespace rota::serve {
namespace {

std::string_view word_of(JobChange::Kind kind) {
  const auto* const action = std::ranges::find(kJobActions, kind, [](const auto& known) { return known.second; });
  return action == kJobActions.end() ? "signal" : action->first;
}

}  // namespace

ActionResult JobDesk::change(const Caller& caller, JobId job, const JobChange& change) {
  const JobEntry* const entry = book_.find(job);
  // The state counts jobs and knows no tasks of arrays.
  const std::string counted = fmt::format("job {} ", entry != nullptr ? entry->number : 0);
  ActionResult result{book_.shown(job)};
  const ServiceLog::Asked asked(desk_.log());
  if (const auto done = changed(caller, job, change); !done) {
    result.done = false;
    result.detail = done.error().message;
    if (result.detail.starts_with(counted)) result.detail.replace(0, counted.size(), fmt::format("job {} ", result.id));
  }
  return result;
}

Result<void> JobDesk::changed(const Caller& caller, JobId job, const JobChange& change) {
  using Kind = JobChange::Kind;
  if (desk_.stopped()) return fail("the service is stopping and changes nothing; try again when it is back.");
  const JobEntry* entry = book_.find(job);
  if (entry == nullptr || !desk_.view().knows(job) || desk_.view().job(job).gone())
    return fail("job {} has ended already.", book_.shown(job));
  TRY(carries_out(desk_, word_of(change.kind)));
  if (!caller.may_see_inside(entry->about->uid))
    return fail("job {} is {}'s; only its user or an operator may do that.", book_.shown(job), entry->about->user);
  const bool stops = change.signal == SIGSTOP || change.signal == SIGCONT;  // which is kept, as other signals are not
  if (!caller.operates && change.kind != Kind::cancel && (change.kind != Kind::signal || stops)) {
    if (auto room = room_.takes_change(); !room) return room;
  }
  if (federation_ != nullptr && change.kind != Kind::cancel && !desk_.view().job(job).ours())
    return fail("job {} is for several sites; before this one has won it, it can only be cancelled.", book_.shown(job));
  const Bars by = caller.uid == entry->about->uid ? kHeldByUser : kHeldByOperator;
  switch (change.kind) {
    case Kind::cancel:
      return cancel(job);
    case Kind::hold:
      if (desk_.view().job(job).state == JobState::running)
        return fail("job {} runs already; only a job that waits can be held.", book_.shown(job));
      return desk_.record(Held{job, by});
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

Result<void> JobDesk::cancel(JobId job) {
  if (federation_ != nullptr && !desk_.view().job(job).ours()) return federation_->cancel(job);
  if (desk_.view().job(job).state == JobState::running) return desk_.record(CancelAsked{job});
  return desk_.record(Cancelled{job});
}

Result<void> JobDesk::release(const Caller& caller, JobId job) {
  const Bars bars = desk_.view().job(job).bars & kHolds;
  if (bars == kNoBars) return fail("job {} is not held.", book_.shown(job));
  if ((bars & kHeldByOperator) != 0 && !caller.operates)
    return fail("job {} is held by an operator, who has to release it.", book_.shown(job));
  for (const Bars each : {kHeldByUser, kHeldByOperator}) {
    if ((bars & each) == 0) continue;
    if (auto done = desk_.record(Released{job, each}); !done) return done;
  }
  return {};
}

// Signals a job that runs, or starts it over. SIGSTOP suspends it, and SIGCONT resumes one that is suspended: both go
// through the state, and the rules of which users may.
Result<void> JobDesk::control(const Caller& caller, JobId job, const JobChange& change) {
  if (auto can = can_be_told(job); !can) return can;
  if (change.kind == JobChange::Kind::signal) {
    const bool suspended = desk_.view().job(job).suspended();
    if (change.signal == SIGSTOP || (change.signal == SIGCONT && suspended))
      return suspend(caller, job, change.signal == SIGSTOP);
    return desk_.engine().signal(job, change.signal);
  }
  if ((desk_.view().job(job).suspended_by & kHeldByOperator) != 0 && !caller.operates)
    return fail("job {} is suspended by an operator, who has to resume it first.", book_.shown(job));
  if (desk_.view().job(job).spec.restart == Restart::once)
    return fail(
        "job {} was submitted with `--no-requeue`: it must not run a second time. Cancel it, and submit it anew.",
        book_.shown(job));
  auto done = desk_.controller().requeue(job);
  if (done) static_cast<void>(desk_.decide());
  return done;
}

Result<void> JobDesk::can_be_told(JobId job) const {
  const Job& row = desk_.view().job(job);
  const std::string name = "job " + book_.shown(job);
  if (row.state != JobState::running) return fail(name + " does not run.");
  if (row.settled()) return {};
  if (row.stopping) return fail(name + " is just stopping; try again once it has ended.");
  if (row.leaving) return fail(name + " is just giving way; try again once it waits or runs again.");
  return fail(name +
              " is just being started; try again once it runs. Whether its folder, input and output can be opened is "
              "known within a minute; it can be cancelled at once.");
}

// Once its limit has passed a job is ended by its supervisor, whatever it is told then.
Result<void> JobDesk::has_time_left(JobId job) const {
  if (!jobs_.ends_at_limit(desk_.view().job(job))) return {};
  return fail("job {} has come to its limit and is being ended.", book_.shown(job));
}

// A job is suspended by its user, by an operator, or by both. A resume ends both; where an operator has suspended the
// job, only an operator may resume it.
Result<void> JobDesk::suspend(const Caller& caller, JobId job, bool stops) {
  if (auto can = can_be_told(job); !can) return can;
  const Job& row = desk_.view().job(job);
  const std::string name = "job " + book_.shown(job);
  const Bars by = caller.uid == book_.find(job)->about->uid ? kHeldByUser : kHeldByOperator;
  if (stops) {
    if ((row.suspended_by & by) != 0) return fail(name + " is suspended already.");
    if (auto left = has_time_left(job); !left) return left;
    return desk_.record(Suspended{job, by});
  }
  if (!row.suspended()) return fail(name + " is not suspended.");
  if ((row.suspended_by & kHeldByOperator) != 0 && !caller.operates)
    return fail(name + " is suspended by an operator, who has to resume it.");
  return desk_.record(Resumed{job, row.suspended_by});
}

// For all tasks of an array at once: the change is recorded of one that waits, also where a running one was named.
Result<void> JobDesk::change_throttle(JobId job, std::uint32_t most) {
  const Eligibility& eligibility = desk_.view().eligibility();
  const std::int64_t array = eligibility.terms(job)->array;
  if (eligibility.throttle(array) == most) return {};
  JobId waits;
  book_.for_each_task(array, [&](std::int64_t, JobId task) {
    if (waits.valid() || !desk_.view().knows(task)) return;
    const JobState state = desk_.view().job(task).state;
    if (state == JobState::waiting || state == JobState::barred) waits = task;
  });
  if (!waits.valid()) return {};  // and so no task is left that it concerns
  JobTerms terms = *eligibility.terms(waits);
  terms.limit = desk_.view().job(waits).spec.limit;
  terms.throttle = most;
  return desk_.record(Amended{waits, std::move(terms)});
}

Result<void> JobDesk::change_running(const Caller& caller, JobId job, const JobChange& change) {
  if (!change.throttle) return change_limit(caller, job, change);
  if (auto can = has_throttle(job); !can) return can;
  JobChange rest = change;
  rest.throttle.reset();
  const bool alone = !rest.limit && !rest.is_for_waiting();
  auto done = alone ? Result<void>() : change_limit(caller, job, rest);
  return done ? change_throttle(job, *change.throttle) : done;
}

Result<void> JobDesk::has_throttle(JobId job) const {
  const JobTerms* terms = desk_.view().eligibility().terms(job);
  if (terms != nullptr && terms->array != 0) return {};
  return fail(
      "job {} has no limit of tasks at one time to change; only an array that is submitted with one has it, as "
      "--array 1-100%10.",
      book_.shown(job));
}

// Users may have their running jobs end sooner, operators also later.
Result<void> JobDesk::change_limit(const Caller& caller, JobId job, const JobChange& change) {
  const std::string name = "job " + book_.shown(job);
  if (change.is_for_waiting() || !change.limit) {
    return fail(
        "{} runs already; of what it was started on only its time limit can be changed. Requeue it to change more.",
        name);
  }
  if (*change.limit > desk_.view().job(job).spec.limit && !caller.operates)
    return fail("only an operator may give a running job more time.");
  if (auto can = can_be_told(job); !can) return can;
  if (auto left = has_time_left(job); !left) return left;
  return desk_.record(LimitChanged{job, *change.limit});
}

namespace {

// What is asked for from now on. Where nothing is said of processors, each process has as many as before. Where nothing
// is said of processes either, other nodes have as many each as was asked for; a single one stands for one on each.
Size resized(Size size, const JobChange& change) {
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
Result<JobDesk::Sized> JobDesk::sized(JobId job, const JobChange& change) const {
  Sized sized{desk_.view().job(job).spec, *book_.find(job)->about};
  if (change.partition) {
    const auto found = std::ranges::find(desk_.machine()->partitions, *change.partition, &Partition::name);
    if (found == desk_.machine()->partitions.end())
      return fail("there is no partition {}.", rota::quoted(*change.partition));
    sized.spec.partition = PartitionId{static_cast<std::uint32_t>(found - desk_.machine()->partitions.begin())};
  }
  if (change.name) {
    TRY(check_name(*change.name));
    sized.about.name = *change.name;
  }
  const auto is_account = [](const auto& label) { return label.first == "account"; };
  const bool counts = !desk_.machine()->accounts.empty() ||
                      std::ranges::any_of(desk_.machine()->limits, [](const Limit& l) { return !l.account.empty(); });
  if (counts && std::ranges::any_of(change.labels, is_account))
    return fail("limits and shares go by the account that job {} was submitted with; cancel it, and submit it anew.",
                book_.shown(job));
  for (const auto& [wish, text] : change.labels) set_text(sized.about.texts, wish, text);
  if (change.memory) sized.spec.memory = *change.memory;
  if (!change.resizes() && !(sized.about.exclusive && change.partition)) return sized;
  const Size size = resized(size_asked(sized.about, sized.spec), change);
  const auto named = static_cast<std::uint32_t>(sized.spec.node_wish ? sized.spec.node_wish->among.size() : 0);
  if (named > size.processors && !size.exclusive)
    return fail("job {} names {}, and {} is too few: each gives one at least.", book_.shown(job), amount(named, "node"),
                amount(size.processors, "processor"));
  TRY(give_size(size, *desk_.machine(), sized.spec));
  keep_size(size, sized.spec, sized.about);
  return sized;
}

// All of it, or nothing.
Result<void> JobDesk::amend(const Caller& caller, JobId job, const JobChange& change) {
  if (desk_.view().job(job).state == JobState::running) return change_running(caller, job, change);
  if ((change.resizes() || change.memory || change.partition) && jobs_.holds_stopped(job))
    return fail(
        "job {} was stopped to give way and goes on with what it was started on; cancel it and submit it again to "
        "change its processors, nodes, memory or partition.",
        book_.shown(job));
  const auto wanted = TRY(sized(job, change));
  if (!caller.operates && (change.name || !change.labels.empty())) {
    const std::size_t before = about_text(*book_.find(job)->about).size();
    const std::size_t after = about_text(wanted.about).size();
    if (auto room = room_.takes_jobs(caller, after - std::min(after, before)); !room) return room;
  }
  auto done = change_facts(caller, job, change, wanted.spec);
  if (done && wanted.about != *book_.find(job)->about) reword(job, wanted.about);
  return done;
}

void JobDesk::reword(JobId job, const About& about) {
  JobEntry entry = std::move(*book_.find(job));
  desk_.store().put_about(job, about_text(about, entry.index));
  entry.about = std::make_shared<About>(about);
  book_.put(job, std::move(entry));
}

Result<void> JobDesk::change_facts(const Caller& caller, JobId job, const JobChange& change, const JobSpec& wanted) {
  const Job& row = desk_.view().job(job);
  LicencesChanged before{.job = job};
  copy_licences(row.spec, before);
  if (change.licences) {
    if (auto done = change_licences(job, *change.licences); !done) return done;
  }
  const bool other_terms = change.limit || change.priority || change.partition || change.begin || change.throttle;
  if (!other_terms && !change.memory && !change.resizes()) return {};
  auto done = change_terms(caller, job, change, wanted);
  if (!done && change.licences) static_cast<void>(desk_.record(before));
  return done;
}

Result<void> JobDesk::change_terms(const Caller& caller, JobId job, const JobChange& change, const JobSpec& wanted) {
  const Job& row = desk_.view().job(job);
  const JobTerms* own = desk_.view().eligibility().terms(job);
  JobTerms terms = own ? *own : JobTerms{row.spec.limit, row.spec.priority, row.spec.partition};
  terms.limit = row.spec.limit;  // an operator may have changed it while the job ran
  const auto of_partition = [&](PartitionId id) {
    return id.valid() ? desk_.machine()->partitions[id.value].priority : 0;
  };
  if (change.priority) {
    const std::int32_t present = terms.priority - of_partition(terms.partition);
    if (*change.priority > present && !caller.operates)
      return fail("only an operator may raise a priority; that of job {} is {}.", book_.shown(job), present);
    terms.priority = *change.priority + of_partition(terms.partition);
  }
  if (change.limit) terms.limit = *change.limit;
  if (change.begin) terms.begin = *change.begin;
  if (change.throttle) {
    if (auto can = has_throttle(job); !can) return can;
  }
  if (terms.array != 0) terms.throttle = change.throttle.value_or(desk_.view().eligibility().throttle(terms.array));
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
  return desk_.record(std::move(fact));
}

Result<void> JobDesk::change_licences(JobId job, const LicencesAsked& asked) {
  JobSpec spec;
  if (auto found = look_up_licences(asked, *desk_.machine(), spec); !found) return found;
  LicencesChanged fact{.job = job};
  copy_licences(spec, fact);
  return desk_.record(fact);
}

}  // namespace rota::serve

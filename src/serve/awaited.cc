#include "serve/awaited.h"

#include <utility>

#include "base/text.h"

namespace rota::serve {
namespace {

constexpr std::size_t kCostOfHistory = 100;  // to ask it, in jobs that are known

}  // namespace

Result<std::vector<Dependency>> Awaited::of_all() {
  std::vector<Dependency> all;
  Result<void> in_vain;
  for (const AfterName& each : after_.names) {
    if (each.same_index) continue;
    const std::size_t before = all.size();
    never_ = false;
    auto added = add(each, each.index, all);
    if (!added && !(after_.any && never_)) return std::unexpected(added.error());
    if (!added) in_vain = added;
    if (!after_.any || !added) continue;
    if (all.size() == before) return std::vector<Dependency>{};  // it is met
    if (all.size() > before + 1)
      return fail("one of several to wait for is a job or a task by its id, and {} is an array.", each.text());
  }
  if (all.empty() && !in_vain) return std::unexpected(in_vain.error());
  return all;
}

Result<void> Awaited::add_of(std::int64_t index, std::vector<Dependency>& into) {
  for (const AfterName& each : after_.names) {
    if (!each.same_index) continue;
    if (auto added = add(each, index, into); !added) return added;
  }
  return {};
}

Result<void> Awaited::looked(std::size_t more) {
  looked_at_ += more;
  if (looked_at_ <= kMostDependencies * 3) return {};
  return fail(
      "to find out what a job waits for, more than {} jobs would be looked at; let one job in between wait for all of "
      "them.",
      grouped(kMostDependencies * 3));
}

// All that a number names: looked up once. Where `some` of them alone are meant, the others count, too.
Result<const Awaited::Tasks*> Awaited::tasks_of(std::int64_t number, bool some) {
  const auto [at, is_new] = known_.try_emplace(number);
  Tasks& tasks = at->second;
  if (!is_new) return &tasks;
  jobs_.book().for_each_task(number, [&](std::int64_t i, JobId job) { tasks.emplace(i, meant(job)); });
  const JobEntry* entry = jobs_.book().find(jobs_.book().numbered(number));
  if (entry == nullptr || entry->about->array == number) {
    TRY(looked(kCostOfHistory));
    for (const store::HistoryRow& row : jobs_.ended_tasks(number))
      tasks.emplace(row.array_index, Meant{row.job, row.state, row.shown()});
  }
  TRY(looked(some ? tasks.size() : 0));
  if (tasks.empty()) {
    if (const JobId job = jobs_.book().numbered(number); job.valid()) {
      tasks.emplace(-1, meant(job));
    } else if (const auto row = TRY(jobs_.history_of_number(number))) {
      tasks.emplace(-1, Meant{row->job, row->state, row->shown()});
    }
  }
  return &tasks;
}

Awaited::Meant Awaited::meant(JobId job) const {
  const Job& row = view_.job(job);
  return {job, row.gone() ? std::string(state_word(row)) : std::string(), jobs_.book().shown(job)};
}

// Whether an array had no such task when it was submitted, as those that are left of it tell.
bool Awaited::never_had(const Tasks& tasks, std::int64_t index) const {
  for (const auto& [i, task] : tasks) {
    const JobEntry* entry = i < 0 || !task.state.empty() ? nullptr : jobs_.book().find(task.job);
    if (entry == nullptr) continue;
    const auto& all = entry->about->indexes;
    return static_cast<std::int64_t>(tasks.size()) >= all.count || index < all.least || index > all.most;
  }
  return false;
}

Result<void> Awaited::add(const AfterName& name, std::int64_t index, std::vector<Dependency>& into) {
  if (const JobId task = name.index < 0 ? JobId{} : jobs_.book().task(name.number, name.index); task.valid()) {
    if (auto may = looked(1); !may) return may;
    return add(meant(task), name, into);
  }
  const auto tasks = TRY(tasks_of(name.number, index >= 0));
  const bool is_array = !tasks->contains(-1);
  if (!is_array && name.index < 0) index = -1;  // of what is no array, aftercorr means the job
  const auto [from, to] = is_array && index < 0 ? std::pair(tasks->begin(), tasks->end()) : tasks->equal_range(index);
  if (tasks->empty() && name.index < 0) return fail("a job waits for job {}, which is not known.", name.text());
  if (from == to && never_had(*tasks, index))
    return fail("array {} has no task {}, for which a job is to wait.", name.number, index);
  if (from == to) return fail("a job waits for {}, which is not known any more.", rota::quoted(name.text()));
  if (is_array && index < 0 && name.when == Dependency::When::failed) {
    if (auto may = looked(static_cast<std::size_t>(std::distance(from, to))); !may) return may;
    return add_array_that_fails(name, from, to, into);
  }
  for (auto task = from; task != to; ++task) {
    if (auto may = looked(1); !may) return may;
    if (auto added = add(task->second, name, into); !added) return added;
  }
  return {};
}

// All of them end, and one of them fails.
Result<void> Awaited::add_array_that_fails(const AfterName& name, Tasks::const_iterator from, Tasks::const_iterator to,
                                           std::vector<Dependency>& into) {
  using When = Dependency::When;
  const bool failed = std::any_of(
      from, to, [](const auto& task) { return !task.second.state.empty() && task.second.state != "COMPLETED"; });
  JobId group;
  for (auto task = from; task != to; ++task) {
    if (!task->second.state.empty()) continue;
    if (!group.valid()) group = task->second.job;
    into.push_back(failed ? Dependency{task->second.job, When::ended}
                          : Dependency{task->second.job, When::failed, group});
  }
  if (failed || group.valid()) return {};
  never_ = true;
  return fail("the dependency on job {} can never be met: all its tasks have ended as COMPLETED.", name.text());
}

// What was met already is left out; what can never be met is refused.
Result<void> Awaited::add(const Meant& on, const AfterName& name, std::vector<Dependency>& into) {
  using When = Dependency::When;
  if (on.state.empty()) {
    const Job& job = view_.job(on.job);
    const bool met = name.when == When::started && job.state == JobState::running;
    if (!met) into.push_back({on.job, name.when, {}, name.later});
    if (met && name.later > Duration{0}) begins_ = std::max(begins_, job.start + name.later);
    return {};
  }
  const bool succeeded = on.state == "COMPLETED";
  const bool met = name.when == When::succeeded ? succeeded : name.when == When::failed ? !succeeded : true;
  if (met) return {};
  never_ = true;
  return fail("the dependency on job {} can never be met: it has ended as {}.", on.shown, on.state);
}

}  // namespace rota::serve

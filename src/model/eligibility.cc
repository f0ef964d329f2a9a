#include "model/eligibility.h"

#include <algorithm>
#include <set>

namespace rota {

void Eligibility::set(JobId job, const JobTerms& terms) {
  const auto [at, fresh] = rows_.try_emplace(job);
  Row& row = at->second;
  if (!fresh) drop_links(job, row);
  row.never = row.never && row.terms.after == terms.after && row.terms.any == terms.any;
  row.terms = terms;
  if (terms.begin > kEpoch) begins_.emplace(terms.begin, job);
  for (const Dependency& d : terms.after) dependents_[d.on].insert(job);
  if (terms.array == 0) return;
  Array& array = arrays_[terms.array];
  array.throttle = terms.throttle;
  ++array.members;
  if (row.active) ++array.active;
}

void Eligibility::drop_links(JobId job, const Row& row) {
  begins_.erase({row.terms.begin, job});
  unlink(job, row.terms.after);
  changed_.erase(job);
  const auto array = arrays_.find(row.terms.array);
  if (array == arrays_.end()) return;
  array->second.barred.erase(job);
  if (row.active) --array->second.active;
  if (--array->second.members == 0) arrays_.erase(array);
}

void Eligibility::unlink(JobId job, const std::vector<Dependency>& after, JobId except) {
  for (const Dependency& d : after) {
    const auto others = dependents_.find(d.on);
    if (d.on == except || others == dependents_.end()) continue;
    others->second.erase(job);
    if (others->second.empty()) dependents_.erase(others);
  }
}

void Eligibility::forget(JobId job) {
  const auto found = rows_.find(job);
  if (found == rows_.end()) return;
  drop_links(job, found->second);
  rows_.erase(found);
}

Bars Eligibility::bars(JobId job, Instant now) const {
  const auto found = rows_.find(job);
  if (found == rows_.end()) return kNoBars;
  const Row& row = found->second;
  Bars bars = kNoBars;
  if (row.terms.begin > now) bars |= kBeginTime;
  if (!row.terms.after.empty()) bars |= row.never ? kDependency | kNeverAgain : kDependency;
  if (bars != kNoBars || row.active) return bars;
  const auto array = arrays_.find(row.terms.array);
  if (array == arrays_.end() || array->second.throttle == 0) return kNoBars;
  return array->second.active >= array->second.throttle ? kArrayThrottle : kNoBars;
}

void Eligibility::queued(JobId job) {
  const auto found = rows_.find(job);
  if (found == rows_.end() || found->second.active) return;
  found->second.active = true;
  if (found->second.terms.array != 0) ++arrays_[found->second.terms.array].active;
}

void Eligibility::unqueued(JobId job) {
  const auto found = rows_.find(job);
  if (found == rows_.end() || !found->second.active) return;
  found->second.active = false;
  if (found->second.terms.array != 0) --arrays_[found->second.terms.array].active;
}

void Eligibility::settled(JobId job, Bars bars) {
  const auto found = rows_.find(job);
  if (found == rows_.end()) return;
  changed_.erase(job);
  if ((bars & kBeginTime) == 0) begins_.erase({found->second.terms.begin, job});
  const auto array = arrays_.find(found->second.terms.array);
  if (array == arrays_.end()) return;
  if (bars == kArrayThrottle) {
    array->second.barred.insert(job);
  } else {
    array->second.barred.erase(job);
  }
}

Eligibility::Standing Eligibility::standing(JobId job) const {
  const Row& row = rows_.at(job);
  return {row.active, row.never, changed_.contains(job)};
}

void Eligibility::put_back(JobId job, const JobTerms& terms, const Standing& standing, Bars bars) {
  set(job, terms);
  rows_[job].never = standing.never;
  if (standing.active) queued(job);
  settled(job, bars);
  if (standing.due) changed_.insert(job);
}

void Eligibility::ended(JobId job, bool succeeded, Instant now) {
  hand_on(job);
  for (const auto when : {Dependency::When::started, Dependency::When::ended, Dependency::When::in_turn})
    met(job, when, now);
  met(job, succeeded ? Dependency::When::succeeded : Dependency::When::failed, now);
  failed(job, succeeded ? Dependency::When::failed : Dependency::When::succeeded);
}

namespace {

// The other jobs that stand for the same array need only end.
void one_failed(std::vector<Dependency>& after, JobId on) {
  for (std::size_t i = 0; i < after.size(); ++i) {
    const JobId group = after[i].group;
    if (after[i].on != on || !group.valid()) continue;
    for (Dependency& other : after) {
      if (other.group == group && other.on != on) other = {other.on, Dependency::When::ended};
    }
  }
}

// Where it stands for an array with others that may still fail, no job waits for it any more.
void leave_to_others(std::vector<Dependency>& after, JobId on) {
  const auto found = std::ranges::find_if(after, [&](const Dependency& d) { return d.on == on && d.group.valid(); });
  if (found == after.end()) return;
  const auto other = [&](const Dependency& d) { return d.group == found->group && d.on != on; };
  if (std::ranges::any_of(after, other)) after.erase(found);
}

}  // namespace

// Hands on the jobs for whose turn it still waits: a job that waited behind it waits for them from now on.
void Eligibility::hand_on(JobId job) {
  const auto is_turn = [](const Dependency& d) { return d.when == Dependency::When::in_turn; };
  const auto own = rows_.find(job);
  const auto dependents = dependents_.find(job);
  if (own == rows_.end() || dependents == dependents_.end()) return;
  if (std::ranges::none_of(own->second.terms.after, is_turn)) return;
  for (const JobId behind : dependents->second) {
    std::vector<Dependency>& after = rows_[behind].terms.after;
    if (std::ranges::find(after, Dependency{job, Dependency::When::in_turn}) == after.end()) continue;
    std::set<JobId> known;
    for (const Dependency& d : after)
      if (is_turn(d)) known.insert(d.on);
    for (const Dependency& d : own->second.terms.after) {
      if (!is_turn(d) || !known.insert(d.on).second) continue;
      after.push_back(d);
      dependents_[d.on].insert(behind);
    }
  }
}

void Eligibility::met(JobId on, Dependency::When when, Instant now) {
  const auto dependents = dependents_.find(on);
  if (dependents == dependents_.end()) return;
  const auto is_it = [&](const Dependency& d) { return d.on == on && d.when == when; };
  for (auto job = dependents->second.begin(); job != dependents->second.end();) {
    JobTerms& terms = rows_[*job].terms;
    if (when == Dependency::When::failed) one_failed(terms.after, on);
    const auto first = std::ranges::find_if(terms.after, is_it);
    if (first != terms.after.end()) {
      changed_.insert(*job);
      if (first->later > Duration{0} && now + first->later > terms.begin) {
        begins_.erase({terms.begin, *job});
        terms.begin = now + first->later;
        begins_.emplace(terms.begin, *job);
      }
      if (terms.any) unlink(*job, terms.after, on);
      std::erase_if(terms.after, [&](const Dependency& d) { return terms.any || is_it(d); });
    }
    const bool waits = std::ranges::find(terms.after, on, &Dependency::on) != terms.after.end();
    job = waits ? std::next(job) : dependents->second.erase(job);
  }
  if (dependents->second.empty()) dependents_.erase(dependents);
}

// What is left of them can never be met.
void Eligibility::failed(JobId on, Dependency::When when) {
  const auto dependents = dependents_.find(on);
  if (dependents == dependents_.end()) return;
  for (const JobId job : dependents->second) {
    Row& row = rows_[job];
    const auto is_it = [&](const Dependency& d) { return d.on == on && d.when == when; };
    if (when == Dependency::When::failed) leave_to_others(row.terms.after, on);
    if (!std::any_of(row.terms.after.begin(), row.terms.after.end(), is_it)) continue;
    if (row.terms.any && std::ranges::any_of(row.terms.after, [&](const Dependency& d) { return d.on != on; })) {
      std::erase_if(row.terms.after, [&](const Dependency& d) { return d.on == on; });  // the others may still do
      continue;
    }
    row.never = true;
    changed_.insert(job);
  }
  dependents_.erase(dependents);
}

}  // namespace rota

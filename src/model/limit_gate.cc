#include "model/limit_gate.h"

#include <algorithm>

namespace rota {

std::vector<JobId> LimitGate::due() const {
  std::vector<JobId> due;
  for (const LimitKey& key : eased_) due.insert(due.end(), jobs_.at(key).begin(), jobs_.at(key).end());
  std::ranges::sort(due);
  return due;
}

void LimitGate::settle(JobId job, const JobSpec& spec, Bars bars) {
  if (bars != kOverLimit) return erase(job);
  const auto behind = kept() ? use_.broken_by(spec) : std::nullopt;
  add(job, behind.value_or(LimitKey{}), !behind);
}

void LimitGate::give(const JobSpec& spec) {
  use_.give(spec);
  if (behind_.empty()) return;
  use_.book().for_each(spec, [&](LimitKey key) {
    if (jobs_.contains(key)) eased_.insert(key);
    return true;
  });
}

void LimitGate::add(JobId job, LimitKey behind, bool due) {
  erase(job);
  behind_.emplace(job, behind);
  jobs_[behind].insert(job);
  if (due) eased_.insert(behind);
}

void LimitGate::erase(JobId job) {
  const auto found = behind_.find(job);
  if (found == behind_.end()) return;
  const auto jobs = jobs_.find(found->second);
  jobs->second.erase(job);
  if (jobs->second.empty()) {
    eased_.erase(jobs->first);
    jobs_.erase(jobs);
  }
  behind_.erase(found);
}

}  // namespace rota

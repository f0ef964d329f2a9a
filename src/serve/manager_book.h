// Jobs of a resource manager that the engine only watches, as the service keeps them: each is put into the book under
// the names that its users know it by, with what the manager says of it. One thread.
#pragma once

#include <vector>

#include "control/manager_jobs.h"
#include "serve/job_lookup.h"
#include "serve/shadow.h"
#include "serve/waiting_order.h"

namespace rota::serve {

class ManagerBook final : public ManagerJobs {
 public:
  ManagerBook(Desk& desk, JobBook& book, const JobLookup& jobs, Forecaster& forecaster)
      : desk_(desk), book_(book), jobs_(jobs), shadow_(desk, jobs, forecaster), order_(desk, book) {}

  Shadow& shadow() { return shadow_; }
  Mandates* mandates() const { return desk_.engine().mandates(); }  // nullptr: the cluster is Rota's own

  JobId meet(const JobSpec& spec, Bars bars, const ManagerJob& named) override;
  bool has_left(std::int64_t number) const override;
  void say(JobId job, std::string_view reason, Instant expected) override;
  void surveyed(Instant at) override;
  Result<std::vector<std::int64_t>> in_order(const std::string& rule) override { return order_.of(rule); }

 private:
  Desk& desk_;
  JobBook& book_;
  const JobLookup& jobs_;
  std::vector<JobId> met_;  // since the survey before
  Shadow shadow_;
  WaitingOrder order_;
};

}  // namespace rota::serve

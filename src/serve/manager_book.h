// Jobs of a resource manager that the engine only watches, as the service keeps them: each is put into the book under
// the names that its users know it by, with what the manager says of it. One thread.
#pragma once

#include <functional>
#include <vector>

#include "control/manager_jobs.h"
#include "serve/job_lookup.h"

namespace rota::serve {

class ManagerBook final : public ManagerJobs {
 public:
  ManagerBook(Desk& desk, JobBook& book, const JobLookup& jobs) : desk_(desk), book_(book), jobs_(jobs) {}

  // Called with the jobs that are new and wait, once all that the manager says of an instant has been said.
  using Met = std::function<void(const std::vector<JobId>& jobs)>;
  void on_survey(Met call) { met_call_ = std::move(call); }

  JobId meet(const JobSpec& spec, Bars bars, const ManagerJob& named) override;
  bool has_left(std::int64_t number) const override;
  void say(JobId job, std::string_view reason, Instant expected) override;
  void surveyed(Instant at) override;

 private:
  Desk& desk_;
  JobBook& book_;
  const JobLookup& jobs_;
  std::vector<JobId> met_;  // since the survey before
  Met met_call_;
};

}  // namespace rota::serve

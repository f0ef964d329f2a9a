// Jobs of a resource manager that an engine only watches: how they come to the service, with what people call them and
// what the manager says of them. No fact: what decides stands in the facts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/job.h"

namespace rota {

// What people call a job.
struct ManagerJob {
  std::string name;
  std::string user;
  std::int64_t array = 0;   // number of its array; 0: it is no task of one
  std::int64_t index = -1;  // within it
};

class ManagerJobs {
 public:
  virtual ~ManagerJobs() = default;
  // A new job, as Intake::submit takes it, with its names. Invalid: it was refused.
  virtual JobId meet(const JobSpec& spec, Bars bars, const ManagerJob& named) = 0;
  // Whether a job with this number has left and is kept in the history.
  virtual bool has_left(std::int64_t number) const = 0;
  // Why a job that waits does so, in the manager's word ("" for none), and when the manager expects it to start
  // (kNever: it does not say).
  virtual void say(JobId job, std::string_view reason, Instant expected) = 0;
  // All has been said of how things stood at that instant.
  virtual void surveyed(Instant at) = 0;
  // The numbers of the jobs that wait for their turn, in that order ("sjf", "fair+fair-half-life=1d"), the first to
  // start first. Fails with a sentence where there is no such order. O(jobs log jobs).
  virtual Result<std::vector<std::int64_t>> in_order(const std::string& rule) = 0;
};

}  // namespace rota

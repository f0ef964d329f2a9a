// Waiting for jobs, and following what they write.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/live/service.h"

namespace rota::cli {

// Pauses between two looks, first short ones; a signal that is caught ends one early.
class Pauses {
 public:
  void pause();

 private:
  std::int64_t milliseconds_ = 20;
};

// The jobs of these ids, as they are now or, with `until_ended`, once all have ended. One that can never
// start is told of on standard error and not waited for.
Result<Json> jobs_of(const Service& service, const std::vector<std::string>& ids);
Result<Json> ended_jobs(const Service& service, const std::vector<std::string>& ids);

// "job 12 waits: ..." as the service says why; empty of one that does not wait.
std::string why_it_waits(const Json& job);

// Says of jobs that ended otherwise than well, and not by an exit code of their own, how, and why where that is known.
void tell_what_was_said(const Service& service, const Json& jobs);

// The worst exit code of these jobs.
int worst_exit_code(const Json& jobs);

// One stream of a job's output, from its beginning on.
class JobOutput {
 public:
  JobOutput(const Service& service, const std::string& id, const std::string& stream);

  // Writes what has come since; true once the job has ended and all is written.
  Result<bool> copy(std::FILE* to);
  bool written() const { return from_ > 0; }  // anything yet

 private:
  const Service& service_;
  std::string target_;
  std::uint64_t from_ = 0;
};

}  // namespace rota::cli

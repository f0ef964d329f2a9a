// Jobs of an import that its cluster, as it is described, can never run, though they have run there: a rehearsal would
// reject them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "log/job_attributes.h"
#include "log/log_top.h"
#include "log/swf_row.h"
#include "model/job.h"
#include "model/machine.h"

namespace rota::cli {

struct UnfitJobs {
  std::string what;  // the reason that they have in common
  std::int64_t jobs = 0;
  std::int64_t first = 0;  // the number of one of them,
  std::string why;         // and what it asks for, as half a sentence
};

class UnfitCount {
 public:
  // `partitions` are the names of the jobs' numbers. Both must outlive it.
  UnfitCount(const Machine& machine, const log::NumberedNames& partitions);

  // A job in order of submission, which asks for nothing that the machine has none of.
  void add(const log::SwfRow& row, const log::JobAttributes& asks);
  std::vector<UnfitJobs> by_reason() const;

 private:
  JobSpec spec_of(const log::SwfRow& row, const log::JobAttributes& asks) const;

  const Machine& machine_;
  std::map<std::int64_t, PartitionId> partitions_;  // of the machine, by the jobs' numbers
  std::vector<UnfitJobs> found_;
};

}  // namespace rota::cli

// A workload shared out over the sites of a federation: which jobs come to which site, and which of them the sites may
// exchange.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "engine/sim/federation.h"
#include "model/never_fits.h"
#include "rehearse/rehearse.h"

namespace rota {

// Partitions differ between sites in their nodes, and each site has a default partition of its own.
class SiteTerms final : public sim::Terms {
 public:
  explicit SiteTerms(const Machine& whole) : whole_(whole) {}

  std::optional<JobSpec> at(SiteId site, const JobSpec& job) const override {
    const Machine& machine = whole_.sites[site.value];
    JobSpec here = taken_to(site, job);
    if (here.processors > machine.processors || never_fits(machine, here)) return std::nullopt;
    return here;
  }
  // Whether it can run there or not.
  JobSpec taken_to(SiteId site, JobSpec job) const {
    const Machine& machine = whole_.sites[site.value];
    if (!job.partition.valid()) job.partition = machine.default_partition;
    if (job.partition.valid()) job.priority += machine.partitions[job.partition.value].priority;
    return job;
  }

 private:
  const Machine& whole_;
};

class SiteStream final : public sim::Source {
 public:
  void add(const sim::Arrival& arrival) { jobs_.push_back(arrival); }
  bool next(sim::Arrival& arrival) override {
    if (next_ == jobs_.size()) return false;
    arrival = jobs_[next_++];
    return true;
  }

 private:
  std::vector<sim::Arrival> jobs_;
  std::size_t next_ = 0;
};

// The workload, shared out: what each site keeps for itself, and what the sites may exchange.
struct SiteStreams {
  std::vector<SiteStream> local;
  std::vector<sim::GlobalJob> global;
  std::vector<SiteId> homes;                                    // of the workload's jobs
  std::vector<std::pair<std::int64_t, std::size_t>> by_number;  // index in the workload
};

// The machine of the options has sites. A job is submitted at the site that its attributes name; if they name none, at
// its user's: users are spread over the sites in proportion to their processors, jobs of unknown users by their
// numbers; if it can never run there, at the next site where it can. A job that no other site can run stays there; so
// does one whose attributes say that no other site may have it, and so do all jobs unless they may be exchanged.
SiteStreams site_streams(const log::Workload& workload, const RehearseOptions& options, const SiteTerms& terms,
                         bool exchanged);

}  // namespace rota

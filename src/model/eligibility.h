// The jobs with terms of their own: which of them may be queued, and when. A fold, kept up by Cluster: what was lifted
// in the meantime is asked for with due() and becomes a fact (Eligible). Cost: O(log of such jobs) a change; nothing
// where no job has terms. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/job.h"

namespace rota {

class Eligibility {
 public:
  bool empty() const { return rows_.empty(); }
  const JobTerms* terms(JobId job) const {  // nullptr: it has none of its own
    const auto found = rows_.find(job);
    return found == rows_.end() ? nullptr : &found->second.terms;
  }
  // So many of the array at one time, as was said last of any of its jobs; 0: no limit.
  std::uint32_t throttle(std::int64_t array) const {
    const auto found = arrays_.find(array);
    return found == arrays_.end() ? 0 : found->second.throttle;
  }

  // Puts terms in place of those that it had. A dependency that is met already must have been left out; one that can no
  // longer be met stays so where the terms name the same.
  void set(JobId job, const JobTerms& terms);
  void forget(JobId job);  // it is gone

  // What keeps the job from being queued at this instant, beside holds.
  Bars bars(JobId job, Instant now) const;

  // What happened to jobs, with terms or without.
  void queued(JobId job);    // it counts for its array from now on,
  void unqueued(JobId job);  // and no longer
  void started(JobId job, Instant now = kEpoch) { met(job, Dependency::When::started, now); }
  void ended(JobId job, bool succeeded, Instant now = kEpoch);

  // The earliest begin time that is waited for; kNever: none.
  Instant next_begin() const { return begins_.empty() ? kNever : begins_.begin()->first; }
  // visit(JobId) for each job whose bars may be fewer, or others, than when they were set; by id within each cause.
  template <class Visit>
  void for_each_due(Instant now, const Visit& visit) const {
    for (const auto& [begin, job] : begins_) {
      if (begin > now) break;
      visit(job);
    }
    for (const JobId job : changed_) visit(job);
    for (const auto& [number, array] : arrays_) {
      std::uint32_t room = array.throttle > array.active ? array.throttle - array.active : 0;
      if (array.throttle == 0) room = UINT32_MAX;
      for (auto job = array.barred.begin(); room > 0 && job != array.barred.end(); ++job, --room) visit(*job);
    }
  }
  // For a snapshot: what is known of a job beside its terms, and how it is put back.
  struct Standing {
    bool active = false;  // queued or running
    bool never = false;   // a dependency can no longer be met
    bool due = false;     // a dependency was met, or failed, and was not looked at since
  };
  Standing standing(JobId job) const;
  void put_back(JobId job, const JobTerms& terms, const Standing& standing, Bars bars);

  // Its bars are these now.
  void settled(JobId job, Bars bars);

 private:
  struct Row {
    JobTerms terms;
    bool never = false;   // a dependency can no longer be met
    bool active = false;  // queued or running
  };
  struct Array {
    std::uint32_t throttle = 0;
    std::uint32_t active = 0;
    std::uint32_t members = 0;
    std::set<JobId> barred;  // by the throttle alone
  };

  void drop_links(JobId job, const Row& row);
  void hand_on(JobId job);
  void met(JobId on, Dependency::When when, Instant now);
  void unlink(JobId job, const std::vector<Dependency>& after, JobId except = {});
  void failed(JobId on, Dependency::When when);

  std::map<JobId, Row> rows_;
  std::set<std::pair<Instant, JobId>> begins_;
  std::map<JobId, std::set<JobId>> dependents_;  // by the job that is waited for
  std::map<std::int64_t, Array> arrays_;
  std::set<JobId> changed_;  // a dependency was met, or failed
};

}  // namespace rota

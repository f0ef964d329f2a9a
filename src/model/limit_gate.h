// Limits between jobs and the queue: what jobs hold of what is limited, and which jobs are not queued because of that
// (kOverLimit), each behind the count that keeps it out. What comes free there goes to the first of them that it is
// enough for. A fold, kept up by Cluster. O(limits of a job + log of such jobs) a change. Not thread-safe.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "base/id.h"
#include "model/job_terms.h"
#include "model/limit_book.h"

namespace rota {

class LimitGate {
 public:
  // at_start: what is limited counts for jobs that run, and the policy keeps to the limits; else for queued jobs, too.
  LimitGate(const LimitBook* book, bool at_start) : use_(book), at_start_(at_start) {}

  bool kept() const { return use_.kept(); }
  const LimitUse& use() const { return use_; }
  // Whether a limit keeps such a job from being queued now.
  Bars bars(const JobSpec& spec) const { return kept() && !at_start_ && use_.broken_by(spec) ? kOverLimit : kNoBars; }
  // The jobs that may be let in, or not, since something came free; by id.
  bool any_due() const { return !eased_.empty(); }
  std::vector<JobId> due() const;

  // A job joins the queue, leaves it without a start, starts, and leaves its nodes.
  void queued(const JobSpec& spec) {
    if (kept() && !at_start_) use_.count(spec);
  }
  void unqueued(const JobSpec& spec) {
    if (kept() && !at_start_) give(spec);
  }
  void started(const JobSpec& spec) {
    if (kept() && at_start_) use_.count(spec);
  }
  void ended(const JobSpec& spec) {
    if (kept()) give(spec);
  }
  // A job that a snapshot has running, or barred for a limit: behind which count it is, the others show that come yet.
  void put_back_running(const JobSpec& spec) {
    if (kept()) use_.count(spec);
  }
  void put_back_barred(JobId job) { add(job, {}, true); }

  // Its bars are these now.
  void settled(JobId job, const JobSpec& spec, Bars bars) {
    if (kept() || !behind_.empty()) settle(job, spec, bars);
  }
  void gone(JobId job) {
    if (!behind_.empty()) erase(job);
  }
  // A cycle has looked at those that were due; spec_of(job) is what one asks for.
  template <class SpecOf>
  void looked_at(const SpecOf& spec_of) {
    const std::vector<JobId> still = due();
    eased_.clear();
    for (const JobId job : still) settle(job, spec_of(job), kOverLimit);
  }

 private:
  void settle(JobId job, const JobSpec& spec, Bars bars);
  void give(const JobSpec& spec);
  void add(JobId job, LimitKey behind, bool due);
  void erase(JobId job);

  LimitUse use_;
  bool at_start_;
  std::map<JobId, LimitKey> behind_;
  std::map<LimitKey, std::set<JobId>> jobs_;
  std::set<LimitKey> eased_;  // counts that have become less
};

}  // namespace rota

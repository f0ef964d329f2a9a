// Why a job waits and what would let it start sooner; when jobs would start. Found by deciding on copies of the state.
// One thread.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/job.h"
#include "serve/pending_reason.h"
#include "serve/remedies.h"
#include "serve/time_share.h"

namespace rota::serve {

struct Explanation {
  struct Ahead {
    JobId job;
    Instant promise = kNever;  // kNever: none that could be told
  };
  std::string reason;
  std::string why;
  std::vector<Ahead> ahead;        // the first few that go before it and want the same nodes
  std::int64_t more_ahead = 0;     // so many beside these
  Instant promise = kNever;        // the start that the policy announces
  Instant at_the_latest = kNever;  // if every job takes its whole limit and no other job comes before it
  std::string start_unknown;       // why neither can be told: "job 1 has no time limit; ..."; empty: they can
  std::vector<Remedy> remedies;
  std::vector<std::string> facts;  // about what is free and what is wanted
};

// What would become of a job that is not there yet.
struct Trial {
  Instant expected = kNever;       // its start as things stand; kNever: the policy promises none
  Instant latest = kNever;         // then: if every job takes its whole limit and no other job comes before it
  std::string start_unknown = {};  // why neither can be told; empty: they can, or the reason is not known
  std::string_view reason = {};    // what would keep it from being queued; empty: nothing
  std::string why = {};            // as a sentence
};

class Explainer {
 public:
  Explainer(const Desk& desk, const JobLookup& jobs, const PendingReasons& reasons, const ReservationDesk& reservations)
      : desk_(desk), jobs_(jobs), reasons_(reasons), reservations_(reservations) {}

  // Nothing of a job that does not wait. Tries remedies for a part of the thread's time at most.
  Explanation explain(JobId id) const;
  // A job to which the policy promises no start is given one by the limits of jobs, as jobs that wait are.
  Trial start_of_new(const JobSpec& spec) const;
  // When jobs that wait would start if this policy decided now, in the order of the present one, as far as it says.
  std::vector<std::pair<JobId, Instant>> starts_by(const std::string& policy) const;
  // Which jobs run, or wait before a job, for a time that cannot be told: "job 1 has no time limit; ...". Empty: none
  // does. `id`: invalid for a job that is not there yet.
  std::string endless_before(const JobSpec& spec, JobId id) const;

 private:
  // To try a policy on a copy of the state, in the order of the present one.
  struct Planned {
    ClusterOptions options;
    Chain chain;
  };
  Planned planned(const std::string& policy) const;
  Trial try_new(const JobSpec& spec) const;
  void add_ahead(JobId id, Explanation& to) const;
  void add_reservation(const Job& job, Explanation& to) const;
  void try_remedies(JobId id, Explanation& to) const;
  std::string why_it_lasts(JobId id, const Job& job) const;
  std::string late_before(const JobSpec& spec) const;
  std::string start_unknown(const JobSpec& spec, JobId id, Instant start) const;
  LateEnds late_ends() const;

  const Desk& desk_;
  const JobLookup& jobs_;
  const PendingReasons& reasons_;
  const ReservationDesk& reservations_;
  mutable TimeShare trials_{1.0, 0.25};
};

}  // namespace rota::serve

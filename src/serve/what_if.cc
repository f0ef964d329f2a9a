#include "serve/what_if.h"

#include <algorithm>
#include <variant>

namespace rota::serve {
namespace {

Start decided(Cluster& cluster, const Chain& chain, Instant now, JobId job) {
  cluster.open_cycle(std::max(now, cluster.now()));
  Plan plan;
  plan.open(cluster);
  chain.decide(cluster, plan);
  if (plan.starts(job)) return {true, cluster.now()};
  for (const Promise& promise : plan.promises()) {
    if (promise.job == job) return {false, promise.start};
  }
  return {false, cluster.job(job).promise};
}

// A policy would count on them as ending now.
std::vector<Fact> as_they_end(std::vector<Fact> facts, const LateEnds& late) {
  if (late.empty()) return facts;
  for (Fact& fact : facts) {
    auto* kept = std::get_if<JobKept>(&fact.what);
    const auto found = kept == nullptr ? late.end() : late.find(kept->job);
    if (found == late.end()) continue;
    Job& job = kept->row;
    job.expected = found->second == kNever ? kLongest - job.done : job.ran_by(found->second);
    job.spec.limit = job.done + job.expected;
  }
  return facts;
}

}  // namespace

WhatIf::WhatIf(std::vector<Fact> state, Instant now, const ClusterOptions& options, const Chain& chain,
               const LateEnds& late)
    : WhatIf(std::make_shared<const std::vector<Fact>>(as_they_end(std::move(state), late)), now, options, chain) {}

Start WhatIf::start_of(JobId job, const JobSpec& asked) const {
  Cluster cluster(options_);
  for (const Fact& fact : *facts_) {
    const auto* kept = std::get_if<JobKept>(&fact.what);
    if (kept == nullptr || kept->job != job) {
      cluster.fold(fact);
      continue;
    }
    JobKept changed = *kept;
    changed.row.spec = asked;
    changed.row.expected = std::min(changed.row.expected, asked.limit);
    changed.row.promise = kNever;  // which was made to what it asks for now
    changed.promised = {};
    cluster.fold(Fact{fact.at, fact.sequence, std::move(changed)});
  }
  return decided(cluster, chain_, now_, job);
}

std::vector<std::pair<JobId, Instant>> WhatIf::starts() const {
  Cluster cluster(options_);
  for (const Fact& fact : *facts_) cluster.fold(fact);
  cluster.open_cycle(std::max(now_, cluster.now()));
  Plan plan;
  plan.open(cluster);
  chain_.decide(cluster, plan);
  std::vector<std::pair<JobId, Instant>> starts;
  for (const Promise& promise : plan.promises()) starts.emplace_back(promise.job, promise.start);
  for (const Action& action : plan.actions()) {
    if (action.kind == ActionKind::start) starts.emplace_back(action.job, cluster.now());
  }
  return starts;
}

Start WhatIf::start_of_new(const JobSpec& spec) const {
  Cluster cluster(options_);
  for (const Fact& fact : *facts_) cluster.fold(fact);
  const JobId job = cluster.next_job();
  JobSpec asked = spec;
  asked.submit = std::max(now_, cluster.now());
  cluster.fold(Fact{asked.submit, cluster.sequence() + 1, Submitted{job, asked, asked.limit, kNoBars}});
  return decided(cluster, chain_, now_, job);
}

}  // namespace rota::serve

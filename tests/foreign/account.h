// What must hold of a run beside a cluster that is not ours: every job that could be met is known by one id, and comes
// to the end that it really had, once; and when all is quiet, what the controller believes is what is so.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "foreign/other_cluster.h"
#include "foreign/world.h"
#include "model/cluster.h"

namespace rota::foreign {

// The first thing that is not as the controller believes; empty: all is.
std::string difference(const Listing& listing, const View& view);

class Account {
 public:
  explicit Account(Tally& tally) : tally_(tally) {}

  void endured(const Fact& fact);                  // it is durable
  void look_at_ends(const OtherCluster& cluster);  // once all is over
  const std::optional<std::string>& breach() const { return breach_; }

 private:
  void ends(JobId job, Outcome how);
  void look_at_end(const JobRow& row);
  bool surveyed_between(Instant from, Instant to) const;
  void expect(bool holds, const std::string& what) {
    if (!holds && !breach_) breach_ = what;
  }

  Tally& tally_;
  std::map<Number, int> ids_;  // that a job has got
  std::map<JobId, Number> numbers_;
  std::map<Number, Outcome> ends_;
  std::set<Instant> surveyed_;
  std::optional<std::string> breach_;
};

}  // namespace rota::foreign

// The shares of accounts and users of a cluster that another manager runs, and what of them is used, as a policy that
// goes by shares reckons with them.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "control/manager_jobs.h"
#include "forecast/past_jobs.h"
#include "model/fact.h"
#include "model/share_tree.h"
#include "policy/chain.h"

namespace rota::serve {

// What the manager said of use, and when.
struct TheirUse {
  std::vector<ManagerUse> all = {};
  Instant at = kEpoch;
};

struct TheirShares {
  std::shared_ptr<const ShareTree> tree = {};  // nullptr: the cluster has none, or the policy does not go by them
  std::vector<Fact> facts = {};                // the snapshot, in which use is that of the holders of shares
};

struct SharesAsked {
  const Machine& machine;
  const Chain& chain;
  const NamesByNumber& users;  // names by number
  const forecast::PastJobs& past;
  const TheirUse& use;
};

// For jobs of the snapshot and those that may come as they came before. O(all jobs + users of accounts)
TheirShares shares_of(std::vector<Fact> facts, const SharesAsked& asked);

}  // namespace rota::serve

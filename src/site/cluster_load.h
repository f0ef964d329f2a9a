// What a partition of a cluster file says of power=load-factor.
#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "model/load_rule.h"
#include "site/cluster_build.h"

namespace rota::site {

// nullptr: it says nothing. Fails with file and line where the thresholds contradict one another, or where the load is
// no formula that rises with the work and falls with the nodes.
Result<std::shared_ptr<const LoadRule>> load_rule_of(const ClusterDraft& draft, const PartitionEntry& entry,
                                                     std::size_t nodes);

}  // namespace rota::site

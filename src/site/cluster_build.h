// From the tables of a cluster file to a machine whose parts agree.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/machine.h"
#include "site/cluster_description.h"
#include "site/cluster_keys.h"

namespace rota::site {

// The tables of one file, each value in its range.
struct ClusterDraft {
  std::string shown;  // the file, for messages
  TopEntry top;
  std::vector<NodesEntry> nodes;
  std::vector<PartitionEntry> partitions;
  std::vector<SiteEntry> sites;
  std::vector<ReservationEntry> reservations;
  std::vector<QosEntry> qos;
  std::vector<AccountEntry> accounts;
  std::vector<LimitEntry> limits;
};

// Fails with "FILE:LINE: ..." on the first two parts that contradict each other.
Result<ClusterDescription> build_machine(const ClusterDraft& draft, std::size_t most_nodes);

}  // namespace rota::site

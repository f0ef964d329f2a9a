// The sites of a cluster file: whether its tables agree about them, and a machine for each.
#pragma once

#include <string_view>
#include <vector>

#include "site/cluster_build.h"

namespace rota::site {

// "matlab:4,fluent:12"; fails with a sentence without file and line.
Result<std::vector<Licence>> parse_licences(std::string_view text);

// Fails with "FILE:LINE: ..." where sites, nodes and the top contradict each other; also where nodes name a site and
// there are none.
Result<void> check_sites(const ClusterDraft& draft);

// Gives the whole machine a machine for each site. `table_of` is the [[nodes]] table of each of its nodes. Partitions
// and licences have the same ids everywhere; where a site has none of them, they are without nodes, or 0. A site
// without the default partition has its first one as the default.
Result<void> split_into_sites(const ClusterDraft& draft, const std::vector<std::size_t>& table_of, Machine& whole);

}  // namespace rota::site

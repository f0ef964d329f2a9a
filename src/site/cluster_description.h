// All that a cluster file describes, of a document that has been parsed: also what is to be kept free by date.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/machine.h"
#include "site/toml_document.h"

namespace rota::site {

inline constexpr std::size_t kMostNodes = 1'000'000;

struct ClusterDescription {
  Machine machine;
  std::vector<Reservation> dated;  // the [[reservations]] whose times are dates, for a service: these are Unix times
};

// As parse_cluster (site/cluster_file.h).
Result<ClusterDescription> describe_cluster(const TomlValue& document, const std::string& shown,
                                            std::size_t most_nodes = kMostNodes);

}  // namespace rota::site

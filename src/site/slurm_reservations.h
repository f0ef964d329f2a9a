// Reservations of a Slurm cluster, past ones too, as `sacctmgr -P show reservation` prints them in UTC.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "site/slurm_cluster.h"
#include "site/slurm_nodes.h"

namespace rota::site {

inline constexpr const char* kReservationFormat = "Cluster,Name,Start,End,NodeNames,Flags";

struct SlurmReservation {
  std::string name;
  std::vector<std::string> nodes;
  std::int64_t from = 0;   // Unix time in seconds,
  std::int64_t until = 0;  // and later than that
};

// Those of the cluster that are of nodes; the others are among the remarks. An empty text has none.
Result<std::vector<SlurmReservation>> reservations_of_slurm(const SlurmText::File& file, std::string_view cluster,
                                                            SlurmRemarks& remarks);

}  // namespace rota::site

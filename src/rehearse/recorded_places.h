// On which nodes of a cluster the jobs of a log really ran.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "log/workload.h"
#include "model/machine.h"
#include "model/node_space.h"

namespace rota {

class RecordedPlaces {
 public:
  // Both must outlive it.
  RecordedPlaces(const log::Workload& workload, const Machine& machine);

  // The nodes of the job in this place of the workload, each once. Empty: the log does not tell its nodes, or the
  // cluster has one of them no more. How many processors it had on each no log tells: as evenly as the nodes have them,
  // one at least. O(nodes of the job)
  std::vector<Share> of(std::size_t job) const;

 private:
  const log::Workload& workload_;
  const Machine& machine_;
  std::unordered_map<std::string_view, std::uint32_t> nodes_;  // by name
};

}  // namespace rota

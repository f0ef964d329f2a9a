// What is free on each node, and where a job would go: on clusters that are described node by node. Nodes are filled in
// the order of the cluster file. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/job.h"
#include "model/machine.h"

namespace rota {

struct Share {
  NodeId node;
  std::uint32_t processors = 0;
};

// Where a job runs. Empty where processors are only counted.
struct Placement {
  std::vector<Share> shares;  // by node
  std::int64_t memory = 0;    // bytes, on each of them
};

class NodeSpace {
 public:
  explicit NodeSpace(const Machine* machine);  // all free; nullptr or a machine that is counted: no nodes

  bool counted() const { return free_.empty(); }

  // The first nodes of its partition that have room for the job: `nodes` of them with equal shares, or as many as it
  // takes if it does not say. Nothing if it does not fit. O(nodes of the partition).
  std::optional<Placement> find(const JobSpec& spec) const;

  bool fits(const Placement& placement) const;
  void take(const Placement& placement);
  void give(const Placement& placement);

  // Node by node the lesser of both.
  void shrink_to(const NodeSpace& other);

 private:
  struct Free {
    std::uint32_t processors = 0;
    std::int64_t memory = 0;
  };
  bool has_room(NodeId node, std::uint32_t processors, std::int64_t memory) const {
    return free_[node.value].processors >= processors && free_[node.value].memory >= memory;
  }
  std::optional<Placement> spread(const JobSpec& spec, const std::vector<NodeId>& nodes) const;
  std::optional<Placement> equal_shares(const JobSpec& spec, const std::vector<NodeId>& nodes) const;

  const Machine* machine_;
  std::vector<Free> free_;   // by node
  std::vector<NodeId> all_;  // for jobs without a partition
};

// Why a job can never run on the machine, as half a sentence ("asks for 96 nodes; partition batch allows 64"); nothing
// if it can. Counted machines too.
std::optional<std::string> never_fits(const Machine& machine, const JobSpec& spec);

}  // namespace rota

// Whether the nodes that are on could take each job that waits, and the smallest that each partition allows, if they
// were empty: then every job starts some day, whatever other nodes sleep. Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "model/job.h"
#include "model/machine.h"
#include "model/spread.h"

namespace rota {

class CapacityOn {
 public:
  // All off; each partition needs the nodes of its smallest allowed job.
  explicit CapacityOn(const Machine& machine);  // O(nodes)

  // A job that waits, and that the machine could take if all of it were on. O(different demands)
  void need(const JobSpec& spec);

  void change_on(NodeId node, std::int64_t sign);  // 1: it is on or will be; -1: it will be off

  // Whether some demand is not met and this node, which is off, helps; or: is met and would not be without this node.
  bool lacks(NodeId node) const;
  bool needs(NodeId node) const;

 private:
  // Nodes that differ only by name.
  struct Kind {
    std::int64_t processors;
    PerNode per_node;
    AcceleratorTypeId accelerator_type;
    std::uint64_t features;
    const std::vector<PartitionId>* partitions;
  };
  struct Asked {
    PartitionId partition;  // invalid: any node will do
    std::int64_t share;     // processors on each node; 1 where any spread will do
    PerNode per_node = {};  // memory rounded up to what some kind has
    AcceleratorTypeId accelerator_type = {};
    SharedNodeWish wish = {};

    bool operator==(const Asked& o) const {
      return partition == o.partition && share == o.share && per_node == o.per_node &&
             accelerator_type == o.accelerator_type && same_wish(wish, o.wish);
    }
  };
  // What jobs of one demand can use, and what they need: of those that ask alike on each node, the largest.
  struct Demand {
    Asked asked;
    Given need = {};
    Given on = {};   // on suitable nodes that are on
    Given all = {};  // on suitable nodes
  };

  std::uint32_t kind_of(const Node& node);
  Demand& demand(Asked asked);
  Given gives(NodeId node, const Asked& asked) const;
  static Given gives(const Kind& kind, const Asked& asked);  // a node of the kind, if it may use that one
  static bool helps(const Given& node, const Given& of, const Given& need);

  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> kind_;  // by node
  std::vector<std::int64_t> nodes_;  // by kind
  std::vector<std::int64_t> on_;     // by kind
  std::vector<bool> is_on_;          // by node
  std::vector<Demand> demands_;
};

}  // namespace rota

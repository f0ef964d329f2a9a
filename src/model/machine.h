// The cluster as it is described before anything happens on it: nodes and partitions with their limits. Plain data; who
// reads it from a file sees to it that its parts agree (trace/cluster_file.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/id.h"
#include "base/time.h"

namespace rota {

// One computer.
struct Node {
  std::string name;                     // unique
  std::uint32_t processors = 1;         // >= 1
  std::int64_t memory = 0;              // bytes; 0: not said, and then no job asks for too much
  std::vector<PartitionId> partitions;  // that it belongs to, ascending; empty where the machine has none
  RackId rack = RackId{0};              // where it stands
  std::uint32_t accelerators = 0;
  std::string accelerator_type = {};      // of each of them; empty where there are none
  std::int32_t accelerator_speed = 1000;  // of each of them: per mille of that for which accelerator times are told
  std::int32_t cpu_factor = 1000;         // per mille: how fast it runs jobs beside a node for which run times are told
};

// Nodes that share limits. A job that asks for more than a limit is rejected when it is submitted.
struct Partition {
  std::string name;                  // unique
  std::vector<NodeId> nodes;         // ascending; empty where processors are counted: then it has all of them
  std::int64_t processors = 0;       // of its nodes together
  Duration max_time = kLongest;      // the longest time limit of a job
  Duration default_time = kLongest;  // of a job that asks for none; at most max_time
  std::uint32_t min_nodes = 1;       // the fewest nodes of a job
  std::uint32_t max_nodes = 0;       // the most nodes of a job; 0: no limit
  std::uint32_t max_processors = 0;  // the most processors of a job; 0: no limit
  std::int32_t priority = 0;         // jobs of the partition with the higher one go first
};

// Licences of a program, which all nodes share: a job holds as many as it asks for while it runs.
struct Licence {
  std::string name;        // unique
  std::int64_t count = 0;  // of jobs at one time
};

struct Machine {
  std::string name;
  std::int64_t processors = 0;        // in all
  std::vector<Node> nodes;            // empty: processors are interchangeable and only counted
  std::vector<Partition> partitions;  // empty: every job may use the whole machine
  PartitionId default_partition;      // of a job that names none; invalid where there are no partitions
  std::vector<Licence> licences = {};
  std::vector<std::string> racks;  // names, by rack id; one of them nameless where nodes say nothing of racks

  bool has_accelerators() const {
    return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.accelerators > 0; });
  }

  // So many interchangeable processors, and no limits.
  static Machine counted(std::int64_t processors) {
    return {.name = {},
            .processors = processors,
            .nodes = {},
            .partitions = {},
            .default_partition = {},
            .licences = {},
            .racks = {}};
  }
};

}  // namespace rota

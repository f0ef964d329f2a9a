// Cluster files: TOML that describes a machine, its nodes and partitions, and what is reserved on it. The page
// docs/cluster-file.md is made from the same table of keys as the reader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/machine.h"
#include "site/cluster_description.h"

namespace rota::site {

// Reads the whole file or fails with a sentence "FILE:LINE: ..." about the first thing that is wrong with it: not TOML,
// an unknown key (names the nearest one), a value of another type or out of its range, parts that do not agree.
Result<Machine> read_cluster_file(const std::string& path);

// Reads a text in the same way; `shown` stands for the file in messages. More than `most_nodes` nodes fail.
Result<Machine> parse_cluster(std::string_view text, const std::string& shown, std::size_t most_nodes = kMostNodes);

// One row of the table of keys, for people.
struct ClusterKey {
  std::string table;  // "" (top level), "nodes", "partitions", "sites", "reservations"
  std::string name;
  std::string takes;     // type, unit and range: "a time from 1s, such as \"2d\""
  std::string fallback;  // what holds where it is left out; empty: must be there
  std::string meaning;
};

std::vector<ClusterKey> cluster_keys();

}  // namespace rota::site

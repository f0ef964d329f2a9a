// Another cluster file for a state that was made under the one before: what of it can be taken, and by which facts.
// Nodes are known by name: they come, change and go, and keep their ids, whatever their places in the file. Facts name
// partitions and licences by their places there, so that none may stand in another's place; and what jobs hold has to
// be there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/cluster.h"

namespace rota::serve {

struct ClusterChange {
  std::string refused;  // half a sentence, with what to do instead; empty: it can be taken
  std::string taken;    // what is new, as half a sentence; empty: nothing that matters to the state
  // All nodes as they stand, for a state that is folded anew under the file; nothing: it stands as the file has it.
  std::optional<MachineKept> stand = {};
  std::vector<Described> nodes = {};  // what becomes of nodes then
  std::vector<NodeId> back = {};      // that had gone before
  bool less = false;                  // a node goes, or has less of something
};

inline constexpr const char* kOtherCluster = " describes another cluster than before: ";
// Behind what contradicts the state under another file: a limit has become tighter than what some job was taken with.
inline constexpr const char* kTooTight =
    " The cluster is described otherwise than before: give back what that job needs, let it end, and change the file "
    "then. Nothing was changed.";

// From what stands to what the file says; of a cluster that others use nothing about its nodes. O(nodes log nodes)
ClusterChange cluster_change(const View& state, const Machine& file);

// A snapshot of that state for one that is folded anew under the file.
std::vector<Fact> carried_over(std::vector<Fact> snapshot, const ClusterChange& change);

// What the state of that snapshot is once the change is made: its facts, to be folded under the file, and its machine.
// Fails with sentences where something in it contradicts the file. `options`: with the file's machine.
struct StateUnderFile {
  std::vector<Fact> facts;
  std::shared_ptr<const Machine> machine;
};
Result<StateUnderFile> under_file(const ClusterOptions& options, std::vector<Fact> snapshot,
                                  const ClusterChange& change);

// The machine as it stands, with the commands that the file has for its nodes.
std::shared_ptr<const Machine> with_commands(const Machine& standing, const Machine& file);

// The ids that nodes have in the state, by those that they have by their places in the file.
std::vector<NodeId> ids_of(const std::vector<NodeId>& in_file, const Machine& file, const Machine& standing);

}  // namespace rota::serve

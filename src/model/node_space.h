// What is free on each node, and where a job would go: on clusters that are described node by node. An index: nodes of
// one shape are kept by how much of them is free, so that finding a place costs O(nodes that the job gets), and a place
// is taken and given back at the same cost. Nodes that can never suit a job, by their partitions, accelerators or
// features, are passed over together; only those used in part that lack memory or accelerators just now are looked at
// in vain. Not thread-safe.
//
// A node that is not available (asleep, booting, down, draining) is never found; what is free on it is withheld.
// Neither is one that is overdrawn: others than Rota have put more on it than it has. What is free there is below zero
// then, of processors or beside them, until as much has been given back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/id_set.h"
#include "model/cpu_factor.h"
#include "model/job.h"
#include "model/machine.h"
#include "model/spread.h"

namespace rota {

struct Share {
  NodeId node;
  std::uint32_t processors = 0;
};

// Where a job runs. Empty where processors are only counted.
struct Placement {
  std::vector<Share> shares;  // each of another node, in no order that means anything
  PerNode per_node = {};      // held on each of them
  LicenceId licence = {};     // held, wherever it runs; invalid: none
  std::uint32_t licences = 0;
  MoreLicences more_licences = {};  // of further kinds
};

// Which of the idle nodes a job gets first.
enum class IdleOrder : std::uint8_t {
  file,          // the first in the cluster file
  latest_first,  // the one that fell idle last: those that have been idle for long stay so
};

// Which of the nodes that have room a job gets first.
enum class NodeOrder : std::uint8_t {
  fullest,       // on which the least is left over, so that whole nodes stay free
  least_loaded,  // of which the least share is in use, so that all are used alike
};

// What it takes to know whether a job finds room.
enum class Needs : std::uint8_t {
  processors,   // any that are free
  whole_nodes,  // free nodes, all alike: still a matter of counting as long as no node is used in part
  places,       // room on particular nodes
};

class NodeSpace {
 public:
  // All free and available; nullptr or a machine that is counted: no nodes.
  explicit NodeSpace(const Machine* machine, IdleOrder order = IdleOrder::file, NodeOrder nodes = NodeOrder::fullest);

  bool counted() const { return nodes_.empty(); }
  std::size_t size() const { return nodes_.size(); }

  Needs needs_of(const JobSpec& spec) const;
  // Processors of each node; 0: nodes differ.
  std::uint32_t uniform() const { return uniform_; }

  // Whether some nodes run jobs faster than others; and how fast, per mille: of several nodes the slowest decides.
  bool factors_differ() const { return factors_.size() > 1; }
  const std::vector<std::int32_t>& cpu_factors() const { return factors_; }  // that there are, the highest first
  std::int32_t cpu_factor(NodeId node) const { return kinds_[nodes_[node.value].kind].cpu_factor; }
  std::int32_t cpu_factor(const Placement& placement) const;
  // The first in file order of the fastest nodes that are available and have a free processor; invalid: none has.
  NodeId fastest_with_room() const;

  // Puts into `where` the room for a job: `nodes` nodes with equal shares, or as many as it takes if it does not say.
  // Whole idle nodes for what fills them, the rest as NodeOrder says. Where CPU factors differ, on nodes of which the
  // slowest is as fast as it can be. False if the job does not fit, on nodes of at least so high a factor.
  bool find(const JobSpec& spec, Placement& where, std::int32_t least_factor = 0) const;

  bool fits(const Placement& placement) const;
  void occupy(const Placement& placement);        // where it fits (CHECK)
  void take_unasked(const Placement& placement);  // whether or not it fits: it has been taken already, by others
  void give(const Placement& placement, Instant now);

  void set_available(NodeId node, bool available);
  // Makes an idle node available that was not: it has been idle from now on only.
  void wake(NodeId node, Instant now);
  // For a snapshot: where the node stands in the order in which nodes fell idle, and how it is put back there.
  std::uint64_t fell_idle(NodeId node) const { return nodes_[node.value].fell_idle; }
  void put_back(NodeId node, std::uint64_t fell_idle, Instant idle_since);
  bool available(NodeId node) const { return nodes_[node.value].available; }

  std::int64_t free_on(NodeId node) const { return nodes_[node.value].free; }            // below zero: overdrawn
  const PerNode& per_node_on(NodeId node) const { return nodes_[node.value].per_node; }  // free beside processors
  // Whether a job may run there at all: in its partition, with accelerators of the type that it asks for, and as it
  // wishes its nodes.
  bool admits(NodeId node, const JobSpec& spec) const {
    return in_partition(node, spec.partition) && (!spec.accelerator_type.valid() || has_type(node, spec)) &&
           (!spec.node_wish || spec.node_wish->admits(node, machine_->nodes[node.value].features));
  }

  const std::vector<std::int64_t>& licences() const { return licences_; }  // free, by licence
  std::int64_t licences_free(LicenceId licence) const { return licences_[licence.value]; }
  // Whether all that a job asks for are free.
  template <class Holder>
  bool has_licences(const Holder& asked) const {
    return licences_suffice(licences_, asked);
  }

  // Idle: no job runs there. Whether the node is available is another question.
  bool idle(NodeId node) const { return nodes_[node.value].free == kinds_[nodes_[node.value].kind].size(); }
  Instant idle_since(NodeId node) const { return nodes_[node.value].idle_since; }  // of an idle node
  // Which of the nodes of one shape a job gets first once both are idle: as IdleOrder says; what is busy now falls idle
  // later.
  bool is_taken_before(NodeId a, NodeId b) const {
    const NodeState& first = nodes_[a.value];
    const NodeState& second = nodes_[b.value];
    if (order_ == IdleOrder::file) return a < b;
    if (idle(a) != idle(b)) return idle(b);
    return idle(a) ? first.fell_idle > second.fell_idle : a < b;
  }
  // Nodes of one shape stand for one another: which shape, in order of the first node of each, and its processors.
  std::uint32_t shape_of(NodeId node) const { return nodes_[node.value].kind; }
  std::uint32_t processors_of(NodeId node) const { return kinds_[nodes_[node.value].kind].processors; }
  bool least_loaded_first() const { return node_order_ == NodeOrder::least_loaded; }
  // Whether a smaller share of the one node is in use than of the other, where so much is free on them. Ties by number.
  bool is_lighter(NodeId a, std::int64_t free_on_a, NodeId b, std::int64_t free_on_b) const {
    const std::int64_t first = free_on_a * processors_of(b);
    const std::int64_t second = free_on_b * processors_of(a);
    return first != second ? first > second : a < b;
  }
  std::size_t busy_count() const { return busy_; }
  std::size_t idle_count() const { return size() - busy_; }
  // Shares of nodes that are not wholly the job's; only those taken and given back here, not those that were copied.
  std::int64_t parts_held() const { return parts_held_; }

  std::int64_t free() const { return free_; }  // processors on nodes that can be found
  // What is free on the others: less what is missing on overdrawn ones, and so maybe below zero.
  std::int64_t withheld() const { return withheld_; }
  std::size_t overdrawn_count() const { return overdrawn_; }
  bool overdrawn(NodeId node) const { return nodes_[node.value].overdrawn(); }

  // The nodes that are idle and available, in file order, until visit(NodeId) returns false.
  template <class Visit>
  void for_each_idle(const Visit& visit) const {
    for (std::uint32_t i = idle_.first(); i != IdSet::kNone; i = idle_.next(i + 1)) {
      if (!visit(NodeId{i})) return;
    }
  }

  // The same nodes, those first that have been idle for the longest; only under latest_first. Nodes that fell idle at
  // one instant in any order. visit may make the node that it is given unavailable.
  template <class Visit>
  void for_each_longest_idle(const Visit& visit) const;

  // Becomes what `other`, of the same machine, is. O(what changed in either since the last time), if it has always
  // followed the same one.
  void follow(const NodeSpace& other);

  // Becomes `fresh`, in which nodes are described anew; a space that follows this one copies the whole.
  void describe_anew(NodeSpace fresh);
  // So often have they been.
  std::uint32_t descriptions() const { return descriptions_; }

  // For a caller that keeps something in step: visit(NodeId) for every node that has changed since `seen`, some more
  // than once, and `seen` moves on. False, with no visits, if that is not known any more. Begin with a `seen` of
  // kNeverSeen.
  static constexpr std::uint64_t kNeverSeen = UINT64_MAX;
  template <class Visit>
  bool changes_since(std::uint64_t& seen, const Visit& visit) const {
    const std::uint64_t last = forgotten_ + changed_.size();
    const std::uint64_t from = std::exchange(seen, last);
    if (from < forgotten_ || from > last) return false;
    for (std::size_t i = from - forgotten_; i < changed_.size(); ++i) visit(NodeId{changed_[i]});
    return true;
  }

  // What is free there, as if; for a space that follows another. Less than or as much as it has.
  void set_free(NodeId node, std::int64_t processors, const PerNode& per_node);
  void set_licences_free(LicenceId licence, std::int64_t count) { licences_[licence.value] = count; }

 private:
  static constexpr std::uint32_t kNone = IdSet::kNone;
  static constexpr std::uint32_t kLevels = 64;

  struct NodeState {
    std::int32_t free = 0;
    std::uint32_t kind = 0;       // index into kinds_
    std::uint32_t place = 0;      // index into the kind's members
    std::uint32_t newer = kNone;  // neighbours among the idle nodes of its kind
    std::uint32_t older = kNone;  // under latest_first
    bool available = true;
    bool found = false;            // for jobs to be placed on: available, and not overdrawn
    std::uint8_t group = 0;        // index into the kind's groups
    PerNode per_node;              // free beside processors
    std::uint64_t partitions = 0;  // bit p: is in partition p, for the first 64
    std::uint64_t fell_idle = 0;   // greater: later
    Instant idle_since = kEpoch;

    // Asked at every change: one look at the sign of all three.
    bool overdrawn() const { return (std::int64_t{free} | per_node.memory | per_node.accelerators) < 0; }
  };

  // Nodes of one shape that are in the same partitions and have the same accelerators and features: all suit a job once
  // they are idle, or none, but for jobs that name nodes. The last one of many has all the others.
  struct Group {
    IdSet members{0};              // as indexes of the kind's members
    std::uint32_t first = 0;       // the node that stands for all
    bool mixed = false;            // it stands for no other
    std::uint32_t newest = kNone;  // of the idle nodes, under latest_first, as is:
    std::uint32_t oldest = kNone;
  };
  static constexpr std::size_t kMostGroups = 32;
  using Groups = std::uint32_t;  // bit g: the kind's group g

  // Nodes of one shape.
  struct Kind {
    std::uint32_t processors = 0;  // of each
    std::int64_t memory = 0;
    std::int32_t cpu_factor = kStandardFactor;
    std::int64_t unused = 0;             // processors, on those that are available
    std::vector<std::uint32_t> members;  // ascending
    IdSet idle{0};                       // as indexes of members
    std::vector<IdSet> part;             // [level - 1]: available and used in part, by how much is free
    std::uint64_t levels = 0;            // bit l - 1: part[l - 1] is not empty
    std::vector<Group> groups;

    std::int32_t size() const { return static_cast<std::int32_t>(processors); }
    std::uint32_t level(std::uint32_t free) const {
      if (processors <= kLevels) return free;
      return static_cast<std::uint32_t>((std::uint64_t{free} * kLevels + processors - 1) / processors);
    }
    // The least that may be free on the nodes in part[index].
    std::uint32_t least_free(std::uint32_t index) const {
      if (processors <= kLevels) return index + 1;
      return static_cast<std::uint32_t>(std::uint64_t{index} * processors / kLevels) + 1;
    }
  };

  // A job's demand on nodes.
  struct Demand : Spread {
    const JobSpec& spec;
    bool selective;  // not every node will do, even if it is idle
    std::int32_t least_factor = 0;
  };
  Demand demand_of(const JobSpec& spec) const;
  bool suits(std::uint32_t node, const Demand& d) const {
    return !d.selective || (nodes_[node].per_node.covers(d.spec.per_node()) && admits(NodeId{node}, d.spec) &&
                            kinds_[nodes_[node].kind].cpu_factor >= d.least_factor);
  }

  bool in_partition(NodeId node, PartitionId partition) const;  // true where none is named
  bool has_type(NodeId node, const JobSpec& spec) const;
  bool admits_like(NodeId node, const JobSpec& spec) const;  // it or others of its group

  bool find_at_once(const JobSpec& spec, const Demand& d, Placement& where) const;
  bool named_have_room(const Demand& d) const;
  bool spread(std::uint32_t processors, const Demand& d, std::vector<Share>& out) const;
  std::uint32_t take_whole_nodes(std::uint32_t& missing, const Demand& d, std::vector<Share>& out) const;
  std::uint32_t best_fit(std::uint32_t processors, const Demand& d) const;
  std::uint32_t lightest_with_room(std::uint32_t processors, const Demand& d) const;
  struct Wanted {
    std::uint32_t processors;
    std::uint32_t best;  // so far
    Groups groups;
  };
  std::uint32_t first_better(const Kind& kind, std::uint32_t level, const Wanted& wanted, const Demand& d) const;
  bool gather_scraps(std::uint32_t missing, const Demand& d, std::vector<Share>& out) const;
  void equal_shares(std::uint32_t count, std::uint32_t share, const Demand& d, std::vector<Share>& out) const;
  template <class Visit>
  void for_each_part(std::uint32_t share, const Demand& d, const Visit& visit) const;
  template <class Visit>
  void for_each_idle_for(std::uint32_t share, const Demand& d, const Visit& visit) const;

  // The groups of a kind whose nodes may suit; none where its nodes are too slow.
  Groups groups_for(const Kind& kind, const Demand& d) const;
  // The next of a set of a kind's members that is of one of these groups.
  static std::uint32_t next_of(const Kind& kind, const IdSet& set, Groups groups, std::uint32_t from);
  // The idle nodes of some groups of a kind, in the order in which they are taken.
  class IdleWalk {
   public:
    IdleWalk(const NodeSpace& space, const Kind& kind, Groups groups);
    std::uint32_t next();  // kNone: no more

   private:
    const NodeSpace& space_;
    const Kind& kind_;
    Groups groups_;
    std::uint32_t place_ = 0;                          // where to look on, in file order
    std::array<std::uint32_t, kMostGroups> newest_{};  // of each group, of those not taken yet, under latest_first
  };

  void add_node(const Node& node);
  std::uint32_t kind_of(const Node& node, std::int64_t memory);
  std::uint8_t group_of(const Kind& kind, const Node& node) const;
  void enter(std::uint32_t node);  // into the sets that its state says
  void leave(std::uint32_t node);
  void link_idle(std::uint32_t node);
  void unlink_idle(std::uint32_t node);
  void change(std::uint32_t node, std::int64_t processors, const PerNode& held, std::int32_t sign);
  void hold(const Share& share, const PerNode& per_node);
  void copy_node(std::uint32_t node, const NodeSpace& other);
  void note(std::uint32_t node);

  const Machine* machine_;
  IdleOrder order_;
  NodeOrder node_order_;
  bool memory_matters_ = false;
  std::vector<NodeState> nodes_;
  std::vector<Kind> kinds_;
  std::vector<std::int32_t> factors_;   // CPU factors that there are, the highest first
  std::uint32_t uniform_ = 0;           // processors of each node
  std::vector<std::int64_t> licences_;  // free
  IdSet idle_;
  std::size_t busy_ = 0;
  std::size_t overdrawn_ = 0;
  std::int64_t parts_held_ = 0;
  std::int64_t free_ = 0;
  std::int64_t withheld_ = 0;
  std::uint64_t idle_clock_ = 0;
  std::vector<std::uint32_t> scratch_;
  std::vector<std::uint32_t> changed_;   // nodes, since `forgotten_` changes
  std::uint64_t forgotten_ = 0;          // changes that are no longer in changed_
  const NodeSpace* followed_ = nullptr;  // the one that this follows
  std::uint64_t seen_ = kNeverSeen;      // of its changes
  std::uint64_t own_ = 0;                // changes of this when it followed last
  std::uint32_t descriptions_ = 0;
};

template <class Visit>
void NodeSpace::for_each_longest_idle(const Visit& visit) const {
  if (kinds_.size() == 1 && kinds_[0].groups.size() == 1) {  // nearly always
    for (std::uint32_t node = kinds_[0].groups[0].oldest; node != kNone;) {
      const std::uint32_t newer = nodes_[node].newer;
      if (!visit(NodeId{node})) return;
      node = newer;
    }
    return;
  }
  std::vector<std::uint32_t> next;
  for (const Kind& kind : kinds_) {
    for (const Group& group : kind.groups) next.push_back(group.oldest);
  }
  for (;;) {
    std::uint32_t* first = nullptr;
    for (std::uint32_t& node : next) {
      if (node == kNone) continue;
      if (first == nullptr || nodes_[node].fell_idle < nodes_[*first].fell_idle) first = &node;
    }
    if (first == nullptr) return;
    const std::uint32_t node = *first;
    *first = nodes_[node].newer;
    if (!visit(NodeId{node})) return;
  }
}

}  // namespace rota

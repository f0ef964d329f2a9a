// Which nodes a job may use, by their features and by name, and the reservation that it runs in. Few jobs say anything
// of that, and a copy of a job shares what it says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/result.h"

namespace rota {

struct JobSpec;
struct Machine;

inline constexpr std::size_t kMostFeatures = 64;  // of a cluster: those of a node are one mask

struct NodeWish {
  std::vector<std::uint64_t> features;  // bit f: feature f; a node has all of one of these. Empty: any node will do
  std::vector<NodeId> among;            // ascending: the job gets all of these and no others. Empty: any
  std::vector<NodeId> without;          // ascending: it gets none of these
  // In which alone it runs, until that is over or taken back: then the job waits like all others. Invalid: none.
  ReservationId reservation = {};

  bool operator==(const NodeWish&) const = default;
  bool empty() const { return features.empty() && among.empty() && without.empty() && !reservation.valid(); }
  bool has_lists() const { return !among.empty() || !without.empty(); }
  // Whether a node with these features will do, and whether the lists allow it.
  bool suits(std::uint64_t has) const {
    return features.empty() || std::ranges::any_of(features, [&](std::uint64_t all) { return (has & all) == all; });
  }
  bool allows(NodeId node) const {
    return (among.empty() || std::ranges::binary_search(among, node)) && !std::ranges::binary_search(without, node);
  }
  bool admits(NodeId node, std::uint64_t has) const { return suits(has) && allows(node); }
};

// As JobSpec has it; nullptr: any node will do.
using SharedNodeWish = std::shared_ptr<const NodeWish>;
inline bool same_wish(const SharedNodeWish& a, const SharedNodeWish& b) { return a == b || (a && b && *a == *b); }

// Why such a job cannot be, as half a sentence: the machine has not what it names, or it asks for another number of
// nodes than it names.
std::optional<std::string> senseless_wish(const JobSpec& spec, const Machine& machine);

// Reads Slurm's --constraint into NodeWish::features: "a", "a&b", "a|b", "(a|b)&c". Without parentheses from left to
// right, as there; a comma is an "&".
Result<std::vector<std::uint64_t>> parse_features(std::string_view text, const Machine& machine);
// Whether that can be, on some machine.
Result<void> check_features(std::string_view text);
// The same expression with other names.
std::string with_features_renamed(std::string_view text, const std::function<std::string(std::string_view)>& name);

// From a host list; ascending, each node once.
Result<std::vector<NodeId>> parse_node_names(std::string_view list, const Machine& machine);

// What a user writes; empty: nothing.
struct NodeWishTexts {
  std::string features = {};  // for parse_features
  std::string among = {};     // host lists
  std::string without = {};
  std::string reservation = {};  // the name of one that the machine has

  auto operator<=>(const NodeWishTexts&) const = default;
  bool empty() const { return features.empty() && among.empty() && without.empty() && reservation.empty(); }
};
// nullptr where they say nothing. Fails with a sentence that names what there is.
Result<SharedNodeWish> node_wish_of(const NodeWishTexts& texts, const Machine& machine);
// The job is to be on as many nodes as it names; a sentence where it asks for fewer or more.
Result<void> set_node_wish(JobSpec& spec, SharedNodeWish wish, const Machine& machine);

// The job runs in this reservation alone; invalid: in none.
void run_within(JobSpec& spec, ReservationId reservation);

// "a", "(a&b)|c": what parse_features takes.
std::string features_text(const std::vector<std::uint64_t>& alternatives, const Machine& machine);
// A host list.
std::string names_text(const std::vector<NodeId>& nodes, const Machine& machine);
// "a node with a and b, or c other than n3", "nodes with a", "nodes n[1-2]".
std::string wish_text(const NodeWish& wish, const Machine& machine, bool one);

// The mask of features by name, "a,b"; names that the machine has not yet are added. Fails with a sentence where these
// are too many, or a name has in it what parse_features takes for something else.
Result<std::uint64_t> add_features(std::string_view names, std::vector<std::string>& known);

}  // namespace rota

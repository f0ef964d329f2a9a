// NodeSpace against a plain array, also where others have put more on a node than it has.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "model/node_space_test.h"
#include "model/spread.h"

namespace rota {
namespace {

using namespace test_nodes;  // NOLINT(google-build-using-namespace)

void expect_same(const NodeSpace& follower, const NodeSpace& space) {
  for (const std::uint32_t processors : {1U, 17U, 150U}) {
    RC_ASSERT(found(follower, asks(processors)) == found(space, asks(processors)));
    RC_ASSERT(found(follower, asks(processors, 2)) == found(space, asks(processors, 2)));
    const JobSpec with_one = with_accelerators(asks(processors), 1);
    RC_ASSERT(found(follower, with_one) == found(space, with_one));
  }
  RC_ASSERT(follower.busy_count() == space.busy_count());
  RC_ASSERT(follower.free() == space.free());
}

// What a plain array says, which keeps nothing but which job holds what: each question is reckoned from that.
class PlainNodes {
 public:
  explicit PlainNodes(const Machine& machine) : machine_(machine), available_(machine.nodes.size(), true) {}

  void occupy(const Placement& where) { held_.push_back(where); }
  Placement give_back() {
    const auto which = *rc::gen::inRange<std::size_t>(0, held_.size());
    const Placement where = held_[which];
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(which));
    return where;
  }
  bool holds_some() const { return !held_.empty(); }
  bool flip(std::size_t node) { return available_[node] = !available_[node]; }

  std::int64_t processors(std::size_t node) const {
    std::int64_t free = machine_.nodes[node].processors;
    each_on(node, [&](const Placement&, const Share& s) { free -= s.processors; });
    return free;
  }
  std::int64_t memory(std::size_t node) const {
    std::int64_t free = machine_.nodes[node].memory;
    if (free == 0) return PerNode::kUnlimited;
    each_on(node, [&](const Placement& where, const Share&) { free -= where.per_node.memory; });
    return free;
  }
  std::int64_t accelerators(std::size_t node) const {
    std::int64_t free = machine_.nodes[node].accelerators;
    each_on(node, [&](const Placement& where, const Share&) { free -= where.per_node.accelerators; });
    return free;
  }
  bool overdrawn(std::size_t node) const { return processors(node) < 0 || memory(node) < 0 || accelerators(node) < 0; }
  bool can_be_found(std::size_t node) const { return available_[node] && !overdrawn(node); }
  std::size_t size() const { return available_.size(); }

  bool has_room(const JobSpec& spec) const {
    Given given;
    const Spread asked(spec);
    for (std::size_t n = 0; n < size(); ++n) {
      if (spec.node_wish && !may_use(*spec.node_wish, n)) continue;
      if (can_be_found(n) && processors(n) > 0 && memory(n) >= spec.memory && accelerators(n) >= spec.accelerators)
        given.add(Given::by_node(processors(n), asked.share), 1);
    }
    return given.suffices(asked, spec.processors);
  }
  bool may_use(const NodeWish& wish, std::size_t node) const {
    const auto among = [&](const std::vector<NodeId>& nodes) {
      return std::ranges::count(nodes, NodeId{static_cast<std::uint32_t>(node)}) > 0;
    };
    bool suits = wish.features.empty();
    for (const std::uint64_t all : wish.features) suits = suits || (~machine_.nodes[node].features & all) == 0;
    return suits && (wish.among.empty() || among(wish.among)) && !among(wish.without);
  }
  void agree_with(const NodeSpace& space) const {
    std::int64_t free = 0;
    std::int64_t elsewhere = 0;
    std::size_t overdrawn_nodes = 0;
    std::size_t busy = 0;
    for (std::size_t n = 0; n < size(); ++n) {
      const NodeId id{static_cast<std::uint32_t>(n)};
      RC_ASSERT(space.free_on(id) == processors(n));
      RC_ASSERT(space.per_node_on(id).memory == memory(n));
      RC_ASSERT(space.per_node_on(id).accelerators == accelerators(n));
      (can_be_found(n) ? free : elsewhere) += processors(n);
      overdrawn_nodes += overdrawn(n) ? 1U : 0U;
      busy += processors(n) != machine_.nodes[n].processors ? 1U : 0U;
    }
    RC_ASSERT(space.free() == free);
    RC_ASSERT(space.withheld() == elsewhere);
    RC_ASSERT(space.overdrawn_count() == overdrawn_nodes);
    RC_ASSERT(space.busy_count() == busy);
  }

 private:
  template <class Visit>
  void each_on(std::size_t node, const Visit& visit) const {
    for (const Placement& where : held_) {
      for (const Share& s : where.shares) {
        if (s.node.value == node) visit(where, s);
      }
    }
  }

  const Machine& machine_;
  std::vector<bool> available_;
  std::vector<Placement> held_;
};

// A wish for some of the nodes, which have some of two features; as many as it names.
void wish_for_some(const Machine& machine, JobSpec& spec) {
  NodeWish wish;
  const auto choice = *rc::gen::inRange(0, 6);
  if (choice <= 1) wish.features = {*rc::gen::element<std::uint64_t>(1, 2, 3)};
  if (choice == 2) wish.features = {1, 2};
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    if (choice == 3 && *rc::gen::inRange(0, 4) == 0) wish.among.push_back(NodeId{n});
    if (choice >= 4 && *rc::gen::inRange(0, 3) == 0) wish.without.push_back(NodeId{n});
  }
  if (wish.empty() || wish.among.size() > spec.processors) return;
  if (!wish.among.empty()) spec.nodes = static_cast<std::uint32_t>(wish.among.size());
  spec.node_wish = std::make_shared<const NodeWish>(std::move(wish));
}

// What others put somewhere without asking whether there is room.
Placement put_anywhere(const Machine& machine) {
  Placement where;
  where.per_node = {*rc::gen::element<std::int64_t>(0, 3, 7), *rc::gen::element(0, 0, 1, 3)};
  for (std::uint32_t n = 0; n < machine.nodes.size(); ++n) {
    if (*rc::gen::inRange(0, 4) == 0) where.shares.push_back({NodeId{n}, *rc::gen::inRange(1U, 130U)});
  }
  return where;
}

// Takes, gives and availability at random, and now and then what others take unasked, so that nodes are overdrawn; a
// follower is the same at every look.
RC_GTEST_PROP(NodeSpace, agrees_with_an_array, ()) {
  const auto order = *rc::gen::element(IdleOrder::file, IdleOrder::latest_first);
  const auto nodes = *rc::gen::element(NodeOrder::fullest, NodeOrder::least_loaded);
  const auto shapes = *rc::gen::container<std::vector<std::pair<std::uint32_t, std::int64_t>>>(
      rc::gen::pair(rc::gen::inRange(1U, 100U), rc::gen::element<std::int64_t>(0, 4, 9)));
  Machine machine = machine_of(shapes);
  for (Node& node : machine.nodes) {
    node.accelerators = *rc::gen::inRange(0U, 4U);
    node.features = *rc::gen::inRange(0U, 4U);
  }
  const bool alone = *rc::gen::arbitrary<bool>();  // no others use the nodes
  NodeSpace space(&machine, order, nodes);
  NodeSpace follower(nullptr);
  PlainNodes plain(machine);
  const auto steps = *rc::gen::inRange(0, 60);
  for (int i = 0; i < steps; ++i) {
    const auto choice = *rc::gen::inRange(0, 6);
    if (choice == 0 && plain.size() > 0) {
      const auto node = *rc::gen::inRange<std::size_t>(0, plain.size());
      space.set_available(NodeId{static_cast<std::uint32_t>(node)}, plain.flip(node));
    } else if (choice <= 2 && plain.holds_some()) {
      space.give(plain.give_back(), at_seconds(i));
    } else if (choice == 3 && !alone) {
      const Placement where = put_anywhere(machine);
      space.take_unasked(where);
      plain.occupy(where);
    } else {
      JobSpec spec = with_accelerators(
          asks(*rc::gen::inRange(1U, 300U), *rc::gen::inRange(0U, 4U), *rc::gen::element<std::int64_t>(0, 0, 3)),
          *rc::gen::element<std::uint8_t>(0, 0, 1, 2));
      if (*rc::gen::arbitrary<bool>()) wish_for_some(machine, spec);
      Placement where;
      if (*rc::gen::arbitrary<bool>()) follower.follow(space);
      const bool fits = space.find(spec, where);
      RC_ASSERT(fits == plain.has_room(spec));
      if (!fits) continue;
      RC_ASSERT(space.fits(where));
      std::int64_t got = 0;
      for (const Share& s : where.shares) {
        got += s.processors;
        RC_ASSERT(plain.can_be_found(s.node.value));
        if (spec.node_wish) RC_ASSERT(plain.may_use(*spec.node_wish, s.node.value));
      }
      RC_ASSERT(got == spec.processors);
      space.occupy(where);
      plain.occupy(where);
      for (const Share& s : where.shares) RC_ASSERT(!plain.overdrawn(s.node.value));
    }
    plain.agree_with(space);
    if (i % 7 == 0) follower.occupy(Placement{});
    const bool looked = *rc::gen::arbitrary<bool>();
    if (!looked) continue;
    follower.follow(space);
    plain.agree_with(follower);
    expect_same(follower, space);
  }
}

}  // namespace
}  // namespace rota

#include "serve/accelerator_desk.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"

namespace rota::serve {
namespace {

constexpr int kSigns = 3;                  // that are missed until a container counts as lost
constexpr std::chrono::seconds kPast{20};  // in which containers of before a restart register again
constexpr std::chrono::seconds kStill{1};  // a timer that rings so late: it is the service that stood still

std::chrono::milliseconds lasts(const AcceleratorCard& card) {
  return std::chrono::milliseconds(card.period.count() * kSigns);
}

}  // namespace

void AcceleratorDesk::open() {
  binding_ = Restarted{Clock::now() + kPast};
  if (all_are_back()) bind_all();
  wait();
}

void AcceleratorDesk::nodes_changed() {
  std::erase_if(containers_, [&](const auto& one) { return desk_.machine()->nodes[one.first.value].has_gone(); });
  if (std::holds_alternative<NodeBinding>(binding_)) bind_all();
}

AcceleratorDesk::Taken AcceleratorDesk::take(NodeId node, AcceleratorCard card) {
  const auto before = replaced_.find(node);
  if (before != replaced_.end() && before->second == card.epoch) return Taken::replaced;
  auto& [known, seen] = containers_[node];
  seen = Clock::now();
  const std::string epoch = std::exchange(known, std::move(card)).epoch;
  if (epoch == known.epoch) return Taken::yes;
  if (!epoch.empty()) replaced_[node] = epoch;
  desk_.log().say(fmt::format("node {} has an accelerator container at {}, weight {}",
                              desk_.machine()->nodes[node.value].name, known.address, known.weight));
  came(node);
  wait();
  return Taken::yes;
}

bool AcceleratorDesk::leave(NodeId node, std::string_view epoch) {
  const auto found = containers_.find(node);
  if (found == containers_.end() || found->second.card.epoch != epoch) return false;
  desk_.log().say(fmt::format("the accelerator container of node {} leaves", desk_.machine()->nodes[node.value].name));
  containers_.erase(found);
  went(node);
  return true;
}

std::optional<NodeId> AcceleratorDesk::node_called(std::string_view name) const {
  const auto& nodes = desk_.machine()->nodes;
  const auto found = std::ranges::find_if(nodes, [&](const Node& n) { return n.name == name && !n.has_gone(); });
  if (found == nodes.end()) return std::nullopt;
  return NodeId{static_cast<std::uint32_t>(found - nodes.begin())};
}

NodeId AcceleratorDesk::host_of(NodeId node) const {
  if (containers_.contains(node)) return node;
  const NodeId host = desk_.view().bindings().bound_to(node);
  return host.valid() && containers_.contains(host) ? host : NodeId{};
}

// One that is described with accelerators, and whose container is away, waits for it.
bool AcceleratorDesk::is_to_be_bound(NodeId node) const {
  const Node& of = desk_.machine()->nodes[node.value];
  return of.accelerators == 0 && !of.has_gone() && !containers_.contains(node) &&
         desk_.view().power().health(node) != Health::down;
}

bool AcceleratorDesk::all_are_back() const {
  return std::ranges::all_of(desk_.view().bindings().all(),
                             [&](const Bound& bound) { return bound.job.valid() || containers_.contains(bound.to); });
}

void AcceleratorDesk::came(NodeId node) {
  if (auto* const binding = std::get_if<NodeBinding>(&binding_)) {
    const std::int64_t weight = containers_.at(node).card.weight;
    if (binding->present(node) && binding->weight_of(node) == weight) return;  // it was started again
    if (binding->present(node)) binding->leave(node);
    binding->join(node, desk_.machine()->nodes[node.value].rack, weight);
    tell();
  } else if (all_are_back()) {
    bind_all();
  }
}

void AcceleratorDesk::went(NodeId node) {
  auto* const binding = std::get_if<NodeBinding>(&binding_);
  if (binding == nullptr) return;
  binding->leave(node);
  if (is_to_be_bound(node)) binding->join(node, desk_.machine()->nodes[node.value].rack, 0);
  tell();
}

// From what is recorded: containers that had nodes keep them, then nodes without one join, and containers that are new
// come last, which moves as few as balance asks for.
void AcceleratorDesk::bind_all() {
  NodeBinding binding(NodeBinding::Stop::weighted);
  const auto& nodes = desk_.machine()->nodes;
  const std::vector<Bound> kept = desk_.view().bindings().all();
  std::set<NodeId> before;
  for (const Bound& bound : kept)
    if (!bound.job.valid()) before.insert(bound.to);
  const auto join = [&](bool known) {
    for (const auto& [node, container] : containers_)
      if (before.contains(node) == known) binding.join(node, nodes[node.value].rack, container.card.weight);
  };
  join(true);
  for (const Bound& bound : kept) {
    const bool stays = !bound.job.valid() && containers_.contains(bound.to) && is_to_be_bound(bound.node) &&
                       nodes[bound.node.value].rack == nodes[bound.to.value].rack;
    if (stays) binding.put_back(bound.node, bound.to);
  }
  for (std::uint32_t n = 0; n < nodes.size(); ++n)
    if (is_to_be_bound({n}) && !binding.present({n})) binding.join({n}, nodes[n].rack, 0);
  join(false);
  binding_ = std::move(binding);
  tell();
}

// Within another fact nothing is recorded.
void AcceleratorDesk::saw(const View& /*before*/, const FactRef& /*fact*/) {
  if (containers_.empty() && desk_.view().bindings().all().empty()) return;
  desk_.loop().later([this] { look_at_health(); });
}

void AcceleratorDesk::look_at_health() {
  auto* const binding = std::get_if<NodeBinding>(&binding_);
  if (binding == nullptr || desk_.stopped()) return;
  for (std::uint32_t n = 0; n < desk_.machine()->nodes.size(); ++n) {
    if (containers_.contains({n}) || binding->present({n}) == is_to_be_bound({n})) continue;
    if (binding->present({n})) {
      binding->leave({n});
    } else {
      binding->join({n}, desk_.machine()->nodes[n].rack, 0);
    }
  }
  tell();
}

// What is otherwise than the state has it becomes facts.
void AcceleratorDesk::tell() {
  const auto& binding = std::get<NodeBinding>(binding_);
  for (std::uint32_t n = 0; n < desk_.machine()->nodes.size(); ++n) {
    const NodeId node{n};
    const NodeId host = binding.present(node) && !binding.has_accelerator(node) ? binding.bound_to(node) : NodeId{};
    const NodeId before = desk_.view().bindings().bound_to(node);
    if (host.valid() && host != before) record(Bound{node, host, {}, 0});
    if (!host.valid() && before.valid()) record(Unbound{node, before, {}, 0});
    // The node of a container is not sent to sleep.
    const bool serves = containers_.contains(node);
    if (serves != desk_.view().power().serves(node)) record(Serving{node, serves});
  }
}

void AcceleratorDesk::record(const Observed& fact) {
  if (const auto taken = desk_.record(fact, desk_.now()); !taken) desk_.log().warn(taken.error().message);
}

void AcceleratorDesk::look() {
  if (desk_.stopped() || !desk_.health()) return;
  const Clock::time_point now = Clock::now();
  if (const auto late = now - due_; late > kStill)
    for (auto& [node, container] : containers_) container.seen += late;
  std::set<NodeId> lost;
  for (const auto& [node, container] : containers_)
    if (container.seen + lasts(container.card) <= now) lost.insert(node);
  for (const NodeId node : lost) {
    desk_.log().say(fmt::format(
        "the accelerator container of node {} has given no sign for {}: its nodes are bound anew",
        desk_.machine()->nodes[node.value].name, format_duration(Duration(lasts(containers_.at(node).card).count()))));
    containers_.erase(node);
    went(node);
  }
  const auto* restarted = std::get_if<Restarted>(&binding_);
  if (restarted != nullptr && now >= restarted->until) bind_all();
  wait();
}

void AcceleratorDesk::wait() {
  Clock::time_point first = Clock::time_point::max();
  if (const auto* restarted = std::get_if<Restarted>(&binding_)) first = restarted->until;
  for (const auto& [node, container] : containers_) first = std::min(first, container.seen + lasts(container.card));
  if (first == Clock::time_point::max()) return;
  due_ = first;
  timer_.expires_at(due_);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) look();
  });
}

}  // namespace rota::serve

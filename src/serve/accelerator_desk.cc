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
  std::erase_if(containers_, [&](const auto& one) { return desk_.machine()->nodes[one.first.node.value].has_gone(); });
  if (std::holds_alternative<NodeBinding>(binding_)) bind_all();
}

std::int64_t AcceleratorDesk::weight_of(NodeId node) const {
  std::int64_t together = 0;
  for (auto at = containers_.lower_bound({node, 0}); at != containers_.end() && at->first.node == node; ++at)
    together += at->second.card.weight;
  return together;
}

std::string AcceleratorDesk::shown(Place place) const {
  const std::string& name = desk_.machine()->nodes[place.node.value].name;
  return place.device == 0 ? name : fmt::format("{}, device {}", name, place.device);
}

AcceleratorDesk::Taken AcceleratorDesk::take(NodeId node, AcceleratorCard card) {
  const Place place{node, card.device};
  const auto before = replaced_.find(place);
  if (before != replaced_.end() && before->second == card.epoch) return Taken::replaced;
  auto& [known, seen] = containers_[place];
  seen = Clock::now();
  const std::string epoch = std::exchange(known, std::move(card)).epoch;
  if (epoch == known.epoch) return Taken::yes;
  if (!epoch.empty()) replaced_[place] = epoch;
  desk_.log().say(
      fmt::format("node {} has an accelerator container at {}, weight {}", shown(place), known.address, known.weight));
  came_or_went(node);
  wait();
  return Taken::yes;
}

bool AcceleratorDesk::leave(NodeId node, std::string_view epoch) {
  const auto found = std::ranges::find_if(
      containers_, [&](const auto& one) { return one.first.node == node && one.second.card.epoch == epoch; });
  if (found == containers_.end()) return false;
  desk_.log().say(fmt::format("the accelerator container of node {} leaves", shown(found->first)));
  containers_.erase(found);
  came_or_went(node);
  return true;
}

std::optional<NodeId> AcceleratorDesk::node_called(std::string_view name) const {
  const auto& nodes = desk_.machine()->nodes;
  const auto found = std::ranges::find_if(nodes, [&](const Node& n) { return n.name == name && !n.has_gone(); });
  if (found == nodes.end()) return std::nullopt;
  return NodeId{static_cast<std::uint32_t>(found - nodes.begin())};
}

NodeId AcceleratorDesk::host_of(NodeId node) const {
  if (has_container(node)) return node;
  const NodeId host = desk_.view().bindings().bound_to(node);
  return host.valid() && has_container(host) ? host : NodeId{};
}

// Node by node, each to the container of its host where (nodes + 1) / weight is least.
std::map<NodeId, AcceleratorDesk::Place> AcceleratorDesk::places() const {
  std::map<NodeId, Place> chosen;
  std::map<Place, std::int64_t> served;
  for (std::uint32_t n = 0; n < desk_.machine()->nodes.size(); ++n) {
    const NodeId host = host_of({n});
    if (!host.valid()) continue;
    const auto first = containers_.lower_bound({host, 0});
    auto best = first;
    for (auto at = first; at != containers_.end() && at->first.node == host; ++at)
      if ((served[at->first] + 1) * best->second.card.weight < (served[best->first] + 1) * at->second.card.weight)
        best = at;
    ++served[best->first];
    chosen.emplace(NodeId{n}, best->first);
  }
  return chosen;
}

std::optional<AcceleratorDesk::Place> AcceleratorDesk::place_of(JobId job, NodeId node, std::int64_t slot) const {
  const NodeId host = slots_.host_of(job, node, slot);
  const auto first = containers_.lower_bound({host, 0});
  const auto last = std::find_if(first, containers_.end(), [&](const auto& one) { return one.first.node != host; });
  if (!host.valid() || first == last) return std::nullopt;
  return std::next(first, slot % std::distance(first, last))->first;
}

// One that is described with accelerators, and whose container is away, waits for it.
bool AcceleratorDesk::is_to_be_bound(NodeId node) const {
  const Node& of = desk_.machine()->nodes[node.value];
  return of.accelerators == 0 && !of.has_gone() && !has_container(node) &&
         desk_.view().power().health(node) != Health::down;
}

bool AcceleratorDesk::all_are_back() const {
  return std::ranges::all_of(desk_.view().bindings().all(),
                             [&](const Bound& bound) { return has_container(bound.to); });
}

void AcceleratorDesk::came_or_went(NodeId node) {
  auto* const binding = std::get_if<NodeBinding>(&binding_);
  const std::int64_t weight = weight_of(node);
  if (binding == nullptr) {
    if (weight > 0 && all_are_back()) bind_all();
    return;
  }
  slots_.serves(node, weight > 0);
  const bool present = binding->present(node);
  if (present && weight > 0 && binding->weight_of(node) == weight) return;  // it was started again
  if (present) binding->leave(node);
  if (weight > 0 || is_to_be_bound(node)) binding->join(node, desk_.machine()->nodes[node.value].rack, weight);
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
    for (const auto& [place, container] : containers_)
      if (before.contains(place.node) == known && !binding.present(place.node))
        binding.join(place.node, nodes[place.node.value].rack, weight_of(place.node));
  };
  join(true);
  for (const Bound& bound : kept) {
    const bool stays = !bound.job.valid() && has_container(bound.to) && is_to_be_bound(bound.node) &&
                       nodes[bound.node.value].rack == nodes[bound.to.value].rack;
    if (stays) binding.put_back(bound.node, bound.to);
  }
  for (std::uint32_t n = 0; n < nodes.size(); ++n)
    if (is_to_be_bound({n}) && !binding.present({n})) binding.join({n}, nodes[n].rack, 0);
  join(false);
  binding_ = std::move(binding);
  tell();
  std::set<NodeId> hosts;
  for (const auto& [place, container] : containers_) hosts.insert(place.node);
  slots_.take_over(std::move(hosts));
}

// Within another fact nothing is recorded.
void AcceleratorDesk::fact_recorded(const View& /*before*/, const FactRef& fact) {
  if (!std::holds_alternative<const HealthChanged*>(fact.what)) {
    if (!slots_.note(fact) || std::exchange(slots_due_, true)) return;
    return desk_.loop().later([this] { bind_slots(); });
  }
  if (containers_.empty() && desk_.view().bindings().all().empty()) return;
  desk_.loop().later([this] { look_at_health(); });
}

void AcceleratorDesk::bind_slots() {
  slots_due_ = false;
  if (std::holds_alternative<NodeBinding>(binding_) && !desk_.stopped()) slots_.look();
}

void AcceleratorDesk::look_at_health() {
  auto* const binding = std::get_if<NodeBinding>(&binding_);
  if (binding == nullptr || desk_.stopped()) return;
  for (std::uint32_t n = 0; n < desk_.machine()->nodes.size(); ++n) {
    if (has_container({n}) || binding->present({n}) == is_to_be_bound({n})) continue;
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
    const bool serves = has_container(node);
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
    for (auto& [place, container] : containers_) container.seen += late;
  std::set<Place> lost;
  for (const auto& [place, container] : containers_)
    if (container.seen + lasts(container.card) <= now) lost.insert(place);
  for (const Place place : lost) {
    desk_.log().say(
        fmt::format("the accelerator container of node {} has given no sign for {}: its nodes are bound anew",
                    shown(place), format_duration(Duration(lasts(containers_.at(place).card).count()))));
    containers_.erase(place);
    came_or_went(place.node);
  }
  const auto* restarted = std::get_if<Restarted>(&binding_);
  if (restarted != nullptr && now >= restarted->until) bind_all();
  wait();
}

void AcceleratorDesk::wait() {
  Clock::time_point first = Clock::time_point::max();
  if (const auto* restarted = std::get_if<Restarted>(&binding_)) first = restarted->until;
  for (const auto& [place, container] : containers_) first = std::min(first, container.seen + lasts(container.card));
  if (first == Clock::time_point::max()) return;
  due_ = first;
  timer_.expires_at(due_);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) look();
  });
}

}  // namespace rota::serve

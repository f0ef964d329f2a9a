#include "serve/accelerator_slots.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "serve/answers.h"

namespace rota::serve {

bool AcceleratorSlots::wants_slots(JobId job) const {
  const JobEntry* entry = book_.find(job);
  return entry != nullptr && text_of(entry->about->texts, "accel_tasks") == "slot";
}

bool AcceleratorSlots::runs(JobId job) const {
  return desk_.view().knows(job) && desk_.view().job(job).state == JobState::running;
}

std::map<NodeId, std::uint32_t> AcceleratorSlots::nodes_of(JobId job) const {
  std::map<NodeId, std::uint32_t> nodes;
  if (desk_.machine()->nodes.empty() || !runs(job)) return nodes;
  for (const Share& share : desk_.view().placement(job).shares) nodes[share.node] = std::max(1U, share.processors);
  return nodes;
}

SlotId AcceleratorSlots::unused(JobId job) {
  if (unused_.empty()) {
    unused_.push_back({static_cast<std::uint32_t>(jobs_.size())});
    jobs_.emplace_back();
  }
  const SlotId slot = unused_.back();
  unused_.pop_back();
  jobs_[slot.value] = job;
  return slot;
}

void AcceleratorSlots::open(JobId job) {
  const auto& nodes = desk_.machine()->nodes;
  for (const auto& [node, count] : nodes_of(job)) {
    std::vector<SlotId>& slots = open_[job][node];
    while (slots.size() < count) {
      slots.push_back(unused(job));
      binding_.open(slots.back(), node, nodes[node.value].rack);
    }
    number(slots);
  }
}

// Facts count slots and do not number them. In the order of their hosts they have the same numbers after a restart.
void AcceleratorSlots::number(std::vector<SlotId>& slots) const {
  std::ranges::stable_sort(slots, {}, [&](SlotId slot) { return binding_.bound_to(slot); });
}

bool AcceleratorSlots::is_bound(JobId job) const {
  return std::ranges::any_of(desk_.view().bindings().all(), [&](const Bound& bound) { return bound.job == job; });
}

void AcceleratorSlots::take_over(std::set<NodeId> hosts) {
  const auto& nodes = desk_.machine()->nodes;
  binding_ = {};
  hosts_ = std::move(hosts);
  open_.clear();
  jobs_.clear();
  unused_.clear();
  started_.clear();
  const std::vector<Bound> kept = desk_.view().bindings().all();
  const auto had_slots = [&](NodeId host) {
    return std::ranges::any_of(kept, [&](const Bound& bound) { return bound.job.valid() && bound.to == host; });
  };
  for (const NodeId host : hosts_)
    if (had_slots(host)) binding_.join(host, nodes[host.value].rack);
  std::vector<Unbound> over;
  for (const Bound& bound : kept) {
    if (!bound.job.valid()) continue;
    if (!hosts_.contains(bound.to)) {
      over.push_back({bound.node, bound.to, bound.job, bound.processors});
      continue;
    }
    for (std::uint32_t i = 0; i < bound.processors; ++i) {
      std::vector<SlotId>& slots = open_[bound.job][bound.node];
      slots.push_back(unused(bound.job));
      binding_.put_back(slots.back(), bound.node, bound.to);
    }
  }
  binding_.take_moves();  // these are recorded
  for (auto& [job, homes] : open_)
    for (auto& [node, slots] : homes) number(slots);
  for (const Unbound& one : over) record(one);
  desk_.view().running().for_each([&](const RunningEntry& entry) {
    if (wants_slots(entry.job)) open(entry.job);
    return true;
  });
  for (const NodeId host : hosts_) {
    if (had_slots(host)) {
      binding_.balance(nodes[host.value].rack);  // of jobs that have ended meanwhile
    } else {
      binding_.join(host, nodes[host.value].rack);
    }
  }
  tell();
}

void AcceleratorSlots::serves(NodeId host, bool has_some) {
  if (has_some == hosts_.contains(host)) return;
  if (has_some) {
    hosts_.insert(host);
    binding_.join(host, desk_.machine()->nodes[host.value].rack);
  } else {
    hosts_.erase(host);
    binding_.leave(host);
  }
  tell();
}

bool AcceleratorSlots::note(const FactRef& fact) {
  const auto* started = std::get_if<const Started*>(&fact.what);
  if (started != nullptr && wants_slots((*started)->job)) started_.insert((*started)->job);
  return !started_.empty() || !open_.empty();
}

void AcceleratorSlots::look() {
  std::vector<SlotId> closed;
  for (auto at = open_.begin(); at != open_.end();) {
    const auto nodes = nodes_of(at->first);
    const bool stays = std::ranges::equal(
        at->second, nodes, {}, [](const auto& home) { return home.first; },
        [](const auto& node) { return node.first; });
    if (stays && !started_.contains(at->first)) {
      ++at;
      continue;
    }
    if (!nodes.empty()) {  // started again, or moved
      started_.insert(at->first);
      if (is_bound(at->first)) record(Unbound{{}, {}, at->first, 0});
    }
    for (const auto& [node, slots] : at->second) closed.insert(closed.end(), slots.begin(), slots.end());
    at = open_.erase(at);
  }
  binding_.close(closed);
  unused_.insert(unused_.end(), closed.rbegin(), closed.rend());
  for (const JobId job : std::exchange(started_, {}))
    if (runs(job)) open(job);
  tell();
}

// A slot may have moved more than once.
void AcceleratorSlots::tell() {
  std::map<SlotId, SlotBinding::Move> last;
  for (const SlotBinding::Move& move : binding_.take_moves())
    last.try_emplace(move.slot, move).first->second.to = move.to;
  std::map<std::tuple<JobId, NodeId, NodeId, NodeId>, std::uint32_t> moved;
  for (const auto& [slot, move] : last)
    if (move.from != move.to) ++moved[{jobs_[slot.value], move.home, move.from, move.to}];
  std::erase_if(moved, [&](const auto& one) { return !runs(std::get<JobId>(one.first)); });  // over with their jobs
  for (const auto& [move, count] : moved) {
    const auto& [job, node, from, to] = move;
    if (from.valid()) record(Unbound{node, from, job, count});
  }
  for (const auto& [move, count] : moved) {
    const auto& [job, node, from, to] = move;
    if (to.valid()) record(Bound{node, to, job, count});
  }
}

void AcceleratorSlots::record(const Observed& fact) {
  if (const auto taken = desk_.record(fact, desk_.now()); !taken) desk_.log().warn(taken.error().message);
}

NodeId AcceleratorSlots::host_of(JobId job, NodeId node, std::int64_t slot) const {
  const auto found = open_.find(job);
  if (found != open_.end()) {
    const auto home = found->second.find(node);
    if (home == found->second.end() || slot < 0 || slot >= std::ssize(home->second)) return {};
    return binding_.bound_to(home->second[static_cast<std::size_t>(slot)]);
  }
  std::map<NodeId, std::uint32_t> hosts;
  for (const Bound& bound : desk_.view().bindings().all())
    if (bound.job == job && bound.node == node) hosts[bound.to] = bound.processors;
  for (const auto& [host, count] : hosts) {
    if (slot >= 0 && slot < count) return host;
    slot -= count;
  }
  return {};
}

}  // namespace rota::serve

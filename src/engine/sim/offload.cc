#include "engine/sim/offload.h"

#include <algorithm>
#include <queue>
#include <span>
#include <string>

#include "base/check.h"
#include "engine/sim/loop.h"

namespace rota::sim {
namespace {

Duration divided(std::int64_t amount, std::int64_t by) { return Duration{(amount + by / 2) / by}; }

class OffloadRun final : public Alarm {
 public:
  explicit OffloadRun(const Offload& offload)
      : its_(offload), binding_(offload.bind, offload.tasks, offload.times), cpus_(offload.nodes.size()) {
    outcome_.on_cpu.assign(offload.nodes.size(), 0);
    if (its_.transfer > 0) transfer_ = divided(its_.transfer * 1000, its_.bandwidth);
    for (std::uint32_t i = 0; i < its_.nodes.size(); ++i) {
      events_.push({its_.nodes[i].joins, Kind::join, i, {}});
      if (its_.nodes[i].drains != kNever) events_.push({its_.nodes[i].drains, Kind::drain, i, {}});
      if (its_.nodes[i].leaves != kNever) events_.push({its_.nodes[i].leaves, Kind::leave, i, {}});
    }
    events_.push({kEpoch + its_.start_up, Kind::ready, 0, {}});
  }

  Result<OffloadOutcome> run() {
    loop_.set(*this, next());
    while (binding_.unfinished() > 0 && loop_.step()) {
    }
    if (binding_.unfinished() > 0) {
      return fail("every node was gone while " + std::to_string(binding_.unfinished()) + " of " +
                  std::to_string(its_.tasks) + " tasks were not finished; let one node stay to the end.");
    }
    outcome_.makespan = std::max(loop_.now() - kEpoch, its_.start_up);
    return std::move(outcome_);
  }

  void ring() override {
    const Instant now = loop_.now();
    while (!events_.empty() && events_.top().at <= now) {
      const Event event = events_.top();
      events_.pop();
      happen(event);
    }
    if (now >= kEpoch + its_.start_up) offer(now);
    loop_.set(*this, next());
  }

 private:
  enum class Kind : std::uint8_t { finished_on_cpu, finished_in_container, leave, drain, join, ready };
  struct Event {
    Instant at;
    Kind kind;
    std::uint32_t who;  // a node or a container
    TaskId task;
    bool operator>(const Event& o) const {
      if (at != o.at) return at > o.at;
      return kind != o.kind ? kind > o.kind : who > o.who;
    }
  };
  struct Container {
    Pipeline pipeline;
    StageTimes times;
    std::vector<TaskId> begun;
    bool present = true;
    bool drains = false;
  };

  Instant next() const { return events_.empty() ? kNever : std::max(events_.top().at, loop_.now()); }

  void happen(const Event& event) {
    switch (event.kind) {
      case Kind::finished_on_cpu:
        if (cpus_[event.who] != event.task) return;  // it died meanwhile
        cpus_[event.who] = {};
        ++outcome_.on_cpu[event.who];
        return binding_.finish(event.task);
      case Kind::finished_in_container:
        if (!containers_[event.who].present) return;
        std::erase(containers_[event.who].begun, event.task);
        ++outcome_.in_container[event.who];
        return binding_.finish(event.task);
      case Kind::leave:
        return leave(NodeId{event.who});
      case Kind::drain:
        return drain(NodeId{event.who});
      case Kind::join:
        return join(NodeId{event.who});
      case Kind::ready:
        return;
    }
  }

  void join(NodeId id) {
    const OffloadNode& node = its_.nodes[id.value];
    binding_.join(id, node.rack, node.speeds);
    first_container_.resize(its_.nodes.size());
    first_container_[id.value] = containers_.size();
    for (const std::int32_t speed : node.speeds) {
      const Duration compute = divided(its_.times.accelerator.count() * kUnitSpeed, speed);
      containers_.push_back({Pipeline(its_.pipeline), {transfer_, compute, transfer_}, {}, true, false});
      outcome_.in_container.push_back(0);
    }
  }

  void drain(NodeId id) {
    if (!binding_.nodes().present(id)) return;  // it died before
    for (Container& container : containers_of(id)) container.drains = true;
    binding_.drain(id);
  }

  std::span<Container> containers_of(NodeId id) {
    return std::span(containers_).subspan(first_container_[id.value], its_.nodes[id.value].speeds.size());
  }

  void leave(NodeId id) {
    if (cpus_[id.value].valid()) ++outcome_.redone;
    cpus_[id.value] = {};
    for (Container& container : containers_of(id)) {
      container.present = false;
      outcome_.redone += static_cast<std::uint32_t>(container.begun.size());
    }
    binding_.leave(id);
  }

  // Everybody who has room asks: CPUs, then accelerators, by id.
  void offer(Instant now) {
    for (std::uint32_t i = 0; i < cpus_.size(); ++i) {
      if (cpus_[i].valid() || !binding_.nodes().present(NodeId{i})) continue;
      if (const auto task = binding_.take_for_cpu(NodeId{i})) {
        cpus_[i] = *task;
        events_.push({now + its_.times.cpu, Kind::finished_on_cpu, i, *task});
      }
    }
    for (std::uint32_t i = 0; i < containers_.size(); ++i) {
      while (containers_[i].present && !containers_[i].drains && containers_[i].pipeline.reader_free() <= now &&
             feed(i, now)) {
      }
    }
  }

  bool feed(std::uint32_t id, Instant now) {
    const auto task = binding_.take(ContainerId{id});
    if (!task) return false;
    Container& container = containers_[id];
    const Passage passage = container.pipeline.admit(now, container.times);
    container.begun.push_back(*task);
    events_.push({passage.write_end, Kind::finished_in_container, id, *task});
    if (const Instant free = container.pipeline.reader_free(); free > now) events_.push({free, Kind::ready, id, {}});
    return true;
  }

  const Offload& its_;
  TaskBinding binding_;
  VirtualLoop loop_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<TaskId> cpus_;                  // what each node's CPU computes
  std::vector<Container> containers_;         // by id
  std::vector<std::size_t> first_container_;  // by node id
  Duration transfer_{0};
  OffloadOutcome outcome_;
};

}  // namespace

Result<OffloadOutcome> run_offload(const Offload& offload) {
  CHECK(offload.transfer == 0 || offload.bandwidth > 0, "data needs a link");
  for (const OffloadNode& node : offload.nodes) {
    CHECK(node.joins < node.leaves && node.joins < node.drains, "a node comes before it goes");
  }
  return OffloadRun(offload).run();
}

std::vector<OffloadNode> offload_nodes(const Machine& machine) {
  std::vector<OffloadNode> nodes;
  nodes.reserve(machine.nodes.size());
  for (const Node& node : machine.nodes) {
    nodes.push_back({.rack = node.rack, .speeds = std::vector(node.accelerators, node.accelerator_speed)});
  }
  return nodes;
}

}  // namespace rota::sim

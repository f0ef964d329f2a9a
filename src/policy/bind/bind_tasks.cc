#include "policy/bind/bind_tasks.h"

#include <algorithm>

#include "base/check.h"

namespace rota {

bool Dealer::later(const Taker& a, const Taker& b) {
  const std::int64_t left = (a.tasks + 1) * b.speed;
  const std::int64_t right = (b.tasks + 1) * a.speed;
  return left != right ? left > right : a.index > b.index;
}

void Dealer::add(std::int64_t tasks, std::int32_t speed) {
  takers_.push_back({tasks, speed, static_cast<std::uint32_t>(takers_.size())});
  std::ranges::push_heap(takers_, later);
}

std::size_t Dealer::deal() {
  std::ranges::pop_heap(takers_, later);
  const std::size_t index = takers_.back().index;
  ++takers_.back().tasks;
  std::ranges::push_heap(takers_, later);
  return index;
}

TaskBinding::TaskBinding(Bind bind, std::uint32_t tasks, const TaskTimes& expected)
    : bind_(bind),
      expected_(expected),
      binding_(bind == Bind::node_literal ? NodeBinding::Stop::literal : NodeBinding::Stop::balanced),
      tasks_(tasks),
      unfinished_(tasks) {
  CHECK(tasks <= kMostTasks, "an application has at most kMostTasks tasks");
  CHECK(expected.cpu > Duration{0} && expected.accelerator > Duration{0}, "a task takes time");
}

void TaskBinding::join(NodeId node, RackId rack, std::span<const std::int32_t> speeds) {
  binding_.join(node, rack, !speeds.empty());
  if (nodes_.size() <= node.value) nodes_.resize(node.value + 1);
  if (racks_.size() <= rack.value) racks_.resize(rack.value + 1);
  nodes_[node.value].containers.clear();
  for (const std::int32_t speed : speeds) {
    CHECK(speed > 0 && speed <= kMostSpeed, "an accelerator's speed is in range");
    const ContainerId id{static_cast<std::uint32_t>(containers_.size())};
    containers_.push_back({node, speed, true, 0, {}});
    nodes_[node.value].containers.push_back(id);
    racks_[rack.value].containers.push_back(id);
  }
  dealt_ = false;
}

void TaskBinding::drain(NodeId node) {
  RackState& rack = rack_of(node);
  for (const ContainerId id : nodes_[node.value].containers) {
    containers_[id.value].present = false;
    std::erase(rack.containers, id);
  }
  binding_.leave(node);
  dealt_ = false;
}

void TaskBinding::leave(NodeId node) {
  if (binding_.present(node)) drain(node);
  for (Task& task : tasks_) {
    if (task.state != State::begun || task.on != node) continue;
    if (task.container.valid()) --containers_[task.container.value].begun;
    --nodes_[task.home.value].begun;
    task.state = State::waiting;
  }
  dealt_ = false;
}

Dealer TaskBinding::dealer_of(std::span<const ContainerId> containers) const {
  Dealer dealer;
  for (const ContainerId id : containers) {
    const Container& c = containers_[id.value];
    dealer.add(c.begun, even() ? kUnitSpeed : c.speed);
  }
  return dealer;
}

// Every task that nobody has begun gets a node.
void TaskBinding::deal_homes() {
  Dealer dealer;
  std::vector<NodeId> there;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!binding_.present(NodeId{i})) continue;
    there.push_back(NodeId{i});
    dealer.add(nodes_[i].begun, kUnitSpeed);
  }
  for (Task& task : tasks_) {
    if (task.state == State::waiting) task.home = there.empty() ? NodeId{} : there[dealer.deal()];
  }
}

void TaskBinding::deal_all() {
  dealt_ = true;
  host_dealers_.assign(nodes_.size(), {});
  for (Container& c : containers_) c.waiting.clear();
  for (RackState& rack : racks_) {
    rack.waiting.clear();
    rack.dealer = dealer_of(rack.containers);
  }
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].waiting.clear();
    if (binding_.present(NodeId{i})) host_dealers_[i] = dealer_of(nodes_[i].containers);
  }
  deal_homes();
  for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].state == State::waiting && tasks_[i].home.valid()) deal(TaskId{i});
  }
}

void TaskBinding::deal(TaskId task) {
  const NodeId home = tasks_[task.value].home;
  RackState& rack = rack_of(home);
  if (bind_ == Bind::late) return rack.waiting.push_back(task);
  if (bind_ == Bind::none || rack.containers.empty()) return nodes_[home.value].waiting.push_back(task);
  if (bind_ == Bind::container || bind_ == Bind::weighted) {
    return containers_[rack.containers[rack.dealer.deal()].value].waiting.push_back(task);
  }
  const std::uint32_t host = binding_.bound_to(home).value;
  containers_[nodes_[host].containers[host_dealers_[host].deal()].value].waiting.push_back(task);
}

std::optional<TaskId> TaskBinding::begin(std::deque<TaskId>& from, ContainerId container, NodeId on) {
  if (from.empty()) return {};
  const TaskId id = from.front();
  from.pop_front();
  Task& task = tasks_[id.value];
  task.state = State::begun;
  task.container = container;
  task.on = on;
  if (container.valid()) ++containers_[container.value].begun;
  ++nodes_[task.home.value].begun;
  return id;
}

// (begun + 1) / speed <= R / W + 1 / fastest, for R tasks in all and W the speeds together.
bool TaskBinding::worth_taking(const RackState& rack, const Container& container) const {
  auto tasks = static_cast<std::int64_t>(rack.waiting.size());
  std::int64_t together = 0;
  std::int64_t fastest = 0;
  for (const ContainerId id : rack.containers) {
    tasks += containers_[id.value].begun;
    together += containers_[id.value].speed;
    fastest = std::max<std::int64_t>(fastest, containers_[id.value].speed);
  }
  return (container.begun + 1) * together * fastest <= (tasks * fastest + together) * container.speed;
}

// Of what accelerators have begun all but one each is still waiting.
bool TaskBinding::in_time(const RackState& rack) const {
  auto tasks = static_cast<std::int64_t>(rack.waiting.size());
  std::int64_t together = 0;
  for (const ContainerId id : rack.containers) {
    tasks += std::max<std::int64_t>(0, containers_[id.value].begun - 1);
    together += containers_[id.value].speed;
  }
  std::int64_t cpu = 0;
  std::int64_t accelerators = 0;
  if (__builtin_mul_overflow(tasks * kUnitSpeed, expected_.accelerator.count(), &accelerators)) return true;
  return !__builtin_mul_overflow(expected_.cpu.count(), together, &cpu) && cpu <= accelerators;
}

std::optional<TaskId> TaskBinding::take(ContainerId id) {
  if (!dealt_) deal_all();
  Container& container = containers_[id.value];
  CHECK(container.present, "a container that is gone asks for nothing");
  if (bind_ != Bind::late) return begin(container.waiting, id, container.node);
  RackState& rack = rack_of(container.node);
  if (rack.waiting.empty() || !worth_taking(rack, container)) return {};
  return begin(rack.waiting, id, container.node);
}

std::optional<TaskId> TaskBinding::take_for_cpu(NodeId node) {
  if (!dealt_) deal_all();
  CHECK(binding_.present(node), "a node that is gone asks for nothing");
  if (bind_ != Bind::late) return begin(nodes_[node.value].waiting, {}, node);
  RackState& rack = rack_of(node);
  if (rack.waiting.empty() || !in_time(rack)) return {};
  return begin(rack.waiting, {}, node);
}

void TaskBinding::finish(TaskId id) {
  Task& task = tasks_[id.value];
  CHECK(task.state == State::begun, "a task that is finished was begun");
  task.state = State::finished;
  if (task.container.valid()) --containers_[task.container.value].begun;
  --nodes_[task.home.value].begun;
  --unfinished_;
}

}  // namespace rota

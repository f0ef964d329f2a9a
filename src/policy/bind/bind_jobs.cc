#include "policy/bind/bind_jobs.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/check.h"

namespace rota {
namespace {

// a * b, or the largest number there is.
std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? INT64_MAX : out;
}

std::int64_t sum(std::int64_t a, std::int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

NodeBinding::Stop stop_of(Bind bind) {
  if (bind == Bind::node_weighted) return NodeBinding::Stop::weighted;
  return bind == Bind::node_literal ? NodeBinding::Stop::literal : NodeBinding::Stop::balanced;
}

}  // namespace

JobBinding::JobBinding(Bind bind, const Machine& machine, std::span<const Bound> kept)
    : bind_(bind), machine_(machine), binding_(stop_of(bind)), serves_(machine.nodes.size()) {
  CHECK(!machine.nodes.empty(), "accelerators stand in nodes");
  for (std::uint32_t i = 0; i < machine.nodes.size(); ++i) {
    const Node& node = machine.nodes[i];
    if (racks_.size() <= node.rack.value) racks_.resize(node.rack.value + 1);
    first_container_.push_back(static_cast<std::uint32_t>(containers_.size()));
    for (std::uint32_t a = 0; a < node.accelerators; ++a) {
      racks_[node.rack.value].push_back({static_cast<std::uint32_t>(containers_.size())});
      containers_.push_back({NodeId{i}, node.accelerator_speed, 0, 0, {}});
    }
    if (node.accelerators > 0 || kept.empty()) bind_node({i});
  }
  for (const Bound& bound : kept) {
    const bool stays = binds_nodes() && !bound.job.valid() && binding_.present(bound.to) &&
                       binding_.has_accelerator(bound.to) && !binding_.present(bound.node);
    if (stays) binding_.put_back(bound.node, bound.to);
  }
  for (std::uint32_t i = 0; i < machine.nodes.size(); ++i) {
    if (!binding_.present({i})) bind_node({i});
  }
  clients_.resize(racks_.size());
}

// The table of weights is what the cluster file says of speeds.
void JobBinding::bind_node(NodeId id) {
  const Node& node = machine_.nodes[id.value];
  count(binding_.join(id, node.rack, std::int64_t{node.accelerators} * node.accelerator_speed));
  if (bind_ != Bind::slot || node.accelerators == 0) return;
  slots_.join(id, node.rack);
  note_slots();
}

void JobBinding::count(std::span<const NodeBinding::Move> moves) {
  for (const NodeBinding::Move& move : moves) {
    if (move.to.valid()) ++(move.from.valid() ? of_nodes_.moved : of_nodes_.made);
    if (binds_nodes()) changes_.push_back({{}, move.node, move.from, move.to, 0});
  }
}

// What changed in one event, by job, node and accelerator nodes.
void JobBinding::note_slots() {
  std::map<std::tuple<JobId, NodeId, NodeId, NodeId>, std::uint32_t> slots;
  for (const SlotBinding::Move& move : slots_.take_moves()) {
    ++slots[{slot_jobs_[move.slot.value], move.home, move.from, move.to}];
  }
  for (const auto& [change, count] : slots) {
    const auto& [job, node, from, to] = change;
    changes_.push_back({job, node, from, to, count});
  }
}

JobBinding::Bindings JobBinding::bindings() const {
  if (binds_nodes()) return of_nodes_;
  const auto moved = static_cast<std::int64_t>(slots_.moved());
  return {static_cast<std::int64_t>(slots_.bindings()) - moved, moved};
}

void JobBinding::leave(NodeId id) {
  const Node& node = machine_.nodes[id.value];
  count(binding_.leave(id));
  if (bind_ == Bind::slot && node.accelerators > 0) slots_.leave(id);
  note_slots();
  for (std::uint32_t a = 0; a < node.accelerators; ++a) std::erase(racks_[node.rack.value], container(id, a));
  came_or_went(id);
}

void JobBinding::join(NodeId id) {
  const Node& node = machine_.nodes[id.value];
  bind_node(id);
  std::vector<ContainerId>& containers = racks_[node.rack.value];
  for (std::uint32_t a = 0; a < node.accelerators; ++a) containers.push_back(container(id, a));
  std::ranges::sort(containers);
  came_or_went(id);
}

void JobBinding::came_or_went(NodeId node) {
  const RackId rack = machine_.nodes[node.value].rack;
  if (machine_.nodes[node.value].accelerators > 0) deal_rack(rack);
  recount(rack);
}

void JobBinding::begin(JobId id, std::span<const Share> nodes, std::uint32_t tasks, const TaskTimes& times) {
  CHECK(!nodes.empty() && !jobs_.contains(id), "a job comes once, to some nodes");
  CHECK(times.cpu > Duration{0} && times.accelerator > Duration{0}, "a task takes time");
  Job& job = jobs_[id];
  job.times = times;
  job.unfinished = tasks;
  std::vector<Share> shares(nodes.begin(), nodes.end());
  std::ranges::sort(shares, {}, &Share::node);
  job.nodes = static_cast<std::uint32_t>(shares.size());
  for (const Share& share : shares) {
    const RackId rack = machine_.nodes[share.node.value].rack;
    auto part = std::ranges::find(job.parts, rack, &Part::rack);
    if (part == job.parts.end()) part = job.parts.insert(part, {rack, {}, 0, {}});
    add_homes(id, *part, share);
  }
  note_slots();
  for (Part& part : job.parts) {
    auto& clients = clients_[part.rack.value];
    clients.insert(std::ranges::upper_bound(clients, id), id);
    recount(part.rack);
  }
}

void JobBinding::add_homes(JobId id, Part& part, const Share& share) {
  if (bind_ != Bind::slot) {
    part.homes.push_back({share.node, {}, 0});
    return;
  }
  for (std::uint32_t i = 0; i < std::max(share.processors, 1U); ++i) {
    if (unused_slots_.empty()) {
      unused_slots_.push_back({static_cast<std::uint32_t>(slot_jobs_.size())});
      slot_jobs_.emplace_back();
    }
    const SlotId slot = unused_slots_.back();
    unused_slots_.pop_back();
    slot_jobs_[slot.value] = id;
    slots_.open(slot, share.node, part.rack);
    part.homes.push_back({share.node, slot, 0});
  }
}

// In equal parts; the first ones get what does not divide evenly.
void JobBinding::give(std::span<Home> of_node, std::uint32_t tasks) {
  const auto homes = static_cast<std::uint32_t>(of_node.size());
  for (std::uint32_t i = 0; i < homes; ++i) of_node[i].waiting = tasks / homes + (i < tasks % homes ? 1 : 0);
}

// The first nodes of each rack, and the racks in order of their first nodes, get what does not divide evenly.
void JobBinding::ready(JobId id) {
  Job& job = jobs_.at(id);
  std::uint32_t i = 0;
  for (Part& part : job.parts) {
    for (auto home = part.homes.begin(); home != part.homes.end();) {
      const auto end = std::find_if(home, part.homes.end(), [&](const Home& h) { return h.node != home->node; });
      const std::uint32_t tasks = job.unfinished / job.nodes + (i++ < job.unfinished % job.nodes ? 1 : 0);
      give({home, end}, tasks);
      part.waiting += tasks;
      home = end;
    }
    if (deals()) deal(part);
  }
}

void JobBinding::end(JobId id) {
  const auto job = jobs_.find(id);
  CHECK(job != jobs_.end(), "a job goes that has come");
  for (Part& part : job->second.parts) {
    undeal(part);
    std::erase(clients_[part.rack.value], id);
  }
  const std::vector<Part> parts = std::move(job->second.parts);
  jobs_.erase(job);
  std::vector<SlotId> closed;
  for (const Part& part : parts) {
    for (const Home& home : part.homes) {
      if (home.slot.valid()) closed.push_back(home.slot);
    }
  }
  slots_.close(closed);
  note_slots();
  unused_slots_.insert(unused_slots_.end(), closed.rbegin(), closed.rend());
  for (const Part& part : parts) recount(part.rack);
}

JobBinding::Part& JobBinding::part_of(Job& job, NodeId node) {
  return *std::ranges::find(job.parts, machine_.nodes[node.value].rack, &Part::rack);
}

void JobBinding::deal(Part& part) {
  const std::vector<ContainerId>& containers = racks_[part.rack.value];
  if (containers.empty()) return;
  Dealer dealer;
  for (const ContainerId id : containers) {
    const Container& c = containers_[id.value];
    dealer.add(c.load, bind_ == Bind::weighted ? c.speed : kUnitSpeed);
  }
  for (std::uint32_t i = 0; i < part.waiting; ++i) {
    const ContainerId to = containers[dealer.deal()];
    ++part.dealt[to];
    ++containers_[to.value].load;
  }
}

void JobBinding::undeal(Part& part) {
  for (const auto& [container, tasks] : part.dealt) containers_[container.value].load -= tasks;
  part.dealt.clear();
}

void JobBinding::deal_rack(RackId rack) {
  if (!deals()) return;
  std::vector<Part*> parts;
  for (const JobId id : clients_[rack.value]) {
    parts.push_back(&*std::ranges::find(jobs_.at(id).parts, rack, &Part::rack));
    undeal(*parts.back());
  }
  for (Part* part : parts) deal(*part);
}

// Which nodes' accelerators may be used from elsewhere.
void JobBinding::recount(RackId rack) {
  std::set<NodeId> homes;
  std::set<NodeId> serving;
  for (const JobId id : clients_[rack.value]) {
    for (const Home& home : std::ranges::find(jobs_.at(id).parts, rack, &Part::rack)->homes) {
      homes.insert(home.node);
      if (binds() && host_of(home).valid() && host_of(home) != home.node) serving.insert(host_of(home));
    }
  }
  const auto set_serving = [&](NodeId node, bool serves) {
    if (serves_[node.value] == serves) return;
    serves_[node.value] = serves;
    serving_changes_.push_back(node);
  };
  for (const Container& c : containers_) {
    if (machine_.nodes[c.node.value].rack != rack) continue;
    const bool by_rack = bind_ != Bind::none && homes.size() > (homes.contains(c.node) ? 1 : 0);
    set_serving(c.node, present(c.node) && (binds() ? serving.contains(c.node) : by_rack));
  }
}

// What lies on the container's own node first, and what could be at home with another one last.
JobBinding::Home* JobBinding::home_for(Part& part, const Container& container) {
  Home* found = nullptr;
  for (Home& home : part.homes) {
    if (home.waiting == 0 || (binds() && (host_of(home) != container.node || !settled(home)))) continue;
    if (home.node == container.node) return &home;
    const bool elsewhere_at_home = machine_.nodes[home.node.value].accelerators > 0;
    if (!found || (machine_.nodes[found->node.value].accelerators > 0 && !elsewhere_at_home)) found = &home;
  }
  return found;
}

std::optional<JobBinding::Task> JobBinding::take_of(JobId id, Job& job, ContainerId to) {
  Container& container = containers_[to.value];
  Part& part = part_of(job, container.node);
  if (part.waiting == 0) return {};
  const auto dealt = deals() ? part.dealt.find(to) : part.dealt.end();
  if (deals() && (dealt == part.dealt.end() || dealt->second == 0)) return {};
  Home* home = home_for(part, container);
  if (!home) return {};
  --home->waiting;
  --part.waiting;
  if (deals()) {
    --dealt->second;
  } else {
    ++container.load;
  }
  ++container.begun;
  container.last = id;
  return Task{id, home->node};
}

std::optional<JobBinding::Task> JobBinding::next_task(ContainerId id) {
  const Container& container = containers_[id.value];
  CHECK(present(container.node), "a container that is gone asks for nothing");
  const RackId rack = machine_.nodes[container.node.value].rack;
  if (bind_ == Bind::none || (bind_ == Bind::late && !worth_taking(rack, container))) return {};
  const std::vector<JobId>& clients = clients_[rack.value];
  const auto after = std::ranges::upper_bound(clients, container.last);
  const auto next = container.last.valid() ? static_cast<std::size_t>(after - clients.begin()) : 0;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const JobId client = clients[(next + i) % clients.size()];
    if (auto task = take_of(client, jobs_.at(client), id)) return task;
  }
  return {};
}

// (begun + 1) / speed <= R / W + 1 / fastest, for R tasks in all and W the speeds together.
bool JobBinding::worth_taking(RackId rack, const Container& container) const {
  std::int64_t tasks = 0;
  for (const JobId id : clients_[rack.value]) {
    tasks += std::ranges::find(jobs_.at(id).parts, rack, &Part::rack)->waiting;
  }
  std::int64_t together = 0;
  std::int64_t fastest = 0;
  for (const ContainerId id : racks_[rack.value]) {
    const Container& c = containers_[id.value];
    tasks += c.begun;
    together += c.speed;
    fastest = std::max<std::int64_t>(fastest, c.speed);
  }
  return product((container.begun + 1) * together, fastest) <=
         product(sum(product(tasks, fastest), together), container.speed);
}

// t(cpu) <= what the accelerators need for so many of the job's tasks, and of the others' as many, if they have them.
// An accelerator computes one of the tasks that it has begun; the others still wait.
bool JobBinding::in_time(RackId rack, const Job& job, std::uint32_t waiting) const {
  std::int64_t begun = 0;
  std::int64_t together = 0;
  for (const ContainerId id : racks_[rack.value]) {
    begun += std::max<std::int64_t>(0, containers_[id.value].begun - 1);
    together += containers_[id.value].speed;
  }
  std::int64_t work = product(begun, job.times.accelerator.count());
  for (const JobId id : clients_[rack.value]) {
    const Job& other = jobs_.at(id);
    const std::uint32_t waiting_there = std::ranges::find(other.parts, rack, &Part::rack)->waiting;
    work = sum(work, product(std::min(waiting_there, waiting), other.times.accelerator.count()));
  }
  return product(job.times.cpu.count(), together) <= product(work, kUnitSpeed);
}

std::optional<JobBinding::Task> JobBinding::take_for_cpu(JobId id, NodeId node) {
  Job& job = jobs_.at(id);
  Part& part = part_of(job, node);
  if (part.waiting == 0) return {};
  const auto has_some_here = [&](const Home& h) { return h.node == node && h.waiting > 0; };
  auto home = std::ranges::find_if(part.homes, has_some_here);
  if (accelerated(part.rack)) {
    if (bind_ != Bind::late || !in_time(part.rack, job, part.waiting)) return {};
    const auto has_some = [](const Home& h) { return h.waiting > 0; };
    if (home == part.homes.end()) home = std::ranges::find_if(part.homes, has_some);
  }
  if (home == part.homes.end()) return {};
  --home->waiting;
  --part.waiting;
  return Task{id, home->node};
}

void JobBinding::abandon(ContainerId id) {
  --containers_[id.value].begun;
  --containers_[id.value].load;
}

void JobBinding::finish(const Task& task, ContainerId id) {
  --jobs_.at(task.job).unfinished;
  if (id.valid()) abandon(id);
}

void JobBinding::lose(const Task& task, ContainerId id) {
  if (id.valid()) abandon(id);
  Part& part = part_of(jobs_.at(task.job), task.home);
  const auto of_node = std::ranges::equal_range(part.homes, task.home, {}, &Home::node);
  ++std::ranges::min_element(of_node, {}, &Home::waiting)->waiting;
  ++part.waiting;
  if (!deals()) return;
  undeal(part);
  deal(part);
}

}  // namespace rota

#include "engine/sim/sim_executor.h"

#include <algorithm>

#include "model/cpu_factor.h"

namespace rota::sim {
namespace {

Duration divided(std::int64_t amount, std::int64_t by) { return Duration{(amount + by / 2) / by}; }

std::vector<Card> cards_of(const Machine& machine) {
  std::vector<Card> cards;
  for (std::uint32_t i = 0; i < machine.nodes.size(); ++i) {
    for (std::uint32_t a = 0; a < machine.nodes[i].accelerators; ++a) {
      cards.push_back({NodeId{i}, machine.nodes[i].accelerator_speed});
    }
  }
  return cards;
}

}  // namespace

SimExecutor::SimExecutor(const Machine& machine, const ContainerModel& model, Loop& loop)
    : machine_(machine),
      model_(model),
      loop_(loop),
      cards_(cards_of(machine)),
      containers_(cards_.size(), Pipeline(model.pipeline)),
      check_(cards_.size(), model.pipeline) {}

void SimExecutor::push(Instant at, Kind kind, std::uint32_t what, std::uint32_t run) {
  events_.push({at, kind, what, run, order_++});
}

void SimExecutor::advance(Instant now) {
  while (next() <= now) {
    while (next() <= now) {
      const Event event = events_.top();
      events_.pop();
      happen(event);
    }
    answers_->hand_out();
  }
}

void SimExecutor::happen(const Event& event) {
  switch (event.kind) {
    case Kind::done:
      return done(event.what);
    case Kind::over_limit:
      return over_limit(event.what);
    case Kind::room:
      cards_[event.what].room = containers_[event.what].reader_free() <= event.at;
      return answers_->room(ContainerId{event.what});
    case Kind::ready:
      return answers_->ready(JobId{event.what}, event.run);
    case Kind::settled:
      return answers_->settled(event.what);
    case Kind::hand_out:
      return;
  }
}

void SimExecutor::submit(const ComputeTask& task) {
  check_.began(task.job);
  if (task.container.valid()) return admit(task);
  const Duration takes = time_for(task.takes, machine_.nodes[task.on.value].cpu_factor);
  const bool too_long = task.limit > Duration{0} && takes > task.limit;
  push(loop_.now() + (too_long ? task.limit : takes), too_long ? Kind::over_limit : Kind::done, board({task, {}}), 0);
}

void SimExecutor::admit(const ComputeTask& task) {
  const std::uint32_t container = task.container.value;
  const Instant now = loop_.now();
  Pipeline& pipeline = containers_[container];
  const Passage passage = pipeline.admit(now, stages(task));
  check_.admitted(task.container, now, passage);
  push(passage.write_end, Kind::done, board({task, passage}), 0);
  cards_[container].room = pipeline.reader_free() <= now;
  if (!cards_[container].room) push(pipeline.reader_free(), Kind::room, container, 0);
}

StageTimes SimExecutor::stages(const ComputeTask& task) const {
  const Node& node = machine_.nodes[task.on.value];
  const Duration compute = divided(task.takes.count() * kUnitSpeed, node.accelerator_speed);
  const bool copied = model_.copies_all || task.home != task.on;
  Duration transfer{0};
  if (copied && task.transfer > 0 && node.accelerator_link > 0) {
    transfer = divided(task.transfer * 1000, node.accelerator_link);
  }
  return {transfer, std::max(compute, Duration{1}), transfer};
}

std::uint32_t SimExecutor::board(const Flight& flight) {
  if (unused_flights_.empty()) {
    unused_flights_.push_back(static_cast<std::uint32_t>(flights_.size()));
    flights_.emplace_back();
  }
  const std::uint32_t index = unused_flights_.back();
  unused_flights_.pop_back();
  flights_[index] = flight;
  const std::uint32_t place = flight.task.key.place;
  if (of_place_.size() <= place) of_place_.resize(place + 1);
  of_place_[place] = index;
  return index;
}

SimExecutor::Flight SimExecutor::land(std::uint32_t index) {
  unused_flights_.push_back(index);
  return std::exchange(flights_[index], {});
}

void SimExecutor::cancel(const TaskKey& key) {
  Flight& flight = flights_[of_place_[key.place]];
  if (flight.task.key == key) flight.state = Flight::State::cancelled;
}

void SimExecutor::done(std::uint32_t index) {
  const Flight flight = land(index);
  const ComputeTask& task = flight.task;
  if (flight.state == Flight::State::lost) return;
  const bool wanted = flight.state == Flight::State::wanted;
  if (wanted) check_.finished(task.job);
  if (task.container.valid()) {
    const Instant from = flight.passage.compute_begin;
    const Instant until = flight.passage.compute_end;
    computing_ += until - from;
    listener_->computed(wanted ? task.job : JobId{}, task.on, from, until);
  }
  answers_->done(task.key);
}

void SimExecutor::over_limit(std::uint32_t index) {
  const Flight flight = land(index);
  if (flight.state == Flight::State::wanted) check_.lost(flight.task.job);
  answers_->over_limit(flight.task.key);
}

void SimExecutor::leave(NodeId node) {
  answers_->went(node);
  for (Flight& flight : flights_) {
    const bool aboard = flight.task.container.valid() && flight.state != Flight::State::lost;
    if (!aboard || flight.task.on != node) continue;
    if (flight.state == Flight::State::wanted) check_.lost(flight.task.job);
    flight.state = Flight::State::lost;
    answers_->lost(flight.task.key);
  }
  for (std::uint32_t i = 0; i < cards_.size(); ++i) {
    if (cards_[i].node != node) continue;
    containers_[i] = Pipeline(model_.pipeline);
    cards_[i].room = true;
    check_.emptied({i});
  }
  push(loop_.now(), Kind::hand_out, 0, 0);
}

void SimExecutor::join(NodeId node) {
  answers_->came(node);
  push(loop_.now(), Kind::hand_out, 0, 0);
}

}  // namespace rota::sim

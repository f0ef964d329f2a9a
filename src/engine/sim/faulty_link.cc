#include "engine/sim/faulty_link.h"

namespace rota::sim {

void FaultyLink::pass(const Message& message, std::int64_t& lost) {
  const int copies = chance_.chance(faults_.doubles) ? 2 : 1;
  counts_.doubled += copies - 1;
  for (int copy = 0; copy < copies; ++copy) {
    if (chance_.chance(faults_.loses)) {
      ++lost;
      continue;
    }
    if (!chance_.chance(faults_.delays)) {
      arrive(message);
      continue;
    }
    ++counts_.delayed;
    const Instant at = loop_.now() + Duration{chance_.between(1, faults_.longest.count())};
    on_the_way_.emplace(std::pair(at, ++messages_), message);
    loop_.set(*this, on_the_way_.begin()->first.first);
  }
}

void FaultyLink::arrive(const Message& message) {
  std::visit([&](const auto& what) { deliver(what); }, message);
}

void FaultyLink::deliver(const Answer& answer) {
  if (!listener_) {
    ++counts_.unheard;
    return;
  }
  heard_ = true;
  // One that contradicts the state is refused, and counted there.
  static_cast<void>(listener_->record(answer.what, answer.happened));
}

// The engine must not hear what became of it.
Result<void> FaultyLink::record(const Observed& fact, Instant happened) {
  pass(Answer{fact, happened}, counts_.lost_answers);
  return {};
}

// How that ended is for the listener to know.
Result<void> FaultyLink::decide() {
  if (std::exchange(heard_, false) && listener_) static_cast<void>(listener_->decide());
  return {};
}

void FaultyLink::ring() {
  while (!on_the_way_.empty() && on_the_way_.begin()->first.first <= loop_.now()) {
    const auto next = on_the_way_.extract(on_the_way_.begin());
    arrive(next.mapped());
  }
  if (!on_the_way_.empty()) loop_.set(*this, on_the_way_.begin()->first.first);
  static_cast<void>(decide());
}

}  // namespace rota::sim

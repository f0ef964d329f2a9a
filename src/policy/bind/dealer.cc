#include "policy/bind/dealer.h"

#include <algorithm>

namespace rota {

bool Dealer::later(const Taker& a, const Taker& b) {
  const std::int64_t of_a = (a.tasks + 1) * b.speed;
  const std::int64_t of_b = (b.tasks + 1) * a.speed;
  return of_a != of_b ? of_a > of_b : a.index > b.index;
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

}  // namespace rota

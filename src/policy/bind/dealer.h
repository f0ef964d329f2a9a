// Shares tasks out among accelerators by how fast these are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rota {

inline constexpr std::int32_t kUnitSpeed = 1000;  // of an accelerator, per mille of that for which times are told

// Deals tasks one by one, each to the taker that would be done with it first: least (tasks + 1) / speed, ties to the
// one added first.
class Dealer {
 public:
  void add(std::int64_t tasks, std::int32_t speed);
  std::size_t deal();  // index of the taker, which has one more task now

 private:
  struct Taker {
    std::int64_t tasks;
    std::int32_t speed;
    std::uint32_t index;
  };
  static bool later(const Taker& a, const Taker& b);
  std::vector<Taker> takers_;  // a heap
};

}  // namespace rota

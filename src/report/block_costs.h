// Whom a change costs: the users, or groups, that wait clearly longer under it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/blocks.h"

namespace rota::report {

// Mean waits of the jobs of a user or group, in seconds.
struct PartyCost {
  std::uint32_t party = 0;  // its number
  std::int64_t jobs = 0;
  double now = 0;
  double then = 0;
};

struct Costs {
  bool of_groups = false;  // where there are several; else of users
  std::size_t all = 0;     // users or groups that had jobs
  std::vector<PartyCost> parties =
      {};  // those that wait longer by more than 5 % and a minute; those that lose most first
};
Costs costs_of(const Blocks& now, const Blocks& then);

// "It costs 47 of 209 users: their jobs wait longer by more than 5 % and a minute."
std::string cost_told(const Costs& costs);

}  // namespace rota::report

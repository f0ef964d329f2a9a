// Whether accounts got the shares that they are owed, where the cluster file says what these are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "report/outcome.h"

namespace rota::report {

// Parts of all that was used, by the billing of partitions, while jobs of the account waited: what it used, and what
// its shares are of those of the accounts that had jobs in the queue or running just then. An account whose jobs never
// wait is owed nothing more.
struct ShareUse {
  double waited = 0;  // seconds in which some job of it waited
  double owed = 0;    // 0..1
  double used = 0;
};

// By group number, as the jobs of the outcome have it; only for groups that are accounts of the machine and waited.
// Counts the last dispatch of each job. O(jobs x accounts)
std::map<std::uint32_t, ShareUse> share_use_of(const Outcome& outcome);

}  // namespace rota::report

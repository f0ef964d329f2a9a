// Which site factors put waiting jobs of one partition into a wanted order. Pure.
//
// The rule: jobs of the partition exchange places, and no more. Their priorities stay between the least and the
// greatest that Slurm itself gives to them, so that jobs of other partitions see what they saw before. Only where
// Slurm's own priorities lie so close together that no order fits between them, the range is widened upwards, by
// kStep for each job. Jobs that stand right already keep their factors: as few as possible are changed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rota::slurm {

inline constexpr std::int64_t kMostFactor = 2'147'483'645;  // of either sign: scontrol takes no more
inline constexpr std::int64_t kStep = 16;

// What `sprio` says of a job that waits, in one partition: a job that may go to several has a row in each.
struct PriorityRow {
  std::int64_t job = 0;  // as Slurm numbers records: an array that waits is one, by its own number
  std::string_view partition;
  std::int64_t priority = 0;  // as it is
  std::int64_t factor = 0;    // of the site, which is a part of it
  std::int64_t own = 0;       // what it would be without
  bool by_hand = false;       // an operator has set the priority: factors do not count
  std::int64_t rank = 0;      // in the wanted order: the least goes first
};

// The command that prints the rows.
std::string sprio_command();
// Views are valid as long as the text is. Fails with a sentence where the text is no such list.
Result<std::vector<PriorityRow>> read_sprio(std::string_view text);

// By rank, and those of equal rank as Slurm itself has them: without factors. O(rows log rows)
void put_in_order(std::vector<PriorityRow>& wanted);

// Behind so many places rows are put into the order in which they stand: their turn is far off, and each that moved
// would be a write. O(rows log rows)
void leave_behind(std::vector<PriorityRow>& wanted, std::size_t places);

// The factors of these rows, in the same order, which is the wanted one. Each is as it was where the job stands right.
// O(rows log rows), and O(rows) for each job whose neighbours must make room.
std::vector<std::int64_t> factors_in_order(const std::vector<PriorityRow>& wanted);

}  // namespace rota::slurm

// The rows of one or several exports of sacct, put together to jobs: an export tells of a job in each window in which
// it waited or ran, and with -D one row for each time that the job was started.
#pragma once

#include <cstdint>
#include <vector>

#include "log/sacct_cell.h"
#include "log/workload.h"

namespace rota::log {

constexpr std::int64_t kNoTime = -1;

// What is odd about a row, to be told of the job that comes of it.
enum class SacctRemark : std::uint8_t {
  several_kinds,
  other_resources,
  uneven_gpus,
  odd_licences,
  hour_twice,
  hour_never,
  whole_nodes,
  memory_as_asked,
  had_more,
  odd_state,
  impossible_memory,
  whole_nodes_unknown,
  unplaced_gpus,
  start_was_eligible,
  odd_nodes,
  several_partitions,
  by_submit_line,
  odd_constraints,
  odd_node_names,
  gave_way
};

// How its nodes are known. Slurm tells that one at least was asked for of all that do not say how many.
enum class SacctSpread : std::uint8_t {
  as_asked,
  any,      // one at least, and it got several
  one,      // one at least, and it got one for several processors: whether it needs that is not told
  guessed,  // that one will do as well as any other number, as for others
  kept,     // any number would do, but for its memory
};

// One row, as small as it can be: a log of years is held in memory. Times in seconds since 1970; kNoTime: not told, as
// is -1 of a number.
struct SacctRow {
  SacctId id;
  std::int64_t line = 0;
  std::int64_t submit = kNoTime;
  std::int64_t eligible = kNoTime;
  std::int64_t start = kNoTime;
  std::int64_t end = kNoTime;
  std::int64_t elapsed = kNoTime;                                  // in milliseconds
  std::int64_t limit = kNoTime;                                    // in milliseconds
  std::int64_t node_memory = 0;                                    // bytes on each node; 0: not told
  std::int64_t processor_memory = -1;                              // kilobytes for each processor
  std::int32_t processors = -1;                                    // that it had,
  std::int32_t requested_processors = -1;                          // and asked for
  std::int32_t user = -1, group = -1, partition = -1, queue = -1;  // numbers of their names
  std::uint32_t nodes = 0;                                         // that it must be spread over; 0: any
  std::uint32_t given_nodes = 0;                                   // that it had; 0: not told
  std::uint32_t earlier = 0;   // seconds for which earlier dispatches held what it had,
  std::uint32_t away = 0;      // and from the start of each until it began to wait again
  std::uint32_t array = 0;     // number of its array, of which so many tasks run at once;
  std::uint32_t throttle = 0;  // 0: no limit is told
  std::uint32_t ran_on = 0;    // the nodes that it had, by number; 0: not told
  std::uint32_t request = 0;   // what else it asks for, by place in a table; 0: nothing
  SacctState state = SacctState::unknown;
  SacctSpread spread = SacctSpread::as_asked;
  bool by_processors : 1 = false;  // its memory: as much for each
  bool component : 1 = false;      // of a heterogeneous job
  bool wall_clock : 1 = false;     // start and end are of a clock on the wall, of which it is not known where
  bool given : 1 = false;          // AllocTRES tells what it was given, as it does of no job that never started
  bool placed : 1 = true;          // false: it is told that it never had a node
  std::uint32_t remarks = 0;       // a bit for each

  void remark(SacctRemark what) { remarks |= 1U << static_cast<unsigned>(what); }
  bool remarked(SacctRemark what) const { return (remarks >> static_cast<unsigned>(what) & 1U) != 0; }
};

// When it began to wait.
std::int64_t came(const SacctRow& row);

// The jobs: of rows that tell of the same start the one that knows most, of a job's dispatches one job with the last
// that ran, which knows for how long the others ran, of its sizes one job with the first size. By submit time, and by
// number, in whichever order exports told them. What is left out is counted. O(rows log rows)
std::vector<SacctRow> jobs_of_rows(std::vector<SacctRow> rows, ImportReport& report);

}  // namespace rota::log

// The Standard Workload Format (Chapin et al. 1999, version 2.2): 18 numbers a row, ';' comments, header "; Key:
// value". Reads plain and gzipped files in one pass with bounded memory beside the workload itself.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "log/workload.h"

namespace rota::log {

class LineBlocks;
class TimeZone;

struct SwfOptions {
  bool skip_bad_rows = false;   // drop rows that cannot be read (counted) instead of failing on the first one
  bool keep_recorded = false;   // keep what really happened as well: waits, queues (Workload::recorded)
  bool keep_cancelled = false;  // keep jobs cancelled before they started (status 5, no run time) as 1 s jobs
  // As in the published schedules that Rota is compared with: a job without a run time asked for 1 s, whatever it says.
  bool published_limits = false;
  // What is known of the cluster for which jobs of sacct are read: whether memory counts there, and the least that a
  // node has beside each of its processors, in bytes; 0: not known.
  bool memory_counts = true;
  std::int64_t memory_beside = 0;
  bool gpus_unaccounted = false;  // nodes have GPUs of which sacct tells nothing: what jobs have may go by those
  std::string cluster = {};       // of sacct's jobs only those of this one; empty: all, which must be of one
  std::shared_ptr<const TimeZone> zone = {};  // in which sacct printed local times; nullptr: UTC, or not known
  // Called now and then with the share of the file that has been read, 0..1; may be empty.
  std::function<void(double)> progress = {};
};

// The rules by which a row becomes a job:
//   processors = field 5, else field 8; limit = requested time (field 9), else the run time; run time as recorded, also
//   where it exceeds the limit; a row with run <= 0, processors <= 0 or submit < 0 becomes a job of 1 s on
//   max(processors, 1) submitted at max(submit, 1), as in the published schedules; its limit is as requested, and 1 s
//   where it says nothing or published_limits are asked for; cancelled before it started:
//   dropped. Nodes come from MetaCentrum's 21st column only; memory is left out, for a number of kilobytes on each
//   processor says nothing about a node while the number of nodes is not known. docs/workloads.md tells all of it.
Result<Workload> read_swf(const std::string& path, const SwfOptions& options = {});
Result<Workload> read_swf(LineBlocks blocks, const std::string& path, const SwfOptions& options);  // path: for the name
Result<Workload> parse_swf(std::string_view text, const std::string& name, const SwfOptions& options = {});

// Writes the workload as SWF 2.2 with a header; scheduled columns (wait) are -1.
void write_swf(std::ostream& out, const Workload& workload);

}  // namespace rota::log

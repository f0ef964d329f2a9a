// Workloads of the simulator Batsim (batsim.readthedocs.io, "Workload"): one JSON object with jobs, which ask for
// resources, and profiles, which say what they do. A resource is a processor here.
//
//   {"nb_res": 4, "jobs": [{"id": "1", "subtime": 0, "res": 2, "walltime": 90, "profile": "p60"}],
//    "profiles": {"p60": {"type": "delay", "delay": 60}}}
//
// Run times are those of delays, and of sequences of delays. What other profiles take is computed on a platform, which
// Rota does not have: their jobs are dropped, and counted.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/line_blocks.h"
#include "log/swf.h"
#include "log/swf_row.h"
#include "log/workload.h"

namespace rota::log {

bool looks_like_batsim(std::string_view text);  // from its first lines

struct BatsimLog {
  std::vector<SwfRow> rows;  // by submit time; those of one instant in file order. `line` is the place among the jobs
  std::int64_t processors = 0;  // nb_res; 0: not told
  ImportReport report;
};

// Errors name the file and the job. With skip_bad_rows, jobs that cannot be read are counted and dropped. The text is
// read piece by piece, be it one line: what is held are the rows, the jobs' ids and, of each profile, what tells its
// run time.
Result<BatsimLog> read_batsim_log(LineBlocks blocks, const SwfOptions& options);
Result<Workload> workload_of(BatsimLog log, const std::string& path, const SwfOptions& options);

// Writes one, job by job; the rest in the destructor. Each run time is a profile, a delay.
class BatsimWriter {
 public:
  explicit BatsimWriter(std::ostream& out) : out_(out) {}
  ~BatsimWriter();
  BatsimWriter(const BatsimWriter&) = delete;
  BatsimWriter& operator=(const BatsimWriter&) = delete;

  void processors(std::int64_t number) { processors_ = number; }  // 0: the most that a job asks for
  void job(const SwfRow& row);

 private:
  std::ostream& out_;
  std::int64_t processors_ = 0;
  std::int64_t widest_ = 0;
  bool any_ = false;
  std::map<std::int64_t, std::string> profiles_;  // by run time in milliseconds
};

// "60" and "12.5", for names and numbers.
std::string batsim_seconds(std::int64_t milliseconds);

}  // namespace rota::log

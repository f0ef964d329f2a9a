// Writes SWF 2.2 row by row: under write_swf, `rota convert` and the schedules that `rota simulate` saves.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <string_view>

#include "model/job.h"
#include "trace/swf_row.h"

namespace rota::trace {

// The comments at the top of a log. Values of 0 and empty texts are left out.
struct SwfTop {
  std::string computer;
  std::string note;
  std::int64_t rows = 0;  // MaxJobs and MaxRecords
  std::int64_t unix_start = 0;
  std::int64_t processors = 0;
  std::int64_t nodes = 0;
  std::int64_t queue_floor = -1;  // as in Workload; left out when negative
  std::map<std::uint32_t, std::string> queues, partitions, users, groups;
};

// Buffers rows and hands them to the stream in large pieces; the rest in the destructor. What becomes of the writing is
// told by the stream (see OutputFile). Control characters in the texts of SwfTop are written as '?'.
class SwfWriter {
 public:
  explicit SwfWriter(std::ostream& out) : out_(out) {}
  ~SwfWriter() { flush(); }
  SwfWriter(const SwfWriter&) = delete;
  SwfWriter& operator=(const SwfWriter&) = delete;

  void top(const SwfTop& top);
  void comment(std::string_view line);  // "; ..." as it was read, without its end of line
  void row(const SwfRow& row);          // its 18 fields; extra columns are not written

 private:
  void key(std::string_view name, std::string_view value);
  void key(std::string_view name, std::int64_t value);
  void names(std::string_view name, const std::map<std::uint32_t, std::string>& names);
  void flush();

  std::ostream& out_;
  std::string buffer_;
};

// A row for a job: its request and its run time; what a job does not tell is -1.
SwfRow swf_row(const JobSpec& job, Duration run);

}  // namespace rota::trace

// Writes SWF 2.2 row by row: under write_swf, `rota convert` and the schedules that `rota simulate` saves.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "log/log_top.h"
#include "log/swf_row.h"
#include "model/job.h"

namespace rota::log {

// Buffers rows and hands them to the stream in large pieces; the rest in the destructor. What becomes of the writing is
// told by the stream (see OutputFile). Control characters in the texts of LogTop are written as '?'.
class SwfWriter {
 public:
  explicit SwfWriter(std::ostream& out) : out_(out) {}
  ~SwfWriter() { flush(); }
  SwfWriter(const SwfWriter&) = delete;
  SwfWriter& operator=(const SwfWriter&) = delete;

  void top(const LogTop& top);
  void comment(std::string_view line);  // "; ..." as it was read, without its end of line
  void row(const SwfRow& row);          // its 18 fields; extra columns are not written
  // Comments that give names to numbers, "; User: 1 anna"; all but the first `written`.
  void names(std::string_view key, const NumberedNames& names, std::size_t written = 0);

 private:
  void key(std::string_view name, std::string_view value);
  void key(std::string_view name, std::int64_t value);
  void flush();

  std::ostream& out_;
  std::string buffer_;
};

// Digits, with a fraction where the field has one.
void append_value(const SwfRow& row, SwfField field, std::string& out);
// Seconds, to a millisecond.
void append_seconds(Duration time, std::string& out);

// A row for a job: its request and its run time; what a job does not tell is -1.
SwfRow swf_row(const JobSpec& job, Duration run);

}  // namespace rota::log

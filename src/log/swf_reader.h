// Reads SWF row by row with little memory: what read_swf and `rota convert` are built on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "log/line_blocks.h"
#include "log/log_top.h"
#include "log/swf_row.h"
#include "log/workload.h"

namespace rota::log {

// Gives the rows of one log in file order. Rows that are read with some doubt are counted in the report, and so are bad
// ones where they are skipped. Not thread-safe.
class SwfReader {
 public:
  // Without skip_bad_rows the first bad row is an error. `report` must outlive the reader.
  SwfReader(LineBlocks blocks, bool skip_bad_rows, ImportReport& report);

  // The next row (see read_swf_row for what holds of it), or false at the end. Errors name file, line and field.
  Result<bool> next(SwfRow& row);

  // What the comments up to here say: the standard's MaxProcs, MaxNodes, UnixStartTime, Computer, Note, Information,
  // Queue and Partition ("Partition: 1 pbatch"), and QueueFloor, User and Group, which `rota convert` and `rota
  // generate` write.
  const LogTop& header() const { return header_; }
  std::int64_t offset() const { return before_ + (at_ - begin_); }  // bytes of text up to here
  const LineBlocks& input() const { return blocks_; }

  std::function<void(std::string_view)> on_comment;  // gets every comment line without its newline; may be empty
  std::function<void(double)> on_progress;           // gets the share of the input that was read; may be empty

 private:
  Result<bool> refill();
  Result<bool> take_odd_row(SwfRow& row);
  void read_header_line(std::string_view line);

  LineBlocks blocks_;
  ImportReport& report_;
  LogTop header_;
  const char* begin_ = nullptr;  // of the block; its last byte is a newline
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  std::int64_t before_ = 0;  // bytes of text before the block
  std::int64_t line_ = 0;    // lines before at_
  std::uint32_t last_columns_ = 0;
  bool skip_bad_rows_;
};

}  // namespace rota::log

// JSON lines: a job log with one JSON object a line for each job, in which all stands that SWF and a sidecar say; the
// first line may be a header. docs/workloads.md has the format.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "base/result.h"
#include "log/attribute_table.h"
#include "log/json_job.h"
#include "log/line_blocks.h"
#include "log/log_top.h"
#include "log/swf.h"
#include "log/swf_row.h"
#include "log/workload.h"

namespace rota::log {

// Whether a log begins as JSON does: with an object, or with a list, which is refused with a better sentence so.
bool looks_like_json(std::string_view text);

// Gives the jobs of one log in file order, as SwfReader does. Not thread-safe.
class JsonLinesReader {
 public:
  // Without skip_bad_rows the first bad line is an error. `report` must outlive the reader.
  JsonLinesReader(LineBlocks blocks, bool skip_bad_rows, ImportReport& report);

  // The next job, or false at the end. Errors name file, line and field. What a job has beside the row is in
  // `attributes`; its nodes and memory are in both.
  Result<bool> next(SwfRow& row, JobAttributes& attributes);

  const LogTop& top() const { return *top_; }     // the header, and the names that have turned up since
  std::int64_t offset() const { return taken_; }  // bytes of text up to here
  const LineBlocks& input() const { return blocks_; }

  std::function<void(double)> on_progress;  // gets the share of the input that was read; may be empty

 private:
  Result<bool> next_line(std::string_view& line);
  std::unexpected<Error> wrong(const std::string& what) const;

  LineBlocks blocks_;
  ImportReport& report_;
  std::unique_ptr<LogTop> top_ = std::make_unique<LogTop>();  // the parser points into it
  std::unique_ptr<JsonJobParser> parser_ = std::make_unique<JsonJobParser>(*top_);
  std::string_view block_;
  std::int64_t taken_ = 0;
  std::int64_t line_ = 0;
  bool begun_ = false;
  bool skip_bad_rows_;
};

// By the rules of log/swf.h; what jobs have beyond JobSpec is in the workload's attributes.
Result<Workload> read_json_lines(LineBlocks blocks, const std::string& path, const SwfOptions& options);
Result<Workload> parse_json_lines(std::string_view text, const std::string& name, const SwfOptions& options = {});

// Writes JSON lines job by job, and hands them to the stream in large pieces; the rest in the destructor. What becomes
// of the writing is told by the stream.
class JsonLinesWriter {
 public:
  explicit JsonLinesWriter(std::ostream& out) : out_(out) {}
  ~JsonLinesWriter() { flush(); }
  JsonLinesWriter(const JsonLinesWriter&) = delete;
  JsonLinesWriter& operator=(const JsonLinesWriter&) = delete;

  // The header, if there is anything to say. Jobs are then written with names for the numbers that `top` names, as far
  // as each name has one number, and with its host lists; so `top` must outlive the writer, and may get new names, in
  // order, as jobs come.
  void top(const LogTop& top);
  void job(const SwfRow& row, const JobAttributes& attributes);

 private:
  void named(SwfField field, std::uint32_t number);
  static void nodes(std::string_view list, std::string& out);
  void flush();

  std::ostream& out_;
  const LogTop* top_ = nullptr;
  std::string buffer_;
  std::string text_;
  // The names of a number, as JSON, made once; empty: the number is written.
  std::map<std::uint32_t, std::string> users_, groups_, queues_, partitions_;
};

}  // namespace rota::log

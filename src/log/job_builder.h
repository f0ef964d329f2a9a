// Turns the rows of a log into the jobs of a workload by the rules in log/swf.h, whichever format the rows came in.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "log/swf.h"
#include "log/swf_row.h"
#include "log/workload.h"

namespace rota::log {

inline constexpr const char* kNoRequestedTime = "no requested time: the run time taken as the limit";

class JobBuilder {
 public:
  explicit JobBuilder(SwfOptions options) : options_(std::move(options)) {}

  bool full() const { return out_.jobs.size() == out_.jobs.capacity(); }  // the next row needs room
  // Makes room for what the whole text will need if its rows go on as they are, so that little is copied or wasted.
  // `offset` bytes of `size` have been read; size < 0: unknown.
  void make_room(std::int64_t offset, std::int64_t size);
  void make_room(std::size_t jobs);
  void add(const SwfRow& row);
  ImportReport& report() { return out_.report; }
  bool dropped_doubled() const { return dropped_doubled_; }  // in finish()

  // The workload, sorted, with its report; the header's values are the caller's to fill in. `shown` is the log's name
  // for messages. Fails without jobs, and where two have the same number (with skip_bad_rows the later one is dropped).
  Result<Workload> finish(const std::string& shown);

 private:
  // What is remarked about a row, besides the reader's own remarks.
  enum class Remark : std::uint8_t {
    cancelled,
    no_run,
    no_processors,
    no_submit,
    no_limit,
    overrun,
    out_of_order,
    no_qos
  };
  struct Count {
    std::int64_t rows = 0;
    std::int64_t first_line = 0;
  };
  // From this job on, the line of a job is its place plus `ahead`: kept only where that changes.
  struct LineStep {
    std::size_t job;
    std::int64_t ahead;
  };

  // A task of an array of which only so many run at once.
  struct Throttled {
    std::int64_t job, array;  // numbers
    std::uint32_t most;
  };

  void set_terms();
  void add_rest(const SwfRow& row, JobSpec& spec);
  void keep_recorded(const SwfRow& row);
  QosId qos_of(const SwfRow& row);
  void remark(Remark what, std::int64_t line);
  std::int64_t line_of(std::size_t job) const;
  Result<void> check_numbers(const std::string& shown);
  void drop(const std::vector<bool>& doubled);
  void sort();

  SwfOptions options_;
  Workload out_;
  std::vector<LineStep> lines_;
  std::vector<Throttled> throttled_;        // in order of rows
  std::vector<std::size_t> without_limit_;  // places of jobs that told none
  std::array<Count, 8> counts_{};
  std::map<std::uint32_t, QosId> qos_;  // by number of the queue
  std::int64_t last_queue_ = -1;        // of a row that is of one,
  QosId last_qos_;                      // and what that gave
  std::int64_t last_number_ = -1;
  Instant last_submit_ = Instant::min();
  bool dropped_doubled_ = false;
  bool ascending_ = true;  // numbers, so far
  bool sorted_ = true;     // submit times, so far
};

// Makes a workload of rows that are all there.
Result<Workload> workload_of_rows(const std::vector<SwfRow>& rows, ImportReport report, const std::string& shown,
                                  const SwfOptions& options);

}  // namespace rota::log

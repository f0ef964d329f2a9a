// The rows of sacct's output, as they stand there, with all that is asked in them read: log/sacct.h makes jobs of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/job_attributes.h"
#include "log/line_blocks.h"
#include "log/sacct_dispatches.h"
#include "log/swf.h"
#include "log/workload.h"

namespace rota::log {

// Numbers for names, from 1 in order of appearance.
class NumbersOfNames {
 public:
  std::int64_t number_of(std::string_view name);  // -1: of an empty name
  std::map<std::uint32_t, std::string> by_number() const;

 private:
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
};

struct SacctRows {
  std::string shown;  // the file, for messages
  std::vector<SacctRow> rows;
  std::vector<JobAttributes> requests;  // accelerators and licences, by SacctRow::request
  NumbersOfNames users, groups, partitions, queues;
  ImportReport report;
};

// Steps of jobs are passed over. Errors name file, line and column; with skip_bad_rows such rows are counted and
// dropped.
Result<SacctRows> read_sacct_rows(LineBlocks blocks, const SwfOptions& options);

}  // namespace rota::log

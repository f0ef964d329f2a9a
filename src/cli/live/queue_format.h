// squeue's formats: "%.18i %.9P %8j" with the letters of its manual page, over JOBs as the service gives them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/live/service.h"

namespace rota::cli {

struct QueueField {
  std::string before;     // text in front of it
  char letter = '\0';     // '\0': only the text
  std::size_t width = 0;  // 0: as wide as it is
  bool right = false;
};

// Fails with a sentence that names the letter that is not known.
Result<std::vector<QueueField>> parse_queue_format(std::string_view format);

// Columns by their names with commas between, as "jobid,name,start". Fails with a sentence that names those there are.
Result<std::vector<QueueField>> parse_queue_columns(std::string_view names);
// A table of these columns, each as wide as what it holds.
std::string queue_table(const std::vector<QueueField>& fields, const Json& jobs, bool header);

// Whether the letter is about when a job starts: that has to be asked for.
bool tells_start(char letter);

// What stands above them, and a job's row; no line end.
std::string queue_header(const std::vector<QueueField>& fields);
std::string queue_row(const std::vector<QueueField>& fields, const Json& job);

// Puts jobs in order by letters as squeue's --sort has them: "-p,i" is by priority, highest first, then by id.
// A job that has no start, or no end, stands behind those that have, either way.
Result<void> sort_jobs(Json& jobs, std::string_view letters);

// Jobs of one array that wait for their turn become one row: 12_[1-5,7%2]; so do those that are held or wait for the
// same others. Its start is the earliest of theirs.
Json folded_arrays(const Json& jobs);

// "1-5,7" of ascending numbers.
std::string ranges_text(const std::vector<std::int64_t>& numbers);

}  // namespace rota::cli

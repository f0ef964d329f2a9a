// The files of `rota simulate` with a row for each job or node of a rehearsal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "log/packed_output.h"
#include "log/workload.h"
#include "report/outcome.h"

namespace rota::cli {

enum class JobsFormat : std::uint8_t { csv, swf, batsim };
JobsFormat jobs_format(const std::string& path);

// "out.csv" for one rehearsal; "out-easy.csv", "out-kth-easy.csv" where there are several to tell apart: the given
// parts stand before the ending. No path leads to another folder by what a part is called.
std::string path_with(const std::string& path, const std::vector<std::string>& parts);

// CSV; SWF if the name that the user gave ends in .swf, columns of Batsim if in _jobs.csv, packed or not.
void write_jobs(std::ostream& out, JobsFormat format, const report::Outcome& outcome, const log::Workload& workload);

// A file for each path. They are opened before anything is rehearsed: one that cannot be written is told at once.
Result<std::vector<log::PackedOutput>> open_row_files(const std::vector<std::string>& paths);

}  // namespace rota::cli

#include "cli/rehearse/simulate_outputs.h"

#include <algorithm>

#include "base/file.h"
#include "log/packing.h"
#include "rehearse/jobs_swf.h"
#include "report/batsim_file.h"
#include "report/jobs_file.h"

namespace rota::cli {

std::string path_with(const std::string& path, const std::vector<std::string>& parts) {
  if (parts.empty()) return path;
  std::string mark;
  for (const std::string& part : parts) mark += (mark.empty() ? "" : "-") + part;
  std::ranges::replace(mark, '/', '_');
  return marked_path(path, mark);
}

JobsFormat jobs_format(const std::string& path) {
  const std::string_view name = log::without_packing(path);
  return name.ends_with(".swf") ? JobsFormat::swf : name.ends_with("_jobs.csv") ? JobsFormat::batsim : JobsFormat::csv;
}

void write_jobs(std::ostream& out, JobsFormat format, const report::Outcome& outcome, const log::Workload& workload) {
  if (format == JobsFormat::swf) return write_jobs_swf(out, outcome, workload);
  if (format == JobsFormat::batsim) return report::write_jobs_batsim(out, outcome);
  report::write_jobs_csv(out, outcome);
}

Result<std::vector<log::PackedOutput>> open_row_files(const std::vector<std::string>& paths) {
  std::vector<log::PackedOutput> files;
  for (const std::string& path : paths) {
    auto file = TRY(log::PackedOutput::create(path));
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace rota::cli

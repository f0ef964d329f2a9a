#include "cli/rehearse/plot_files.h"

#include <fmt/core.h>
#include <sys/wait.h>

#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "cli/printed.h"
#include "cli/rehearse/simulate_outputs.h"
#include "process/spawn.h"
#include "report/plots.h"

namespace rota::cli {
namespace {

bool converts(const std::string& svg, const std::string& pdf) {
  const pid_t child =
      process::spawn({.words = {"rsvg-convert", "-f", "pdf", "-o", pdf, svg}, .files = {}, .searched = true});
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

Result<void> write_plots(const std::string& folder, const std::vector<Run>& runs) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return fail("{}: {}.", folder, failed.message());
  std::map<const log::Workload*, std::vector<const report::Outcome*>> of_workload;
  for (const Run& run : runs)
    if (run.asked) of_workload[run.workload].push_back(&run.result->outcome);
  std::size_t drawn = 0;
  bool all_converted = true;
  for (const auto& [workload, outcomes] : of_workload) {
    for (const report::NamedPlot& each : report::plots_of(outcomes)) {
      const std::vector<std::string> parts =
          of_workload.size() > 1 ? std::vector{workload->name} : std::vector<std::string>{};
      const std::string svg = path_with(folder + "/" + each.name + ".svg", parts);
      OutputFile file = TRY(OutputFile::create(svg));
      file.stream() << report::svg_of(each.plot);
      TRY(file.commit());
      ++drawn;
      all_converted = all_converted && converts(svg, path_with(folder + "/" + each.name + ".pdf", parts));
    }
  }
  remark(fmt::format("plots: {} in {}, as SVG{}", amount(static_cast<std::int64_t>(drawn), "figure"), folder,
                     all_converted ? " and PDF" : "; with the package librsvg2-bin they are written as PDF, too"));
  return {};
}

}  // namespace rota::cli

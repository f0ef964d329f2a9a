#include "cli/rehearse/simulate_inputs.h"

#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "cli/progress.h"
#include "cli/rehearse/kept_state.h"
#include "cli/rehearse/simulate_run.h"
#include "log/log.h"

namespace rota::cli {
namespace {

namespace fs = std::filesystem;

Result<void> add_state(const std::string& path, Workloads& workloads) {
  auto state = TRY(read_state(path));
  workloads.all.push_back(std::move(state.workload));
  workloads.machines.push_back(std::move(state.machine));
  workloads.policies.push_back(std::move(state.policy));
  return {};
}

// A folder is no log, but what an import makes has one in it.
Result<void> check_folder(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return {};
  const fs::path folder(path);
  for (const char* name : {"jobs.jsonl.gz", "jobs.jsonl"}) {
    if (!fs::exists(folder / name, ignored)) continue;
    std::string with;
    if (fs::exists(folder / "cluster.toml", ignored))
      with = ", with --cluster " + shown_path((folder / "cluster.toml").string());
    return fail("Cannot read {}: it is a folder; its jobs are in {}, which is to be named instead{}.", shown_path(path),
                shown_path((folder / name).string()), with);
  }
  return {};
}

Result<void> add_log(const std::string& path, const log::SwfOptions& swf, const WindowFlags& window,
                     Workloads& workloads) {
  if (auto checked = check_folder(path); !checked) return checked;
  auto workload = TRY(log::read_log(path, swf));
  if (window.asked()) {
    if (auto cut = window.apply(workload); !cut) return cut;
  }
  workloads.all.push_back(std::move(workload));
  workloads.machines.push_back(nullptr);
  workloads.policies.emplace_back();
  return {};
}

}  // namespace

Result<Workloads> read_workloads(const std::vector<std::string>& paths, const log::SwfOptions& swf,
                                 const WindowFlags& window, bool watched) {
  Workloads workloads;
  for (const std::string& path : paths) {
    if (is_state(path)) {
      if (window.asked())
        return fail(path + ": --from, --until and --warm-up are for job logs, and this is the state of a service.");
      TRY(add_state(path, workloads));
      continue;
    }
    Progress progress(watched, "reading " + one_line(path));
    log::SwfOptions told = swf;
    told.progress = [&progress](double share) { progress.share(share); };
    TRY(add_log(path, told, window, workloads));
  }
  call_apart(workloads.all, paths);
  return workloads;
}

}  // namespace rota::cli

#include "cli/import_unfit.h"

#include <algorithm>
#include <memory>

#include "log/attributes.h"
#include "log/log.h"
#include "model/never_fits.h"
#include "rehearse/rehearse.h"

namespace rota::cli {
namespace {

// The first thing without which it would fit.
std::string reason_of(const Machine& machine, JobSpec spec) {
  const auto fits = [&] { return !never_fits(machine, spec); };
  spec.limit = Duration{1};
  if (fits()) return "a time limit beyond the max_time of their partition";
  spec.memory = 0;
  if (fits()) return "more memory on each of their nodes, in equal parts, than nodes have";
  spec.accelerators = 0;
  spec.accelerator_type = {};
  if (fits()) return "more accelerators on each of their nodes, in equal parts, than nodes have";
  spec.nodes = 0;
  if (fits()) return "nodes as many, or processors on each in equal parts, as the cluster or their partition lacks";
  return "more than the cluster or their partition has";
}

}  // namespace

Result<std::vector<UnfitJobs>> unfit_jobs(const std::string& path, const Machine& machine) {
  const auto workload = log::read_log(path, {.keep_cancelled = true});
  if (!workload) return std::unexpected(workload.error());
  RehearseOptions options{.processors = machine.processors, .machine = std::make_shared<const Machine>(machine)};
  if (workload->attributes) {
    auto attributes = log::Attributes::match(workload->attributes, options.machine.get());
    if (!attributes) return std::unexpected(attributes.error());
    set_attributes(options, std::move(*attributes));
  }
  std::vector<UnfitJobs> all;
  WorkloadSource source(*workload, options);
  for (sim::Arrival job; source.next(job);) {
    const auto why = never_fits(machine, job.spec);
    if (!why) continue;
    const std::string what = reason_of(machine, job.spec);
    const auto at = std::ranges::find(all, what, &UnfitJobs::what);
    if (at == all.end()) {
      all.push_back({what, 1, job.spec.number, *why});
    } else {
      ++at->jobs;
    }
  }
  std::ranges::sort(all, {}, &UnfitJobs::what);
  return all;
}

}  // namespace rota::cli

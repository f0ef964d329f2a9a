#include "rehearse/chances.h"

#include <fmt/core.h>

#include <vector>

namespace rota {
namespace {

// The workload with other fractions of seconds.
log::Workload by_lot(const log::Workload& workload, const RehearseOptions& options, std::uint64_t lot) {
  log::Workload copy = workload;
  for (std::size_t i = 0; i < copy.jobs.size(); ++i)
    copy.run_times[i] = held_for(workload, i, limit_of(workload, i, options), lot);
  copy.whole_seconds = false;
  copy.turnaround = Duration{0};
  return copy;
}

// The middle of each of kChances parts of the time between two passes.
Result<Chain> with_phase(const Chain& chain, std::size_t part) {
  const Duration interval = chain.knobs().slurm.interval;
  if (interval <= Duration{0} || chain.knobs().slurm.phase > Duration{0}) return Chain::parse(chain.text());
  const auto phase =
      interval.count() * static_cast<std::int64_t>(2 * part + 1) / static_cast<std::int64_t>(2 * kChances);
  return Chain::parse(fmt::format("{}+bf-phase={}ms", chain.text(), phase));
}

}  // namespace

Result<std::optional<report::Trust>> trust_over_chances(const log::Workload& workload, const Chain& chain,
                                                        const RehearseOptions& options) {
  if (!workload.whole_seconds || !chain.knobs().slurm.planner || workload.recorded.empty() ||
      workload.jobs.size() > kMostByChances || (options.machine && !options.machine->sites.empty()))
    return std::nullopt;
  RehearseOptions quiet = options;
  quiet.keep_jobs = true;
  quiet.keep_nodes = false;
  quiet.journals.clear();
  quiet.progress = {};
  quiet.beside = nullptr;
  std::vector<Duration> waited(workload.jobs.size(), Duration{0});
  std::vector<std::int64_t> times(workload.jobs.size(), 0);
  for (std::size_t part = 0; part < kChances; ++part) {
    const Chain drawn = TRY(with_phase(chain, part));
    const log::Workload copy = by_lot(workload, options, part + 1);
    const auto rehearsed = TRY(rehearse(copy, drawn, quiet));
    const std::vector<Job>& jobs = rehearsed.outcome.jobs;  // behind the warm-up
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (!jobs[i].ended()) continue;
      waited[workload.warm_up + i] += jobs[i].start - jobs[i].spec.submit - jobs[i].earlier;
      ++times[workload.warm_up + i];
    }
  }
  report::WaitsBeside beside;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times[i] > 0 && workload.recorded[i].start_is_known())
      beside.add(waited[i] / times[i], workload.recorded[i].wait, workload.run_times[i]);
  return beside.conclude();
}

}  // namespace rota

#include "rehearse/recorded.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "rehearse/recorded_places.h"
#include "report/reserved.h"

namespace rota {
namespace {

Job job_of(const log::Workload& workload, std::size_t i, const RehearseOptions& options) {
  const log::RecordedJob& what = workload.recorded[i];
  Job job;
  job.spec = asked(workload.jobs[i], options);
  job.spec.limit = limit_of(workload, i, options);
  job.spec.partition = options.machine ? named_partition(workload, *options.machine, job.spec) : PartitionId{};
  if (options.clamp && job.spec.processors > options.processors)
    job.spec.processors = static_cast<std::uint32_t>(options.processors);
  job.expected = job.spec.limit;
  if (!what.start_is_known()) return job;  // as one that never started
  job.done = what.earlier + what.kept;     // whether it was in vain is not told: the processors were in use
  job.start = job.spec.submit + what.wait + job.done;
  job.stood = what.suspended;
  job.end = job.start + (workload.run_times[i] - what.kept) + job.stood;
  // Taken back while it ran: it took that long, as others that have ended.
  job.cancelling = what.state == JobState::cancelled;
  job.state = job.cancelling ? JobState::completed : what.state;
  job.backfilled = what.backfilled;
  job.backfills = what.backfills;
  job.preemptions = what.preemptions;
  return job;
}

// Where the jobs ran, as far as the log tells it and the cluster has these nodes.
std::optional<RecordedPlaces> places_of(const log::Workload& workload, const RehearseOptions& options) {
  const bool told = workload.node_lists && options.machine && options.machine->sites.size() <= 1;
  return told ? std::optional<RecordedPlaces>(std::in_place, workload, *options.machine) : std::nullopt;
}

void add_places(const RecordedPlaces& places, const log::Workload& workload, report::Outcome& outcome) {
  std::vector<StartNote> notes(outcome.jobs.size());
  bool any = false;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    notes[i].where = places.of(workload.warm_up + i);
    any = any || !notes[i].where.empty();
  }
  if (any) outcome.starts = std::move(notes);
}

}  // namespace

bool tells_recorded(const log::Workload& workload) {
  return std::ranges::any_of(workload.recorded, &log::RecordedJob::start_is_known);
}

Result<Rehearsed> recorded(const log::Workload& workload, const RehearseOptions& options) {
  if (!tells_recorded(workload)) {
    return fail(workload.name +
                ": the log does not say how long any job waited (in SWF that is field 3), so that there is no row "
                "\"recorded\"; leave it out of --policy.");
  }
  Rehearsed result;
  report::Outcome& outcome = result.outcome;
  outcome.workload = workload.name;
  outcome.policy = kRecorded;
  outcome.processors = options.processors;
  outcome.unix_start = workload.unix_start;
  if (options.machine) outcome.reserved = report::reservations_of(*options.machine, workload.unix_start);
  outcome.recorded = true;
  outcome.warm_up = workload.warm_up;
  outcome.counts_dispatches = workload.recorded_dispatches;
  if (options.machine && options.machine->sites.size() <= 1) outcome.machine = options.machine;
  const auto places = places_of(workload, options);
  report::Tally tally;
  if (options.keep_jobs) outcome.jobs.reserve(workload.jobs.size());
  for (std::size_t i = workload.warm_up; i < workload.jobs.size(); ++i) {
    const Job job = job_of(workload, i, options);
    const bool holds_more = places && (job.spec.accelerators > 0 || job.spec.memory > 0);
    const std::size_t nodes = holds_more ? places->of(i).size() : 0;
    tally.add(job, std::max({static_cast<std::uint32_t>(nodes), job.spec.nodes, 1U}));
    if (!options.keep_jobs) continue;
    outcome.jobs.push_back(job);
    outcome.ended_as.push_back(workload.recorded[i].state);
  }
  if (places && options.keep_jobs) add_places(*places, workload, outcome);
  result.summary = tally.conclude(outcome);
  return result;
}

}  // namespace rota

#include "cli/rehearse.h"

#include <algorithm>
#include <ctime>

namespace rota::cli {
namespace {

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

report::Grant grant_of(const GrantRecord& record, const View& view) {
  const Reason& why = record.action.reason;
  return {view.job(record.action.job).spec.number,
          record.at,
          record.action.until,
          why.promised.valid() ? view.job(why.promised).spec.number : -1,
          why.promise,
          why.free,
          why.needed};
}

}  // namespace

std::optional<sim::Arrival> WorkloadSource::next() {
  if (next_ == workload_.jobs.size()) return std::nullopt;
  sim::Arrival arrival{workload_.jobs[next_], workload_.run_times[next_]};
  ++next_;
  JobSpec& spec = arrival.spec;
  if (options_.ties == sim::Ties::submit_first) {  // the published schedules cut the run at the limit, and plan with both
    const Duration asked = spec.limit;
    spec.limit = std::max(asked, arrival.run_time);
    arrival.run_time = std::min(asked, arrival.run_time);
  }
  if (options_.exact_estimates) spec.limit = arrival.run_time;
  if (options_.clamp) spec.processors = static_cast<std::uint32_t>(std::min<std::int64_t>(spec.processors, options_.processors));
  return arrival;
}

Result<report::Outcome> rehearse(const trace::Workload& workload, const Chain& chain, const RehearseOptions& options) {
  const double begin = cpu_seconds();
  WorkloadSource source(workload, options);
  sim::RehearsalOptions how;
  how.processors = options.processors;
  how.engine.ties = options.ties;
  how.jobs_hint = workload.jobs.size();
  how.progress = options.progress;
  sim::Rehearsal rehearsal(how, chain, source);
  if (auto done = rehearsal.run(); !done) return std::unexpected(done.error());
  Controller& controller = rehearsal.controller();
  report::Outcome outcome;
  outcome.workload = workload.name;
  outcome.policy = chain.text();
  outcome.processors = options.processors;
  outcome.lost_work = controller.lost_work();
  outcome.plan_hash = controller.plan_hash();
  outcome.cycles = controller.cycles();
  outcome.referee_checks = controller.referee_checks();
  for (const GrantRecord& g : controller.grants()) outcome.grants.push_back(grant_of(g, controller.view()));
  outcome.jobs = controller.cluster().take_jobs();
  outcome.cpu_seconds = cpu_seconds() - begin;
  return outcome;
}

}  // namespace rota::cli

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

// Keeps every job as it was when it ended, in order of submission.
class Collector final : public JobSink {
 public:
  explicit Collector(std::size_t jobs) : jobs_(getenv("KEEP") ? jobs : 0) {}
  void left(JobId id, const Job& job) override { if (!jobs_.empty()) jobs_[id.value] = job; waits.push_back((job.start-job.spec.submit).count()); sum += double(waits.back()); }
  std::vector<std::int64_t> waits; double sum=0;
  std::vector<Job> take() { return std::move(jobs_); }

 private:
  std::vector<Job> jobs_;
};

}  // namespace

bool WorkloadSource::next(sim::Arrival& arrival) {
  if (next_ == workload_.jobs.size()) return false;
  arrival = {workload_.jobs[next_], workload_.run_times[next_]};
  ++next_;
  JobSpec& spec = arrival.spec;
  if (options_.ties == sim::Ties::submit_first) {  // the published schedules cut the run at the limit, and plan with both
    const Duration asked = spec.limit;
    spec.limit = std::max(asked, arrival.run_time);
    arrival.run_time = std::min(asked, arrival.run_time);
  }
  if (options_.exact_estimates) spec.limit = arrival.run_time;
  if (options_.clamp) spec.processors = static_cast<std::uint32_t>(std::min<std::int64_t>(spec.processors, options_.processors));
  return true;
}

Result<report::Outcome> rehearse(const trace::Workload& workload, const Chain& chain, const RehearseOptions& options) {
  const double begin = cpu_seconds();
  WorkloadSource source(workload, options);
  sim::RehearsalOptions how;
  how.processors = options.processors;
  how.engine.ties = options.ties;
  how.progress = options.progress;
  Collector collector(workload.jobs.size());
  sim::Rehearsal rehearsal(how, chain, source, collector);
  if (auto done = rehearsal.run(); !done) return std::unexpected(done.error());
  const Controller& controller = rehearsal.controller();
  report::Outcome outcome;
  outcome.workload = workload.name;
  outcome.policy = chain.text();
  outcome.processors = options.processors;
  outcome.lost_work = controller.lost_work();
  outcome.plan_hash = controller.plan_hash();
  outcome.cycles = controller.cycles();
  outcome.referee_checks = controller.referee_checks();
  outcome.jobs = collector.take();
  outcome.cpu_seconds = cpu_seconds() - begin;
  return outcome;
}

}  // namespace rota::cli

#include "rehearse/jobs_swf.h"

#include <fmt/core.h>

#include "log/swf_writer.h"

namespace rota {
namespace {

using log::SwfField;

// The log's number of it; UINT32_MAX: unknown.
std::int64_t number_of(std::uint32_t id) { return id == UINT32_MAX ? -1 : std::int64_t{id}; }

std::int64_t status_of(const Job& job, JobState state) {
  if (state == JobState::completed) return log::kSwfCompleted;
  return job.ended() && state != JobState::cancelled ? log::kSwfFailed : log::kSwfCancelled;
}

// In a rehearsal partitions are those of the cluster file; the labels have the log's.
log::SwfRow row_of(const report::Outcome& outcome, std::size_t i) {
  const Job& job = outcome.jobs[i];
  const report::JobLabels* const labels = outcome.labels.get();
  log::SwfRow row = log::swf_row(job.spec, job.ended() ? job.run_time() : seconds(-1));
  if (job.spec.limit >= kLongest) row.set(SwfField::requested_time, -1);
  if (labels != nullptr && i < labels->partition.size()) row.set(SwfField::partition, number_of(labels->partition[i]));
  if (labels != nullptr && i < labels->queue.size()) row.set(SwfField::queue, number_of(labels->queue[i]));
  if (job.ended()) {
    row.set_milli(SwfField::wait, job.wait().count());
  } else {
    row.set(SwfField::processors, -1);
  }
  row.set(SwfField::status, status_of(job, job.ended() ? outcome.state_of(i) : job.state));
  return row;
}

}  // namespace

void write_jobs_swf(std::ostream& out, const report::Outcome& outcome, const log::Workload& workload) {
  log::SwfWriter writer(out);
  log::LogTop top;
  top.computer = "rehearsed by Rota";
  top.rows = static_cast<std::int64_t>(outcome.jobs.size());
  top.unix_start = workload.unix_start;
  top.nodes = workload.nodes;
  top.processors = outcome.processors;
  top.notes = {
      fmt::format("{} under the policy {}; waits and run times are the rehearsal's", outcome.workload, outcome.policy)};
  top.partitions = workload.partitions;
  top.users = workload.users;
  top.groups = workload.groups;
  top.queues = workload.queues;
  writer.top(top);
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) writer.row(row_of(outcome, i));
}

}  // namespace rota

#include "rehearse/jobs_swf.h"

#include "log/swf_writer.h"

namespace rota {
namespace {

using log::SwfField;

int status_of(const Job& job) {
  if (job.state == JobState::completed) return 1;
  return job.state == JobState::timed_out ? 0 : 5;
}

log::SwfRow row_of(const Job& job) {
  log::SwfRow row = log::swf_row(job.spec, job.ended() ? job.run_time() : seconds(-1));
  if (job.ended()) {
    row.set_milli(SwfField::wait, job.wait().count());
  } else {
    row.set(SwfField::processors, -1);
  }
  row.set(SwfField::status, status_of(job));
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
  top.notes = {outcome.workload + " under the policy " + outcome.policy + "; waits and run times are the rehearsal's"};
  top.partitions = workload.partitions;
  top.users = workload.users;
  writer.top(top);
  for (const Job& job : outcome.jobs) writer.row(row_of(job));
}

}  // namespace rota

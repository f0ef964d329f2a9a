#include "report/jobs_file.h"

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "model/fact_fields.h"
#include "report/rows.h"

namespace rota::report {
namespace {

std::string_view name_of(JobState state) { return ValueNames<JobState>::names[static_cast<std::size_t>(state)]; }

void optional_instant(Rows& rows, Instant at) {
  if (at != kNever) rows.seconds(at);
  rows.text(",");
}

void csv_row(Rows& rows, const Job& job) {
  rows.integer(job.spec.number);
  rows.text(",");
  rows.seconds(job.spec.submit);
  rows.text(",");
  optional_instant(rows, job.start);
  optional_instant(rows, job.end);
  if (job.start != kNever) rows.seconds(job.wait());
  rows.text(",");
  rows.integer(job.spec.processors);
  rows.text(",");
  rows.seconds(job.spec.limit);
  rows.text(",");
  if (job.spec.user != UINT32_MAX) rows.integer(job.spec.user);
  rows.text(job.backfilled ? ",1," : ",0,");
  rows.integer(job.kills);
  rows.text(",");
  optional_instant(rows, job.first_promise);
  rows.text(name_of(job.state));
}

}  // namespace

void write_jobs_csv(std::ostream& out, const Outcome& outcome) {
  const std::vector<std::int64_t>& energy = outcome.energy_of_jobs;
  const std::vector<Cost>& cost = outcome.cost_of_jobs;
  out << "number,submit,start,end,wait,processors,limit,user,backfilled,kills,first_promise,state"
      << (outcome.sites.empty() ? "" : ",site") << (energy.empty() ? "" : ",energy_j")
      << (cost.empty() ? "\n" : ",cost\n");
  std::vector<std::string> sites;
  sites.reserve(outcome.sites.size());
  for (const std::string& name : outcome.sites) sites.push_back(csv_cell(name));
  Rows rows(out);
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    csv_row(rows, outcome.jobs[i]);
    if (!sites.empty()) {
      rows.text(",");
      if (outcome.site_of[i].valid()) rows.long_text(sites[outcome.site_of[i].value]);
    }
    if (!energy.empty()) rows.text(",");
    if (!energy.empty()) rows.thousandths(i < energy.size() ? (energy[i] + 500) / 1000 : 0);
    if (!cost.empty()) rows.text(",");
    if (!cost.empty()) rows.millionths(i < cost.size() ? cost[i].rounded() : 0);
    rows.text("\n");
  }
  rows.flush();
}

}  // namespace rota::report

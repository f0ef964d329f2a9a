#include "report/jobs_file.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "model/fact_fields.h"
#include "report/rows.h"
#include "report/start_reason.h"

namespace rota::report {
namespace {

std::string_view name_of(JobState state) { return ValueNames<JobState>::names[static_cast<std::size_t>(state)]; }

void optional_instant(Rows& rows, Instant at) {
  if (at != kNever) rows.seconds(at);
  rows.text(",");
}

bool tells_standstills(const Outcome& outcome) {
  return std::ranges::any_of(outcome.jobs, [](const Job& job) { return job.ended() && job.stood > Duration{0}; });
}

void csv_row(Rows& rows, const Job& job, JobState state) {
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
  if (job.spec.limit < kLongest) rows.seconds(job.spec.limit);
  rows.text(",");
  if (job.spec.user != UINT32_MAX) rows.integer(job.spec.user);
  rows.text(job.backfilled ? ",1," : ",0,");
  rows.integer(job.kills);
  rows.text(",");
  optional_instant(rows, was_promised(job) ? job.first_promise : kNever);
  rows.text(name_of(state));
}

// Where a job ran and why it started when it did.
struct Notes {
  const Outcome& outcome;

  explicit Notes(const Outcome& from) : outcome(from) {}

  bool any() const { return !outcome.starts.empty(); }
  void write(Rows& rows, std::size_t i) const {
    rows.text(",");
    rows.long_text(csv_cell(partition_of(i)));
    rows.text(",");
    const StartNote* const note = i < outcome.starts.size() ? &outcome.starts[i] : nullptr;
    if (note != nullptr) rows.long_text(csv_cell(nodes_of(*note)));
    rows.text(",");
    if (note != nullptr && note->started) rows.long_text(csv_cell(start_reason(*note, outcome.unix_start)));
  }

 private:
  std::string partition_of(std::size_t i) const {
    const PartitionId own = outcome.jobs[i].spec.partition;
    if (outcome.machine && own.valid() && own.value < outcome.machine->partitions.size())
      return outcome.machine->partitions[own.value].name;
    if (!outcome.labels || i >= outcome.labels->partition.size()) return "";
    const std::uint32_t number = outcome.labels->partition[i];
    const auto named_so = outcome.labels->partitions.find(number);
    if (named_so != outcome.labels->partitions.end()) return named_so->second;
    return number == UINT32_MAX ? "" : std::to_string(number);
  }

  // In the order of the cluster file, with blanks between them.
  std::string nodes_of(const StartNote& note) const {
    if (!outcome.machine) return "";
    std::vector<std::uint32_t> indexes;
    indexes.reserve(note.where.size());
    for (const Share& share : note.where) indexes.push_back(share.node.value);
    std::ranges::sort(indexes);
    std::string names;
    for (const std::uint32_t index : indexes) names += (names.empty() ? "" : " ") + outcome.machine->nodes[index].name;
    return names;
  }
};

}  // namespace

void write_jobs_csv(std::ostream& out, const Outcome& outcome) {
  const std::vector<std::int64_t>& energy = outcome.energy_of_jobs;
  const std::vector<Cost>& cost = outcome.cost_of_jobs;
  const Notes notes(outcome);
  const bool standstills = tells_standstills(outcome);
  out << "number,submit,start,end,wait,processors,limit,user,backfilled,kills,first_promise,state"
      << (standstills ? ",suspended" : "") << (outcome.sites.empty() ? "" : ",site")
      << (energy.empty() ? "" : ",energy_j") << (cost.empty() ? "" : ",cost")
      << (notes.any() ? ",partition,nodes,why\n" : "\n");
  std::vector<std::string> sites;
  sites.reserve(outcome.sites.size());
  for (const std::string& name : outcome.sites) sites.push_back(csv_cell(name));
  Rows rows(out);
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    csv_row(rows, outcome.jobs[i], outcome.state_of(i));
    if (standstills) rows.text(",");
    if (standstills && outcome.jobs[i].ended()) rows.seconds(outcome.jobs[i].stood);
    if (!sites.empty()) {
      rows.text(",");
      if (outcome.site_of[i].valid()) rows.long_text(sites[outcome.site_of[i].value]);
    }
    if (!energy.empty()) rows.text(",");
    if (!energy.empty()) rows.thousandths(i < energy.size() ? (energy[i] + 500) / 1000 : 0);
    if (!cost.empty()) rows.text(",");
    if (!cost.empty()) rows.millionths(i < cost.size() ? cost[i].rounded() : 0);
    if (notes.any()) notes.write(rows, i);
    rows.text("\n");
  }
  rows.flush();
}

}  // namespace rota::report

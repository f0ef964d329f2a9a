#include "cli/kept_state.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "site/service_file.h"
#include "store/sqlite_reader.h"

namespace rota::cli {
namespace {

std::string database_of(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? path + "/rota.db" : path;
}

// How a job that ran has ended; nothing of one that never ran.
std::optional<JobState> end_of(const store::HistoryRow& row) {
  static constexpr std::array<std::pair<std::string_view, JobState>, 6> kStates{
      {{"COMPLETED", JobState::completed},
       {"FAILED", JobState::failed},
       {"TIMEOUT", JobState::timed_out},
       {"NODE_FAIL", JobState::node_failed},
       {"OUT_OF_MEMORY", JobState::out_of_memory},
       {"CANCELLED", JobState::completed}}};  // while it ran: it took that long
  const auto found = std::ranges::find(kStates, row.state, [](const auto& s) { return s.first; });
  if (found == kStates.end() || row.start == kNever || row.end <= row.start) return std::nullopt;
  return found->second;
}

Job job_of(const store::HistoryRow& row, JobState state, const Machine& machine) {
  Job job;
  job.spec.number = row.number;
  job.spec.submit = row.submit;
  job.spec.limit = std::max(row.limit, Duration{1});
  job.spec.memory = row.memory;
  job.spec.processors = row.processors;
  job.spec.nodes = row.node_count;
  job.spec.user = row.uid;
  const auto partition = std::ranges::find(machine.partitions, row.partition, &Partition::name);
  if (partition != machine.partitions.end())
    job.spec.partition = PartitionId{static_cast<std::uint32_t>(partition - machine.partitions.begin())};
  job.start = row.start;
  job.end = row.end;
  job.done = std::max(Duration{0}, row.start - row.submit - row.waited);
  job.state = state;
  return job;
}

}  // namespace

bool is_state(const std::string& path) {
  const std::string database = database_of(path);
  return path != "-" && ::access(database.c_str(), R_OK) == 0 && store::is_database(database);
}

Result<KeptState> read_state(const std::string& path) {
  const std::string database = database_of(path);
  auto reader = store::SqliteReader::open(database);
  if (!reader) return std::unexpected(reader.error());
  auto site = site::parse_configuration(reader->head().cluster, shown_path(database));
  if (!site) return std::unexpected(site.error());
  auto rows = reader->history({});
  if (!rows) return std::unexpected(rows.error());
  KeptState state;
  state.machine = std::make_shared<const Machine>(std::move(site->machine));
  log::Workload& workload = state.workload;
  workload.name = state.machine->name;
  workload.processors = state.machine->processors;
  workload.unix_start = reader->head().unix_start;
  for (std::size_t p = 0; p < state.machine->partitions.size(); ++p)
    workload.partitions[static_cast<std::uint32_t>(p)] = state.machine->partitions[p].name;
  std::ranges::sort(*rows, {}, [](const auto& row) { return std::pair(row.submit, row.number); });
  report::Tally tally;
  for (const store::HistoryRow& row : *rows) {
    ++workload.report.rows;
    const auto end = end_of(row);
    if (!end) {
      workload.report.note("job that never ran: left out", row.number);
      continue;
    }
    const Job job = job_of(row, *end, *state.machine);
    tally.add(job);
    workload.jobs.push_back(job.spec);
    workload.run_times.push_back(job.run_time());
    workload.users.try_emplace(row.uid, row.user);
    ++workload.report.kept;
  }
  if (workload.jobs.empty()) return fail(shown_path(path) + ": no job has run yet; there is nothing to rehearse.");
  report::Outcome run;
  run.workload = workload.name;
  run.policy = "recorded";
  run.processors = workload.processors;
  state.recorded = tally.conclude(run);
  return state;
}

}  // namespace rota::cli

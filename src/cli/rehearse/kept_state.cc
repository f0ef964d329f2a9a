#include "cli/rehearse/kept_state.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "log/node_lists.h"
#include "serve/after_text.h"
#include "serve/file_in_use.h"
#include "site/service_file.h"
#include "store/row_spec.h"
#include "store/sqlite_reader.h"

namespace rota::cli {
namespace {

// How a job that ran has ended; nothing of one that never ran.
std::optional<JobState> end_of(const store::HistoryRow& row) {
  static constexpr std::array<std::pair<std::string_view, JobState>, 7> kStates{
      {{"COMPLETED", JobState::completed},
       {"FAILED", JobState::failed},
       {"TIMEOUT", JobState::timed_out},
       {"NODE_FAIL", JobState::node_failed},
       {"OUT_OF_MEMORY", JobState::out_of_memory},
       {"UNKNOWN", JobState::unknown},
       {"CANCELLED", JobState::cancelled}}};  // while it ran: it took that long
  const auto found = std::ranges::find(kStates, row.state, [](const auto& s) { return s.first; });
  if (found == kStates.end() || row.start == kNever || row.end <= row.start) return std::nullopt;
  return found->second;
}

// What jobs waited for. Each did run, so whatever it waited for came about: how the others ended is of no matter.
class KeptTerms {
 public:
  explicit KeptTerms(const std::vector<store::HistoryRow>& rows) {  // that ran, by submission
    for (const store::HistoryRow& row : rows) {
      const auto place = static_cast<std::uint32_t>(rows_.size());
      rows_.push_back(&row);
      places_[row.number] = place;
      namesakes_[{row.uid, row.name}].push_back(place);
      if (row.array > 0) tasks_[row.array][row.array_index] = place;
    }
  }

  std::map<std::uint32_t, JobTerms> all() {
    std::map<std::uint32_t, JobTerms> all;
    for (std::uint32_t place = 0; place < rows_.size(); ++place) {
      const store::RareRequest& asked = rows_[place]->asked;
      if (asked.after.empty() && asked.throttle == 0 && asked.not_before == kEpoch) continue;
      JobTerms& terms = all[place];
      terms.begin = asked.not_before;
      terms.throttle = asked.throttle;
      terms.array = asked.throttle > 0 ? rows_[place]->array : 0;
      for (const std::string& text : asked.after) add(text, place, terms.after);
    }
    return all;
  }

 private:
  using When = Dependency::When;

  void add(std::string_view text, std::uint32_t place, std::vector<Dependency>& after) const {
    if (text == "singleton") return add_namesakes(place, after);
    const auto pieces = split(text, ':');
    const When when = pieces.front() == "after" ? When::started : When::ended;
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      const auto bar = pieces[i].find('_');
      const auto number = parse_integer(pieces[i].substr(0, bar));
      std::optional<std::int64_t> index;
      if (bar != std::string_view::npos) {
        index = parse_integer(pieces[i].substr(bar + 1)).value_or(-1);
      } else if (pieces.front() == "aftercorr") {
        index = rows_[place]->array_index;
      }
      if (number) add(*number, index, {place, when}, after);
    }
  }

  // A job, or tasks of an array, that came before.
  void add(std::int64_t number, std::optional<std::int64_t> index, std::pair<std::uint32_t, When> whose,
           std::vector<Dependency>& after) const {
    const auto add_one = [&](std::uint32_t on) {
      if (on < whose.first) after.push_back({JobId{on}, whose.second});
    };
    if (const auto array = tasks_.find(number); array != tasks_.end()) {
      for (const auto& [task, on] : array->second) {
        if (!index || *index == task) add_one(on);
      }
    } else if (const auto one = places_.find(number); one != places_.end()) {
      add_one(one->second);
    }
  }

  // Adds jobs of the same user and name that were there when it came; one that waited for its namesakes itself stands
  // for all before it.
  void add_namesakes(std::uint32_t place, std::vector<Dependency>& after) const {
    const store::HistoryRow& own = *rows_[place];
    const std::vector<std::uint32_t>& all = namesakes_.at({own.uid, own.name});
    for (auto on = std::ranges::lower_bound(all, place); on != all.begin();) {
      if (rows_[*--on]->end > own.submit) after.push_back({JobId{*on}, When::ended});
      if (serve::is_singleton(rows_[*on]->asked.after)) return;
    }
  }

  std::vector<const store::HistoryRow*> rows_;
  std::map<std::int64_t, std::uint32_t> places_;                                                // by number
  std::map<std::pair<std::uint32_t, std::string_view>, std::vector<std::uint32_t>> namesakes_;  // by user and name
  std::map<std::int64_t, std::map<std::int64_t, std::uint32_t>> tasks_;
};

// How long a job ran before its last start, whether that was in vain or not; and what it kept of that, which is part of
// its run time.
struct EarlierRuns {
  Duration all{0};
  Duration kept{0};
};

EarlierRuns earlier_runs(const store::HistoryRow& row) {
  const Duration before = row.start - row.submit;
  const auto within = [&](Duration time) { return std::clamp(time, Duration{0}, before); };
  EarlierRuns runs{.all = within(row.asked.earlier), .kept = within(before - row.waited)};
  // For a job that left while it waited again, what is told of the wait goes on behind its last run.
  if (row.asked.waited_again > Duration{0}) runs.kept = row.asked.checkpoint ? runs.all : Duration{0};
  runs.all = std::max(runs.all, runs.kept);  // older services did not keep it
  return runs;
}

log::RecordedJob recorded_of(const store::HistoryRow& row, JobState state) {
  log::RecordedJob recorded;
  const EarlierRuns runs = earlier_runs(row);
  recorded.wait = row.start - row.submit - runs.all;
  recorded.earlier = runs.all - runs.kept;
  recorded.kept = runs.kept;
  recorded.state = state;
  // Whatever is recorded, it did run.
  recorded.suspended = std::clamp(row.asked.suspended, Duration{0}, row.end - row.start - Duration{1});
  recorded.backfills = static_cast<std::uint16_t>(row.backfills);
  recorded.preemptions = static_cast<std::uint16_t>(row.preemptions);
  // For a job that began anew, it is not kept which of its dispatches were backfilled, unless all were.
  recorded.backfilled = row.backfills > row.restarts;
  return recorded;
}

}  // namespace

std::string database_of(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? path + "/rota.db" : path;
}

bool is_state(const std::string& path) {
  const std::string database = database_of(path);
  return path != "-" && ::access(database.c_str(), R_OK) == 0 && store::is_database(database);
}

Result<KeptState> read_state(const std::string& path) {
  const std::string database = database_of(path);
  auto reader = TRY(store::SqliteReader::open(database));
  auto site = TRY(site::parse_configuration(reader.head().cluster, shown_path(database)));
  auto rows = TRY(reader.history({}));
  KeptState state;
  state.policy = reader.head().policy;
  state.machine = std::make_shared<const Machine>(std::move(site.machine));
  log::Workload& workload = state.workload;
  workload.name = state.machine->name;
  workload.processors = state.machine->processors;
  workload.unix_start = reader.head().unix_start;
  for (std::size_t p = 0; p < state.machine->partitions.size(); ++p)
    workload.partitions[static_cast<std::uint32_t>(p)] = state.machine->partitions[p].name;
  for (std::uint32_t q = 0; q < state.machine->qos.size(); ++q) {
    workload.qos.push_back(q);
    workload.queues[q] = state.machine->qos[q].name;
  }
  for (store::HistoryRow& row : rows) row.end -= row.asked.waited_again;
  std::ranges::sort(rows, {}, [](const auto& row) { return std::pair(row.submit, row.number); });
  workload.report.rows = static_cast<std::int64_t>(rows.size());
  std::int64_t never_ran = 0, first = 0;
  std::erase_if(rows, [&](const store::HistoryRow& row) {
    const bool ran = end_of(row).has_value();
    if (!ran && never_ran++ == 0) first = row.number;
    return !ran;
  });
  if (never_ran > 0)  // of jobs: a database has no lines
    workload.report.findings.push_back(
        {"jobs that never ran: left out, the first is job " + std::to_string(first), never_ran, 0, true});
  const auto not_ended = TRY(reader.count_not_ended());
  if (not_ended > 0)
    workload.report.findings.push_back(
        {"jobs that wait or run yet: left out, so that others find the room free that these have", not_ended, 0, true});
  workload.terms = KeptTerms(rows).all();
  workload.recorded_dispatches = true;
  const auto lists = std::make_shared<log::NodeLists>();
  workload.node_lists = lists;
  for (const store::HistoryRow& row : rows) {
    const log::RecordedJob& recorded = workload.recorded.emplace_back(recorded_of(row, *end_of(row)));
    workload.recorded.back().ran_on = lists->number_of(row.nodes);
    workload.jobs.push_back(store::spec_of(row, *state.machine));
    const Duration ran = row.end - row.submit - recorded.wait - recorded.earlier - recorded.suspended;
    // For how long it would have gone on is not known, but it would: a rehearsal stops it at its limit, too.
    const bool stopped = recorded.state == JobState::timed_out;
    workload.run_times.push_back(stopped ? std::max(ran, workload.jobs.back().limit + Duration{1}) : ran);
    workload.users.try_emplace(row.uid, row.user);
    if (const std::string account = text_of(row.asked.texts, "account"); !account.empty()) {
      const std::uint32_t group = serve::account_number(account);
      workload.jobs.back().group = group;
      workload.groups.try_emplace(group, account);
    }
    ++workload.report.kept;
  }
  if (workload.jobs.empty()) return fail(shown_path(path) + ": no job has run yet; there is nothing to rehearse.");
  return state;
}

}  // namespace rota::cli

#include "report/batsim_file.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <tuple>
#include <utility>

#include "report/rows.h"

namespace rota::report {
namespace {

// Free processors as ranges, first to behind the last. There is always one without an end.
class FreeRanges {
 public:
  FreeRanges() { ranges_[0] = INT64_MAX; }

  std::vector<std::pair<std::int64_t, std::int64_t>> occupy(std::int64_t count) {
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    while (count > 0) {
      const auto first = ranges_.begin();
      const auto [from, to] = *first;
      const std::int64_t end = std::min(to, from + count);
      ranges_.erase(first);
      if (end < to) ranges_[end] = to;
      taken.emplace_back(from, end);
      count -= end - from;
    }
    return taken;
  }

  void give(std::int64_t from, std::int64_t to) {
    const auto after = ranges_.lower_bound(from);
    if (after != ranges_.end() && after->first == to) {
      to = after->second;
      ranges_.erase(after);
    }
    const auto next = ranges_.lower_bound(from);
    if (next != ranges_.begin() && std::prev(next)->second == from) {
      std::prev(next)->second = to;
    } else {
      ranges_[from] = to;
    }
  }

 private:
  std::map<std::int64_t, std::int64_t> ranges_;
};

const char* final_state(const Job& job, JobState state) {
  switch (state) {
    case JobState::completed:
      return "COMPLETED_SUCCESSFULLY";
    case JobState::timed_out:
      return "COMPLETED_WALLTIME_REACHED";
    case JobState::rejected:
      return "REJECTED";
    default:
      return job.ended() ? "COMPLETED_KILLED" : "NOT_SUBMITTED";
  }
}

void write_row(Rows& rows, const Job& job, JobState state, const std::string& name) {
  const bool ran = job.ended() && job.state != JobState::rejected;
  const Duration run = ran ? job.end - job.start : Duration{0};
  const Duration wait = ran ? job.start - job.spec.submit : Duration{0};
  rows.integer(job.spec.number);
  rows.text(",");
  rows.long_text(name);
  rows.text(",");
  rows.integer(job.spec.number);
  rows.text(",");
  rows.seconds(job.spec.submit);
  rows.text(",");
  rows.integer(job.spec.processors);
  rows.text(",");
  rows.seconds(job.spec.limit < kLongest ? job.spec.limit : seconds(-1));
  rows.text(state == JobState::completed ? ",1," : ",0,");
  rows.text(final_state(job, state));
  rows.text(",");
  rows.seconds(ran ? job.start : kEpoch - seconds(1));
  rows.text(",");
  rows.seconds(run);
  rows.text(",");
  rows.seconds(ran ? job.end : kEpoch - seconds(1));
  rows.text(",");
  rows.seconds(ran ? wait : seconds(-1));
  rows.text(",");
  rows.seconds(ran ? wait + run : seconds(-1));
  rows.text(",");
  if (run.count() > 0) {
    rows.thousandths((wait + run).count() * 1000 / run.count());
  } else {
    rows.integer(ran ? 1 : -1);
  }
  rows.text(",");
}

}  // namespace

std::vector<std::string> dealt_processors(const Outcome& outcome) {
  std::vector<std::tuple<Instant, bool, std::size_t>> events;  // ends first at one instant
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    const Job& job = outcome.jobs[i];
    if (!job.ended() || job.state == JobState::rejected || job.end <= job.start) continue;
    events.emplace_back(job.start, true, i);
    events.emplace_back(job.end, false, i);
  }
  std::ranges::sort(events);
  FreeRanges free;
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> held(outcome.jobs.size());
  std::vector<std::string> places(outcome.jobs.size());
  for (const auto& [at, starts, i] : events) {
    if (!starts) {
      for (const auto& [from, to] : held[i]) free.give(from, to);
      held[i].clear();
      continue;
    }
    held[i] = free.occupy(outcome.jobs[i].spec.processors);
    for (const auto& [from, to] : held[i]) {
      places[i] += (places[i].empty() ? "" : " ") + std::to_string(from);
      if (to > from + 1) places[i] += "-" + std::to_string(to - 1);
    }
  }
  return places;
}

void write_jobs_batsim(std::ostream& out, const Outcome& outcome) {
  const std::vector<std::string> places = dealt_processors(outcome);
  out << "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_"
         "state,"
         "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,"
         "consumed_energy,metadata\n";
  Rows rows(out);
  const std::string name = csv_cell(outcome.workload);
  for (std::size_t i = 0; i < outcome.jobs.size(); ++i) {
    const Job& job = outcome.jobs[i];
    write_row(rows, job, job.ended() ? outcome.state_of(i) : job.state, name);
    rows.long_text(places[i]);
    rows.text(",");
    if (i < outcome.energy_of_jobs.size()) {
      rows.thousandths((outcome.energy_of_jobs[i] + 500) / 1000);
    } else {
      rows.text("-1");
    }
    rows.text(",\n");
  }
  rows.flush();
}

}  // namespace rota::report

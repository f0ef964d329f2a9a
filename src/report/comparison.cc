#include "report/comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <ranges>

#include "base/text.h"
#include "report/readable.h"

namespace rota::report {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string count_text(double value) { return readable_number(value, 0); }
std::string slowdown_text(double value) { return readable_number(value, value < 100'000 ? 2 : 0); }
std::string percent_text(double value) { return readable_percent(value, 1); }
std::string fine_percent_text(double value) { return readable_percent(value, 2); }
// Work is told in hours of one processor, as sites bill it.
std::string hours_text(double processor_seconds) {
  const double hours = processor_seconds / 3600;
  return readable_number(hours, hours != 0 && hours < 100 ? 1 : 0);
}

constexpr std::array kService{
    Figure{"", "jobs", "", "All jobs of the workload.", Better::neither,
           [](const Summary& s) { return static_cast<double>(s.jobs); }, count_text},
    Figure{"", "makespan", "", "From the first submission to the end of the last job.", Better::lower,
           [](const Summary& s) { return to_seconds(s.makespan); }, readable_seconds},
    Figure{"", "used", "%", "Share of all processor time, over the makespan, that jobs computed in.", Better::higher,
           [](const Summary& s) { return s.utilization.value_or(kNone); }, fine_percent_text},
    Figure{"", "accelerators", "%", "Share of all accelerators, over the makespan, that jobs held.", Better::higher,
           [](const Summary& s) { return s.accelerators_used.value_or(kNone); }, fine_percent_text, true},
    Figure{"", "memory", "%", "Share of the memory of all nodes, over the makespan, that jobs held.", Better::higher,
           [](const Summary& s) { return s.memory_used.value_or(kNone); }, fine_percent_text, true},
    Figure{"wait before the start", "mean", "", "Time from submission to start, on average.", Better::lower,
           [](const Summary& s) { return s.wait_mean.value_or(kNone); }, readable_seconds},
    Figure{"wait before the start", "median", "", "Half of the jobs waited no longer than this.", Better::lower,
           [](const Summary& s) { return s.wait_median.value_or(kNone); }, readable_seconds},
    Figure{"wait before the start", "95 %", "", "95 of 100 jobs waited no longer than this.", Better::lower,
           [](const Summary& s) { return s.wait_p95.value_or(kNone); }, readable_seconds},
    Figure{"wait before the start", "longest", "", "The longest wait of all.", Better::lower,
           [](const Summary& s) { return s.wait_max.value_or(kNone); }, readable_seconds},
    Figure{"times slower than alone", "slowdown", "",
           "Mean bounded slowdown: (wait + run) / run, runs below 10 s "
           "counted as 10 s, at least 1.",
           Better::lower, [](const Summary& s) { return s.bounded_slowdown.value_or(kNone); }, slowdown_text},
    Figure{"times slower than alone", "response", "",
           "Mean response ratio: (wait + run) / run, without a bound: very "
           "short jobs weigh heavily.",
           Better::lower, [](const Summary& s) { return s.response_ratio.value_or(kNone); }, slowdown_text},
};

// What a log does not tell of what really happened.
double dispatches(const Summary& s, double value) { return s.counts_dispatches ? value : kNone; }

constexpr std::array kPromises{
    Figure{"backfill", "starts", "", "Starts ahead of a job that was promised one.", Better::neither,
           [](const Summary& s) { return dispatches(s, static_cast<double>(s.backfilled_starts)); }, count_text},
    Figure{"backfill", "kept", "%", "Share of backfilled starts that were not killed to make room for another job.",
           Better::higher, [](const Summary& s) { return s.backfill_completion.value_or(kNone); }, percent_text},
    Figure{"stopped", "killed", "", "Dispatches that were killed to make room; their jobs were queued again.",
           Better::lower, [](const Summary& s) { return dispatches(s, static_cast<double>(s.killed)); }, count_text},
    Figure{"stopped", "lost", "proc h", "Processor hours of the killed dispatches.", Better::lower,
           [](const Summary& s) { return dispatches(s, s.lost_work); }, hours_text},
    Figure{"stopped", "at limit", "", "Jobs that were stopped at their own time limit.", Better::neither,
           [](const Summary& s) { return dispatches(s, static_cast<double>(s.timed_out)); }, count_text},
    Figure{"later than promised", "jobs", "",
           "Jobs that started later than the first start that they were "
           "promised.",
           Better::lower,
           [](const Summary& s) { return s.promises ? dispatches(s, static_cast<double>(s.delayed)) : kNone; },
           count_text},
    Figure{"later than promised", "by", "", "How much later, on average over the late ones.", Better::lower,
           [](const Summary& s) { return s.delay_mean.value_or(kNone); }, readable_seconds},
    Figure{"", "CPU", "", "Processor time that the rehearsal itself took.", Better::neither,
           [](const Summary& s) { return s.recorded ? kNone : s.cpu_seconds; },
           [](double s) { return readable_number(s, 3) + " s"; }},
};

double of_power(const Summary& s, double (*value)(const PowerUse&)) { return s.power ? value(*s.power) : kNone; }
std::string kwh_text(double kwh) { return readable_number(kwh, std::abs(kwh) < 1000 ? 1 : 0); }
std::string two_places(double value) { return readable_number(value, 2); }

double of_loads(const PowerUse& p, double LoadUse::* figure) {
  double most = kNone;
  for (const LoadUse& load : p.loads) most = std::isnan(most) ? load.*figure : std::max(most, load.*figure);
  return most;
}

constexpr std::array kPower{
    Figure{"share of all processor time", "work", "%", "Jobs ran there.", Better::neither,
           [](const Summary& s) { return of_power(s, [](const PowerUse& p) { return p.share(p.work); }); },
           fine_percent_text},
    Figure{"share of all processor time", "idle", "%", "On or booting, and no job ran there.", Better::lower,
           [](const Summary& s) { return of_power(s, [](const PowerUse& p) { return p.share(p.idle); }); },
           fine_percent_text},
    Figure{"share of all processor time", "off", "%", "Switched off.", Better::higher,
           [](const Summary& s) { return of_power(s, [](const PowerUse& p) { return p.share(p.off); }); },
           fine_percent_text},
    Figure{"sent to sleep", "a day", "", "How often a node was sent to sleep in a day, on average.", Better::neither,
           [](const Summary& s) { return of_power(s, [](const PowerUse& p) { return p.cycles_per_node_day(); }); },
           two_places},
    Figure{"in one minute", "switched", "",
           "The most nodes that were woken or sent to sleep within one minute: power-ramp bounds it.", Better::neither,
           [](const Summary& s) {
             return of_power(s, [](const PowerUse& p) {
               return p.most_switched > 0 ? static_cast<double>(p.most_switched) : kNone;
             });
           },
           count_text},
    Figure{"in one minute", "step", "kW",
           "By how much switching changed what all nodes draw within one minute, at most.", Better::neither,
           [](const Summary& s) {
             return of_power(s, [](const PowerUse& p) {
               return p.largest_step > 0 ? static_cast<double>(p.largest_step) * 1e-6 : kNone;
             });
           },
           two_places},
    Figure{"load", "mean", "",
           "What the work in the queue was of what the nodes can do, as the power rule reckons it, over its looks; of "
           "several partitions the highest.",
           Better::neither,
           [](const Summary& s) { return of_power(s, [](const PowerUse& p) { return of_loads(p, &LoadUse::mean); }); },
           two_places},
    Figure{"load", "most", "", "The most of that.", Better::neither,
           [](const Summary& s) { return of_power(s, [](const PowerUse& p) { return of_loads(p, &LoadUse::most); }); },
           two_places},
    Figure{"load", "fragments", "nodes",
           "Idle nodes that were too few for any job that waited: the mean over its looks.", Better::neither,
           [](const Summary& s) {
             return of_power(s, [](const PowerUse& p) { return of_loads(p, &LoadUse::fragments); });
           },
           two_places},
    Figure{"boots", "failed", "", "Boots after which the node was off again.", Better::neither,
           [](const Summary& s) {
             return of_power(
                 s, [](const PowerUse& p) { return p.failed_boots > 0 ? static_cast<double>(p.failed_boots) : kNone; });
           },
           [](double count) { return readable_number(count, 0); }},
    Figure{"energy", "used", "kWh", "What all nodes drew.", Better::lower,
           [](const Summary& s) { return of_power(s, [](const PowerUse& p) { return p.used().value_or(kNone); }); },
           kwh_text},
    Figure{"energy", "than 1st", "kWh",
           "Less than under the first policy that was metered; negative: more. Each until its own last job is gone.",
           Better::higher, [](const Summary& s) { return s.less_than_first.value_or(kNone); }, kwh_text},
    Figure{"energy", "saved", "kWh", "Less than the same schedule draws on nodes that never sleep.", Better::higher,
           [](const Summary& s) { return of_power(s, [](const PowerUse& p) { return p.saved().value_or(kNone); }); },
           kwh_text},
    Figure{"energy", "cost", "", "At the electricity price of the cluster file, by the time of day where it says so.",
           Better::lower,
           [](const Summary& s) { return of_power(s, [](const PowerUse& p) { return p.cost.value_or(kNone); }); },
           two_places},
    Figure{
        "energy", "cost saved", "", "Less than the same jobs cost on nodes that never sleep.", Better::higher,
        [](const Summary& s) { return of_power(s, [](const PowerUse& p) { return p.saved_cost().value_or(kNone); }); },
        two_places},
    Figure{"energy", "CO2", "kg", "At the CO2 of the cluster file.", Better::lower,
           [](const Summary& s) {
             return of_power(s, [](const PowerUse& p) { return p.co2_kilograms().value_or(kNone); });
           },
           kwh_text},
};

std::string bytes_text(double bytes) { return bytes == 0 ? "0" : format_size(static_cast<std::int64_t>(bytes)); }

constexpr std::array kSites{
    Figure{"", "jobs", "", "Jobs that ran there.", Better::neither,
           [](const Summary& s) { return static_cast<double>(s.jobs); }, count_text},
    Figure{"", "used", "%", "Share of its processor time, over the makespan of all, that jobs computed in.",
           Better::neither, [](const Summary& s) { return s.utilization.value_or(kNone); }, fine_percent_text},
    Figure{"wait", "mean", "", "Time from submission to start, on average.", Better::neither,
           [](const Summary& s) { return s.wait_mean.value_or(kNone); }, readable_seconds},
    Figure{"wait", "95 %", "", "95 of 100 jobs waited no longer than this.", Better::neither,
           [](const Summary& s) { return s.wait_p95.value_or(kNone); }, readable_seconds},
    Figure{"jobs that moved", "in", "", "Jobs of other sites that ran here.", Better::neither,
           [](const Summary& s) { return static_cast<double>(s.exchanged.jobs_in); }, count_text},
    Figure{"jobs that moved", "out", "", "Jobs of this site that ran elsewhere.", Better::neither,
           [](const Summary& s) { return static_cast<double>(s.exchanged.jobs_out); }, count_text},
    Figure{"input that moved", "in", "B", "Bytes of input that came from other sites.", Better::neither,
           [](const Summary& s) { return static_cast<double>(s.exchanged.bytes_in); }, bytes_text},
    Figure{"input that moved", "out", "B", "Bytes of input that went to other sites.", Better::neither,
           [](const Summary& s) { return static_cast<double>(s.exchanged.bytes_out); }, bytes_text},
    Figure{"energy", "used", "kWh", "What its nodes drew.", Better::neither,
           [](const Summary& s) { return of_power(s, [](const PowerUse& p) { return p.used().value_or(kNone); }); },
           kwh_text},
};

constexpr std::array kFairness{
    Figure{"between users", "users", "", "Users whose jobs ran.", Better::neither,
           [](const Summary& s) { return s.users.index ? static_cast<double>(s.users.parties) : kNone; }, count_text},
    Figure{
        "between users", "fairness", "%",
        "Jain's index of the users' mean bounded slowdowns: 100 % where all are served alike, less the more some bear "
        "for others.",
        Better::higher, [](const Summary& s) { return s.users.index.value_or(kNone); }, percent_text},
    Figure{"between users", "worst", "", "Mean bounded slowdown of the user who is served worst.", Better::lower,
           [](const Summary& s) { return s.users.worst.value_or(kNone); }, slowdown_text},
    Figure{"between groups", "groups", "", "Groups (accounts) whose jobs ran.", Better::neither,
           [](const Summary& s) { return s.groups.index ? static_cast<double>(s.groups.parties) : kNone; }, count_text},
    Figure{"between groups", "fairness", "%", "The same of groups (accounts).", Better::higher,
           [](const Summary& s) { return s.groups.index.value_or(kNone); }, percent_text},
    Figure{"between groups", "worst", "", "Mean bounded slowdown of the group that is served worst.", Better::lower,
           [](const Summary& s) { return s.groups.worst.value_or(kNone); }, slowdown_text},
};

void add_remark(std::string& line, const Summary& summary, std::int64_t jobs, const std::string& what) {
  if (jobs == 0) return;
  line += fmt::format("; {}: {} {}", summary.name(), amount(jobs, "job"), what);
}

bool all_alike(std::span<const Summary> summaries, std::int64_t Summary::* count) {
  return std::ranges::all_of(summaries, [&](const Summary& s) { return s.*count == summaries.front().*count; });
}

}  // namespace

std::string Figure::shown(const Summary& summary) const {
  const double number = value(summary);
  return std::isnan(number) ? "-" : text(number);
}

std::vector<Figure> told(std::span<const Figure> figures, std::span<const Summary> summaries) {
  std::vector<Figure> all(figures.begin(), figures.end());
  std::erase_if(all, [&](const Figure& figure) {
    return figure.of_some &&
           std::ranges::all_of(summaries, [&](const Summary& s) { return std::isnan(figure.value(s)); });
  });
  return all;
}

std::span<const Figure> service_figures() { return kService; }
std::span<const Figure> promise_figures() { return kPromises; }
std::span<const Figure> power_figures() { return kPower; }

std::span<const Figure> site_figures() { return kSites; }

std::span<const Figure> fairness_figures() { return kFairness; }

bool tells_fairness(std::span<const Summary> summaries) {
  return std::ranges::any_of(summaries, [](const Summary& s) { return s.users.index || s.groups.index; });
}

bool tells_sites(std::span<const Summary> summaries) {
  return std::ranges::any_of(summaries, [](const Summary& s) { return !s.sites.empty(); });
}

bool tells_power(std::span<const Summary> summaries) {
  return std::ranges::any_of(summaries, [](const Summary& s) { return s.power.has_value(); });
}

std::vector<bool> best(const Figure& figure, std::span<const Summary> summaries) {
  std::vector<bool> is_best(summaries.size(), false);
  if (figure.better == Better::neither || summaries.empty()) return is_best;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const Summary& summary : summaries) {
    const double value = typical(summary, figure.value);
    // Logs tell less than rehearsals, and a policy that promises no start keeps no promise.
    if (std::isnan(value) && (summary.recorded || !summary.promises)) continue;
    if (std::isnan(value)) return is_best;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high || figure.text(low) == figure.text(high)) return is_best;  // no difference that a reader could see
  const double most = figure.better == Better::lower ? low : high;
  const std::string winner = figure.text(most);
  for (std::size_t i = 0; i < summaries.size(); ++i)
    is_best[i] = figure.text(typical(summaries[i], figure.value)) == winner;
  // A policy that differs from the best by noise is no worse; and where that is true of all, none is best.
  const auto leads = [&](const Summary& s) { return typical(s, figure.value) == most; };
  const Summary& leader = *std::ranges::find_if(summaries, leads);
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    if (differ_by_noise(summaries[i], leader, figure.value)) is_best[i] = true;
  }
  const auto told = [&](std::size_t i) { return is_best[i] || std::isnan(figure.value(summaries[i])); };
  if (std::ranges::all_of(std::views::iota(std::size_t{0}, summaries.size()), told))
    is_best.assign(is_best.size(), false);
  return is_best;
}

bool comparable(const Summary& a, const Summary& b) {
  return a.workload == b.workload && a.processors == b.processors && a.jobs == b.jobs && a.identity == b.identity;
}

std::size_t same_workload(std::span<const Summary> summaries, std::size_t first) {
  std::size_t n = 1;
  while (first + n < summaries.size() && comparable(summaries[first], summaries[first + n])) ++n;
  return n;
}

std::string workload_line(std::span<const Summary> summaries) {
  const Summary& first = summaries.front();
  std::string line = fmt::format("{} on {}", amount(first.jobs, "job"), amount(first.processors, "processor"));
  if (first.warm_up > 0)
    line += fmt::format(", after a warm-up of {} that count nowhere{}", amount(first.warm_up, "job"),
                        tells_power(summaries) ? " but in what nodes did and drew" : "");
  std::string why = "more than the cluster can ever give";
  // The recorded row has none that the cluster file refuses, or does not know why.
  const auto told = std::ranges::find_if_not(summaries, &std::string::empty, &Summary::why_rejected);
  if (told != summaries.end()) why = fmt::format("the first, job {}, {}", told->first_rejected, told->why_rejected);
  const std::string rejected = fmt::format("rejected ({})", why);
  constexpr const char* kUnfinished = "not finished";
  if (all_alike(summaries, &Summary::rejected) && first.rejected > 0) {
    line += fmt::format("; {} {}", grouped(first.rejected), rejected);
  } else {
    for (const Summary& summary : summaries) add_remark(line, summary, summary.rejected, rejected);
  }
  for (const Summary& summary : summaries) add_remark(line, summary, summary.unfinished, kUnfinished);
  for (const Summary& summary : summaries)
    add_remark(line, summary, summary.unrecorded, "without a recorded wait, which stand in none of its figures");
  return line;
}

}  // namespace rota::report

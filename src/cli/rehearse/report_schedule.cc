// rota report: schedules of any scheduler as the table and the page that rehearsals get.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/printed.h"
#include "log/accounted_rows.h"
#include "log/line_blocks.h"
#include "log/schedule_jobs.h"
#include "model/machine.h"
#include "report/comparison.h"
#include "report/html.h"
#include "report/metrics.h"

namespace rota::cli {
namespace {

struct ReportFlags {
  std::vector<std::string> schedules;
  std::int64_t processors = 0;  // 0: what was in use at once
  std::string workload = "schedule";
  std::string page;
  bool json = false;
  std::string command;
};

std::int64_t most_in_use(const std::vector<Job>& jobs) {
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;  // in milliseconds
  for (const Job& job : jobs) {
    if (!job.ended() || job.state == JobState::rejected || job.end == job.start) continue;
    changes.emplace_back(job.start.time_since_epoch().count(), job.spec.processors);
    changes.emplace_back(job.end.time_since_epoch().count(), -std::int64_t{job.spec.processors});
  }
  return log::most_at_once(std::move(changes));
}

std::string title_of(const std::string& path) {
  const std::string name = log::workload_name(path);
  return name.ends_with(".csv") && name.size() > 4 ? name.substr(0, name.size() - 4) : name;
}

// The places of jobs, by number.
std::vector<std::size_t> by_number(const std::vector<Job>& jobs) {
  std::vector<std::size_t> places(jobs.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::sort(places, {}, [&](std::size_t place) { return jobs[place].spec.number; });
  return places;
}

// Puts the same jobs into the order of the others, which rounded times may have changed: the page draws each of them.
void put_in_order(std::vector<Job>& jobs, const std::vector<Job>& others) {
  const std::vector<std::size_t> from = by_number(jobs), to = by_number(others);
  std::vector<Job> ordered(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) ordered[to[i]] = jobs[from[i]];
  jobs = std::move(ordered);
}

struct Schedules {
  std::vector<report::Outcome> outcomes;
  std::vector<report::Summary> summaries;  // one each
};

// Sums them up. Schedules of other jobs are of a workload of their own, so that they are not compared.
void sum_up(Schedules& all) {
  std::vector<report::Summary> as_read;  // all of one workload
  as_read.reserve(all.outcomes.size());
  for (const report::Outcome& outcome : all.outcomes) as_read.push_back(report::summarize(outcome));
  all.summaries = as_read;
  for (std::size_t i = 1; i < all.outcomes.size(); ++i) {
    report::Outcome& outcome = all.outcomes[i];
    const auto before = std::span(as_read).first(i);
    const auto like = std::ranges::find_if(before, [&](const auto& s) { return report::comparable(s, as_read[i]); });
    if (like != before.end()) {
      const report::Outcome& same = all.outcomes[static_cast<std::size_t>(like - before.begin())];
      outcome.workload = same.workload;
      put_in_order(outcome.jobs, same.jobs);
    } else {
      remark(fmt::format("{}: not the same jobs as those of {}, so that the two are not compared",
                         one_line(outcome.policy), one_line(all.outcomes.front().policy)));
      outcome.workload += " of " + outcome.policy;
    }
    all.summaries[i].workload = outcome.workload;
  }
}

// Puts those of one workload side by side, for only neighbours are compared.
Schedules side_by_side(Schedules all) {
  Schedules ordered;
  std::vector<bool> taken(all.outcomes.size());
  for (std::size_t first = 0; first < taken.size(); ++first) {
    for (std::size_t i = first; i < taken.size(); ++i) {
      if (taken[i] || all.summaries[i].workload != all.summaries[first].workload) continue;
      taken[i] = true;
      ordered.outcomes.push_back(std::move(all.outcomes[i]));
      ordered.summaries.push_back(all.summaries[i]);
    }
  }
  return ordered;
}

// The schedules, each as if it were a policy on the same jobs.
Result<Schedules> read_all(const ReportFlags& flags) {
  Schedules all;
  std::int64_t told = 0, used = 0;
  std::set<std::string> names;
  for (const std::string& path : flags.schedules) {
    auto schedule = TRY(log::read_schedule_jobs(path));
    report::Outcome& outcome = all.outcomes.emplace_back();
    outcome.workload = flags.workload;
    outcome.policy = title_of(path);
    if (!names.insert(outcome.policy).second) outcome.policy = path;
    outcome.jobs = std::move(schedule.jobs);
    outcome.has_copies = false;
    told = std::max(told, schedule.processors);
    used = std::max(used, most_in_use(outcome.jobs));
  }
  const std::int64_t processors = flags.processors > 0 ? flags.processors : std::max(told, used);
  if (processors < used)
    return fail("up to {} processors are in use at once, and --processors says {}; give the cluster's size.",
                grouped(used), grouped(processors));
  if (flags.processors == 0)
    remark(
        fmt::format("how many processors the cluster has is not told; {} were in use, and so many are taken. "
                    "--processors would say it",
                    grouped(processors)));
  for (report::Outcome& outcome : all.outcomes) outcome.processors = std::max<std::int64_t>(processors, 1);
  sum_up(all);
  return side_by_side(std::move(all));
}

Result<int> report_schedules(const ReportFlags& flags) {
  const auto schedules = TRY(read_all(flags));
  auto opened = TRY(open_page(flags.page));
  std::optional<OutputFile>& page = opened;
  std::ostringstream table;
  write_comparison(table, schedules.summaries, flags.json);
  if (auto done = printed(table.str()); !done) return done;
  if (!page) return kDone;
  report::write_html(page->stream(), schedules.outcomes,
                     {.title = "Schedules", .version = ROTA_VERSION, .command = flags.command}, schedules.summaries);
  TRY(page->commit());
  remark("report: " + flags.page);
  return kDone;
}

}  // namespace

void add_report(Command app, Action& action) {
  auto flags = std::make_shared<ReportFlags>();
  Command command = app.add_subcommand("report", "sum up and draw schedules that another program has made");
  command.description(
      "Reads what rota simulate --jobs writes, or the out_jobs.csv of the simulator Batsim: who was "
      "submitted, started and ended when, on how many processors. Several schedules of the same jobs "
      "are compared.");
  command.add_option("SCHEDULE", flags->schedules, "CSV, plain or packed; each is a row of the table")
      .required()
      .type_name("FILE.csv");
  command.add_option("--processors", flags->processors, "processors of the cluster; default: as many as were in use")
      .range(std::int64_t{1}, kMostProcessors)
      .type_name("N");
  command.add_option("--name", flags->workload, "what to call the jobs, in titles").capture_default_str();
  command.add_option("--report", flags->page, "write a self-contained HTML report").type_name("FILE.html");
  command.add_flag("--json", flags->json, "print the comparison as JSON");
  command.footer(
      "Examples:\n"
      "  rota report out_jobs.csv --processors 512 --report batsim.html\n"
      "  rota report theirs.csv ours.csv --name may");
  command.callback([&action, flags, command] {
    flags->command = given_command(command, {"--report", "--json"});
    action = [flags] { return report_schedules(*flags); };
  });
}

}  // namespace rota::cli

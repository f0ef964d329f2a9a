#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "base/text.h"
#include "cli/command.h"
#include "cli/rehearse/rehearse_flags.h"
#include "log/log.h"
#include "log/schedule.h"
#include "rehearse/rehearse.h"

namespace rota::cli {
namespace {

struct VerifyFlags {
  std::string workload;
  std::string schedule;
  RehearseFlags rehearse;
};

// The two schedules side by side, job by job.
struct Comparison {
  std::int64_t compared = 0;
  std::int64_t identical = 0;
  const Job* first_different =
      nullptr;  // the earliest instant at which either side starts a job that the other does not
  Instant saved_start = kNever;
};

using Starts = std::vector<log::SavedStart>;  // by job number

const log::SavedStart* saved_start(const Starts& saved, std::int64_t number) {
  const auto at = std::lower_bound(saved.begin(), saved.end(), number,
                                   [](const log::SavedStart& s, std::int64_t n) { return s.number < n; });
  return at == saved.end() || at->number != number ? nullptr : &*at;
}

Comparison compare(const std::vector<Job>& jobs, const Starts& saved) {
  Comparison result;
  Instant earliest = kNever;
  for (const Job& job : jobs) {
    const log::SavedStart* other = saved_start(saved, job.spec.number);
    if (!other) continue;
    ++result.compared;
    if (job.start == other->start) {
      ++result.identical;
    } else if (const Instant parted = std::min(job.start, other->start); parted < earliest) {
      earliest = parted;
      result.first_different = &job;
      result.saved_start = other->start;
    }
  }
  return result;
}

std::string second(Instant at) {
  if (at == kNever) return "never";
  const auto ms = at.time_since_epoch().count();
  std::string text = std::to_string(ms / 1000);
  if (ms % 1000 != 0) text += "." + std::to_string(1000 + ms % 1000).substr(1);
  return text + " s";
}

// What one side's schedule looks like just after an instant, from starts and run times alone.
struct Side {
  std::int64_t busy = 0;
  std::vector<const Job*> waiting;  // in order of submission
};

template <class StartOf>
Side side_at(const std::vector<Job>& jobs, Instant at, const StartOf& start_of) {
  Side side;
  for (const Job& job : jobs) {
    if (job.spec.submit > at) break;
    if (job.state == JobState::rejected) continue;
    const Instant start = start_of(job);
    if (start > at) {
      side.waiting.push_back(&job);
    } else if (start + (job.end - job.start) > at) {
      side.busy += job.spec.processors;
    }
  }
  return side;
}

void print_side(const char* name, const Side& side, std::int64_t processors) {
  constexpr std::size_t kShown = 5;
  std::printf("  %-9s %s busy, %s free; %s waiting", name, amount(side.busy, "processor").c_str(),
              grouped(processors - side.busy).c_str(),
              amount(static_cast<std::int64_t>(side.waiting.size()), "job").c_str());
  for (std::size_t i = 0; i < std::min(kShown, side.waiting.size()); ++i) {
    const JobSpec& spec = side.waiting[i]->spec;
    std::printf("%s%lld (%s, limit %s)", i == 0 ? ": " : ", ", static_cast<long long>(spec.number),
                amount(spec.processors, "processor").c_str(), format_duration(spec.limit).c_str());
  }
  std::printf("%s\n", side.waiting.size() > kShown ? ", ..." : "");
}

void print_difference(const report::Outcome& outcome, const Comparison& c, const Starts& saved) {
  const Job& job = *c.first_different;
  const Instant at = std::min(job.start, c.saved_start);
  std::printf("first difference: job %lld (submitted %s, %s, limit %s) starts at %s here, at %s in the schedule\n",
              static_cast<long long>(job.spec.number), second(job.spec.submit).c_str(),
              amount(job.spec.processors, "processor").c_str(), format_duration(job.spec.limit).c_str(),
              second(job.start).c_str(), second(c.saved_start).c_str());
  std::printf("just after %s:\n", second(at).c_str());
  print_side("here", side_at(outcome.jobs, at, [](const Job& j) { return j.start; }), outcome.processors);
  const auto saved_or_own = [&](const Job& j) {
    const log::SavedStart* s = saved_start(saved, j.spec.number);
    return s ? s->start : j.start;
  };
  print_side("schedule", side_at(outcome.jobs, at, saved_or_own), outcome.processors);
}

Result<int> verify(const VerifyFlags& flags) {
  const auto saved = TRY(log::read_schedule(flags.schedule));
  const auto swf = TRY(flags.rehearse.swf());
  auto workload = TRY(log::read_log(flags.workload, swf));
  const auto chains = TRY(flags.rehearse.chains());
  if (chains.size() != 1) return fail("rota verify compares one policy with a schedule; --policy names several.");
  auto options = TRY(flags.rehearse.options(workload));
  options.keep_jobs = true;
  const auto rehearsed = TRY(rehearse(workload, chains.front(), options));
  const report::Outcome& outcome = rehearsed.outcome;

  const Comparison c = compare(outcome.jobs, saved);
  const auto jobs = static_cast<std::int64_t>(outcome.jobs.size());
  const auto rows = static_cast<std::int64_t>(saved.size());
  if (c.compared != jobs)
    std::printf("%s of the workload %s not in the schedule\n", amount(jobs - c.compared, "job").c_str(),
                jobs - c.compared == 1 ? "is" : "are");
  if (c.compared != rows)
    std::printf("%s of the schedule %s not in the workload\n", amount(rows - c.compared, "row").c_str(),
                rows - c.compared == 1 ? "is" : "are");
  if (c.first_different) print_difference(outcome, c, saved);
  const std::int64_t all = std::max(jobs, rows);
  std::printf("%lld of %lld starts identical\n", static_cast<long long>(c.identical), static_cast<long long>(all));
  return c.identical == all ? kDone : kNo;
}

}  // namespace

void add_verify(Command app, Action& action) {
  auto flags = std::make_shared<VerifyFlags>();
  Command command = app.add_subcommand("verify", "compare a rehearsal with a saved schedule, job by job");
  command.description(
      "Rehearses one policy on a workload and compares every job's start with a saved schedule. The last "
      "line says how many starts are identical; the exit code is 0 if all are, 3 if some differ, and 1 if the "
      "schedules could not be compared.");
  command
      .add_option("WORKLOAD", flags->workload,
                  "job log in the Standard Workload Format, JSON lines, or as sacct -P prints them, plain or gzipped")
      .required()
      .type_name("FILE");
  command.add_option("SCHEDULE", flags->schedule, "CSV with the columns job_id,start in seconds; plain or gzipped")
      .required()
      .type_name("FILE");
  flags->rehearse.declare(command, RehearseFlags::Policies::one);
  command.footer(
      "Examples:\n"
      "  rota simulate log.swf --policy easy --jobs easy.csv\n"
      "  rota verify log.swf easy.csv --policy easy");
  command.callback([&action, flags] { action = [flags] { return verify(*flags); }; });
}

}  // namespace rota::cli

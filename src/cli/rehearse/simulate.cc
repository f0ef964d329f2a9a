// rota simulate: every policy on every workload, in parallel, then one table and the files that were asked for.
#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/printed.h"
#include "cli/progress.h"
#include "cli/rehearse/by_party.h"
#include "cli/rehearse/findings.h"
#include "cli/rehearse/journals.h"
#include "cli/rehearse/made_by.h"
#include "cli/rehearse/plot_files.h"
#include "cli/rehearse/rehearse_flags.h"
#include "cli/rehearse/seeds.h"
#include "cli/rehearse/simulate_inputs.h"
#include "cli/rehearse/simulate_outputs.h"
#include "cli/rehearse/simulate_run.h"
#include "cli/rehearse/unmet_shares.h"
#include "cli/rehearse/window_flags.h"
#include "rehearse/labels.h"
#include "report/html.h"
#include "report/nodes_file.h"
#include "report/verdict.h"

namespace rota::cli {
namespace {

struct SimulateFlags {
  std::vector<std::string> workloads;
  RehearseFlags rehearse;
  WindowFlags window;
  PartyFlags parties;
  std::string jobs_file;
  std::string nodes_file;
  std::string journal_file;
  std::string report_file;
  std::string plots_folder;
  bool json = false;
  bool quiet = false;
  bool weeks = false;      // drawn anew, for intervals
  std::size_t copies = 0;  // beside each workload, for intervals
  std::int64_t seed = 1;   // of the first
  std::string seeds;       // of streams in place of copies; empty: none
  std::size_t threads = 0;
  std::string command;                          // that was given, for the page,
  std::vector<report::MadeBy::Option> options;  // and what it means
};

// Whether what goes on is shown, to a user that watches.
bool shows_progress(const SimulateFlags& flags) { return !flags.quiet && ::isatty(STDERR_FILENO) == 1; }

Result<std::vector<Run>> plan_runs(const SimulateFlags& flags, const Workloads& workloads,
                                   const std::vector<Chain>& chains) {
  std::vector<Run> runs;
  runs.reserve(workloads.all.size() * chains.size());
  for (std::size_t w = 0; w < workloads.all.size(); ++w) {
    const log::Workload& workload = workloads.all[w];
    auto options = TRY(flags.rehearse.options(workload, workloads.machines[w].get()));
    if (!options.machine) options.machine = workloads.machines[w];
    options.keep_jobs =
        !flags.jobs_file.empty() || !flags.report_file.empty() || !flags.plots_folder.empty() || flags.parties.asked();
    options.keep_nodes = !flags.nodes_file.empty();
    // What really happened comes first; a service knows it anyway.
    const bool wanted = flags.rehearse.wants_recorded();
    if (wanted || !workload.recorded.empty()) runs.push_back({&workload, nullptr, options, Rehearsed{}, wanted});
    for (const Chain& chain : chains) {
      if (options.keep_nodes && !metered(options.machine.get(), chain)) {
        return fail(
            "--node-table tells what nodes draw and how long they sleep, and under policy {} neither is metered. Give "
            "a --cluster file with `watts_idle`, or a policy with power=.",
            rota::quoted(chain.text()));
      }
      runs.push_back({&workload, &chain, options, Rehearsed{}});
      runs.back().own = is_of_the_site(chain, workload, workloads.policies[w]);
    }
  }
  return runs;
}

// The copies beside each workload; nothing where none are asked for.
Result<std::vector<Copies>> copies_of(const SimulateFlags& flags, const Workloads& workloads) {
  std::vector<Copies> all;
  if (flags.seeds.empty()) {
    for (const log::Workload& workload : workloads.all) all.push_back(later_copies(workload, flags.copies, flags.seed));
    return all;
  }
  const auto seeds = TRY(parse_seeds(flags.seeds));
  const auto swf = TRY(flags.rehearse.swf());
  for (const log::Workload& workload : workloads.all) {
    auto streams = TRY(streams_of(workload, flags.rehearse.attributes, seeds, swf, flags.window));
    all.push_back(std::move(streams));
  }
  return all;
}

void rehearse_all(std::vector<Run>& runs, std::size_t threads, bool show_progress) {
  std::int64_t all_jobs = 0;
  for (const Run& run : runs) all_jobs += static_cast<std::int64_t>(run.workload->jobs.size());
  Progress progress(all_jobs, show_progress);
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < runs.size(); i = next++) {
      Run& run = runs[i];
      run.options.progress = [&progress, seen = std::int64_t{0}](std::int64_t arrived) mutable {
        progress.add(arrived - seen);
        seen = arrived;
      };
      run.result = run.chain != nullptr ? rehearse(*run.workload, *run.chain, run.options)
                                        : recorded(*run.workload, run.options);
    }
  };
  std::vector<std::jthread> workers;
  for (std::size_t i = 1; i < std::min(threads, runs.size()); ++i) workers.emplace_back(work);
  work();
}

// To those whose jobs are kept; the policies of a workload share them.
void give_labels(std::vector<Run>& runs) {
  std::map<const log::Workload*, std::shared_ptr<const report::JobLabels>> labels;
  for (Run& run : runs) {
    if (!run.options.keep_jobs) continue;
    auto& of_workload = labels[run.workload];
    if (!of_workload) of_workload = labels_of(*run.workload);
    run.result->outcome.labels = of_workload;
  }
}

// Where each run's jobs or nodes go; fails where two would go to the same place.
Result<std::vector<std::string>> files_of(const std::string& file, const Asked& runs) {
  if (file.empty()) return std::vector<std::string>{};
  const auto differ = [&](auto member) {
    return std::ranges::any_of(runs, [&](const Run* run) { return run->*member != runs.front()->*member; });
  };
  std::vector<std::string> paths;
  for (const Run* run : runs) {
    std::vector<std::string> parts;
    if (differ(&Run::workload)) parts.push_back(run->workload->name);
    if (differ(&Run::chain)) parts.push_back(run->label);
    std::string path = path_with(file, parts);
    if (std::ranges::find(paths, path) != paths.end()) {
      return fail(
          "two rehearsals would write {}: name each policy once, and give the workloads files of different names.",
          path);
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

// Neither may an output take the place of what is read, nor of another output.
Result<void> check_apart(const SimulateFlags& flags, const std::vector<std::vector<std::string>>& outputs) {
  std::vector<std::string> inputs = flags.workloads;
  for (const std::string* other : {&flags.rehearse.cluster, &flags.rehearse.attributes}) {
    if (!other->empty()) inputs.push_back(*other);
  }
  std::vector<std::string> before;
  for (const std::string& path : std::views::join(outputs)) {
    if (std::ranges::any_of(inputs, [&](const std::string& input) { return same_file(input, path); }))
      return fail(path + " is read by this command and would be written over; give the output another name.");
    if (std::ranges::any_of(before, [&](const std::string& other) { return same_file(other, path); }))
      return fail("two outputs would be written to {}; give them different names.", path);
    before.push_back(path);
  }
  return {};
}

// The files of the one rehearsal that there is; nothing where none is asked for.
Result<std::vector<std::string>> journal_files_of(const SimulateFlags& flags, const Asked& runs) {
  if (flags.journal_file.empty()) return std::vector<std::string>{};
  if (runs.size() == 1 && runs.front()->chain == nullptr)
    return fail("--journal keeps a rehearsal, and recorded is none: name one workload and one policy.");
  if (runs.size() != 1) {
    return fail("--journal keeps one rehearsal, and here are {} rows: name one workload and one policy.", runs.size());
  }
  return journal_paths(flags.journal_file, runs.front()->options.machine.get());
}

Result<std::optional<RehearsalJournals>> open_journals(const SimulateFlags& flags, const Asked& runs) {
  if (flags.journal_file.empty()) return std::nullopt;
  Run& run = *runs.front();
  std::string cluster;
  if (run.options.machine && !flags.rehearse.cluster.empty()) {
    cluster = TRY(read_file(flags.rehearse.cluster));
  }
  auto journals = TRY(RehearsalJournals::create(flags.journal_file, *run.chain, run.options, *run.workload, cluster));
  run.options.journals = journals.stores();
  return std::optional(std::move(journals));
}

template <class Write>
Result<void> write_all(std::vector<log::PackedOutput>& files, const Asked& runs, const Write& write) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    write(files[i].stream(), *runs[i]);
    if (auto done = files[i].commit(); !done) return done;
  }
  return {};
}

// Takes the outcomes of the runs.
Result<void> write_report(OutputFile& file, std::vector<Run>& runs, const SimulateFlags& flags) {
  std::vector<report::Outcome> outcomes;
  std::vector<report::Summary> summaries;
  for (Run& run : runs) {
    outcomes.push_back(std::move(run.result->outcome));
    summaries.push_back(run.result->summary);
  }
  report::write_html(file.stream(), outcomes,
                     {.version = ROTA_VERSION,
                      .command = flags.command,
                      .made_by = {flags.options, inputs_of(flags.workloads, flags.rehearse)}},
                     summaries);
  if (auto done = file.commit(); !done) return done;
  remark("report: " + flags.report_file);
  return {};
}

void report_rejected(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (!first_policy(run, runs) || run.result->summary.rejected == 0) continue;
    const report::Summary& summary = run.result->summary;
    std::string line = fmt::format("{}: {}", run.workload->name, grouped(summary.rejected));
    line += summary.rejected == 1 ? " job was rejected: job " : " jobs were rejected; the first, job ";
    line += fmt::format("{}, {}.", summary.first_rejected, summary.why_rejected);
    if (summary.first_too_large)  // for the cluster; limits of partitions and nodes are the cluster file's
      line += " --clamp lets jobs that are too large ask for all of it.";
    remark(line);
  }
}

// Prices by the time of day need to know what time it is.
void report_unknown_clock(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    const Machine* machine = run.options.machine.get();
    if (!first_policy(run, runs) || run.workload->unix_start != 0 || machine == nullptr) continue;
    const auto by_time_of_day = [](const Machine& described) {
      return described.tariff.has_steps() && described.tells_watts();
    };
    if (!by_time_of_day(*machine) && std::ranges::none_of(machine->sites, by_time_of_day)) continue;
    remark(
        run.workload->name +
        ": what time it begins is not known, and electricity has its price by the time of day: second 0 is taken for "
        "midnight. UnixStartTime in the log's header would say it");
  }
}

// What a log does not tell of its machine, and what is left out because of that.
void report_guesses(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (!first_policy(run, runs) || run.options.machine) continue;
    const log::Workload& workload = *run.workload;
    if (workload.guessed_processors && run.options.processors == workload.processors) {
      remark(
          fmt::format("{}: the log does not say how many processors the cluster has; {} were in use at once, and so "
                      "many are rehearsed. --processors or --cluster would say it",
                      workload.name, grouped(workload.processors)));
    }
    if (workload.attributes && !run.options.attributes) {
      remark(workload.name +
             ": jobs ask for accelerators, licences, features or nodes, which are left out: processors are counted. A "
             "--cluster file "
             "would say what there is");
    }
  }
}

// A knob that changes nothing is told, never ignored in silence.
void report_idle_binding(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.chain == nullptr || run.chain->knobs().bind == Bind::none || run.result->summary.tasks) continue;
    remark(
        fmt::format("{}, {}: no job has tasks for accelerators, so that bind changes nothing here; a file of "
                    "--attributes says which have some",
                    run.workload->name, run.chain->text()));
  }
}

Result<void> print(const std::vector<Run>& runs, const SimulateFlags& flags) {
  std::vector<report::Summary> summaries;
  for (const Run& run : runs) summaries.push_back(run.result->summary);
  write_comparison(std::cout, summaries, flags.json, by_party(runs, flags.parties, flags.json));
  if (!std::cout.flush()) return fail(kNoOutput);
  return {};
}

// What there is to know beside the figures.
void report_findings(const std::vector<Run>& runs, const SimulateFlags& flags) {
  const log::Workload* last = nullptr;
  for (const Run& run : runs)
    if (std::exchange(last, run.workload) != run.workload) print_findings(*run.workload, run.options, flags.window);
  report_rejected(runs);
  report_guesses(runs);
  report_idle_binding(runs);
  report_unmet_shares(runs);
  report_unknown_clock(runs);
}

Result<int> simulate(const SimulateFlags& flags) {
  const auto chains = TRY(flags.rehearse.chains());
  const auto swf = TRY(flags.rehearse.swf());
  const auto workloads = TRY(read_workloads(flags.workloads, swf, flags.window, shows_progress(flags)));
  const auto copies = TRY(copies_of(flags, workloads));
  auto runs = TRY(plan_runs(flags, workloads, chains));
  if (flags.weeks) {
    TRY(keep_weeks(runs));
  }
  call_by_labels(runs);
  const Asked wanted = asked(runs);
  const auto job_files = TRY(files_of(flags.jobs_file, wanted));
  const auto node_files = TRY(files_of(flags.nodes_file, wanted));
  const auto if_asked = [](const std::string& file) {
    return file.empty() ? std::vector<std::string>{} : std::vector{file};
  };
  const auto report_file = if_asked(flags.report_file);
  const auto journal_files = TRY(journal_files_of(flags, wanted));
  TRY(check_apart(flags, {job_files, node_files, report_file, journal_files}));
  auto job_outputs = TRY(open_row_files(job_files));
  auto node_outputs = TRY(open_row_files(node_files));
  auto report_output = TRY(open_page(flags.report_file));
  auto journals = TRY(open_journals(flags, wanted));
  const std::size_t threads = flags.threads > 0 ? flags.threads : std::max(1U, std::thread::hardware_concurrency());
  rehearse_all(runs, threads, shows_progress(flags));
  std::vector<report::Summary*> summaries;
  for (Run& run : runs) {
    if (!run.result) return std::unexpected(run.result.error());
    run.result->summary.label = run.result->outcome.label = run.label;
    tell_of_the_log(run);
    TRY(hold_against_chances(run));
    tell_weeks(run);
    summaries.push_back(&run.result->summary);
  }
  give_labels(runs);
  report::measure_against_first(summaries);
  for (std::size_t w = 0; w < copies.size(); ++w) {
    if (copies[w].count == 0) continue;
    TRY(rehearse_copies_of(runs, workloads.all[w], copies[w], threads));
  }
  if (journals) {
    TRY(journals->close());
  }
  if (!flags.quiet) report_findings(runs, flags);
  const auto jobs_of = [format = jobs_format(flags.jobs_file)](std::ostream& out, const Run& run) {
    write_jobs(out, format, run.result->outcome, *run.workload);
  };
  const auto nodes_of = [](std::ostream& out, const Run& run) { report::write_nodes_csv(out, run.result->outcome); };
  TRY(write_all(job_outputs, wanted, jobs_of));
  TRY(write_all(node_outputs, wanted, nodes_of));
  TRY(print(runs, flags));
  if (!flags.plots_folder.empty()) {
    TRY(write_plots(flags.plots_folder, runs));
  }
  if (report_output) {
    TRY(write_report(*report_output, runs, flags));
  }
  return kDone;
}

void declare_copies(Command command, SimulateFlags& flags) {
  command.add_flag("--weeks", flags.weeks,
                   "draw the weeks of the log anew, or equal parts of a short one: figures and differences get "
                   "intervals that tell what another such stretch of time might bring");
  command
      .add_option("--copies", flags.copies,
                  "rehearse as many copies too, in which each job comes up to a minute later: every figure gets an "
                  "interval, and differences that may be noise are told; what another month might bring, --weeks tells")
      .range(2, 1000)
      .type_name("N");
  command
      .add_option("--seeds", flags.seeds,
                  "the same over streams that are drawn anew with these seeds, by the command of `rota generate` that "
                  "the workload's header names; in place of --copies")
      .excludes("--copies")
      .check([](const std::string& text) {
        const auto seeds = parse_seeds(text);
        return seeds ? std::string() : seeds.error().message;
      })
      .type_name("FIRST-LAST");
  command.add_option("--seed", flags.seed, "of the first copy; the others have the next ones")
      .excludes("--seeds")
      .range(std::int64_t{0}, std::int64_t{1} << 40)
      .capture_default_str()
      .type_name("N");
}

// Standard output is the table's.
std::string is_file(const std::string& path) {
  return path.empty() || path == "-" ? "standard output is for the table; give the path of a file" : "";
}

}  // namespace

void add_simulate(Command app, Action& action) {
  auto flags = std::make_shared<SimulateFlags>();
  Command command = app.add_subcommand("simulate", "rehearse policies on a job log and compare them");
  command.description(
      "Rehearses each policy on each workload with the very controller that runs live, and prints one "
      "comparison table. A referee checks every decision.");
  command
      .add_option(
          "WORKLOAD", flags->workloads,
          "job logs in the Standard Workload Format, JSON lines, as sacct -P prints them, accounting of PBS or LSF, or "
          "workloads of Batsim, plain or packed; - is standard input; or the state folder of rota serve: what really "
          "happened is then the first row without being asked for")
      .required()
      .type_name("FILE");
  flags->rehearse.declare(command, RehearseFlags::Policies::several);
  flags->window.declare(command);
  flags->parties.declare(command);
  command
      .add_option("--jobs", flags->jobs_file,
                  "write what became of each job: CSV, SWF if the name ends in .swf, the columns of Batsim if in "
                  "_jobs.csv; packed if it ends in .gz, .zst or .xz; "
                  "with several runs the name gets -WORKLOAD-POLICY before its ending")
      .type_name("FILE")
      .check(is_file);
  command
      .add_option("--node-table", flags->nodes_file,
                  "write what each node did and drew (CSV), where nodes are metered; with several runs as --jobs")
      .type_name("FILE")
      .check(is_file);
  command
      .add_option("--journal", flags->journal_file,
                  "keep every fact of the one rehearsal, for rota replay; with several sites a journal each, with "
                  "-SITE before its ending")
      .type_name("FILE")
      .check(is_file);
  command.add_option("--report", flags->report_file, "write a self-contained HTML report")
      .type_name("FILE.html")
      .check(is_file);
  command
      .add_option("--plots", flags->plots_folder,
                  "write the charts into this folder: waits, waiting jobs, processors and what else is in use, as SVG "
                  "and, where rsvg-convert is installed, as PDF")
      .type_name("FOLDER");
  command.add_flag("--json", flags->json, "print the comparison as JSON");
  command.add_flag("--quiet", flags->quiet, "no progress bar and no remarks about the log");
  declare_copies(command, *flags);
  command.add_option("--threads", flags->threads, "rehearsals at a time; default: one a core")
      .range(1, 1024)
      .type_name("N");
  command.footer(
      "Examples:\n"
      "  rota simulate log.swf.gz --policy fcfs,easy,conservative --report report.html\n"
      "  rota simulate log.swf --processors 512 --policy easy,easy+order=sjf --jobs jobs.csv\n"
      "  rota simulate lublin.swf --policy easy,conservative --seeds 1-10\n"
      "  gunzip -c log.swf.gz | rota simulate - --json");
  command.callback([&action, flags, command] {
    flags->command = given_command(command, {"--report", "--jobs", "--node-table", "--journal", "--plots", "--json",
                                             "--quiet", "--threads", "--by"});
    flags->options = options_of(command);
    action = [flags] { return simulate(*flags); };
  });
}

}  // namespace rota::cli

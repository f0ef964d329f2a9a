// rota import: from a site's own scheduler to a folder that can be rehearsed.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/import/import_folder.h"
#include "cli/import/import_jobs.h"
#include "cli/import/import_live.h"
#include "cli/import/import_made.h"
#include "cli/import/import_names.h"
#include "cli/import/import_report.h"
#include "cli/import/import_reservations.h"
#include "cli/import/import_saved.h"
#include "cli/import/import_touched.h"
#include "cli/import/import_turnaround.h"
#include "cli/import/import_window.h"
#include "cli/printed.h"
#include "cli/time_zone_flag.h"
#include "log/partition_names.h"
#include "log/sacct.h"
#include "log/sacct_spread.h"
#include "site/slurm_cluster.h"
#include "site/slurm_policy.h"

namespace rota::cli {
namespace {

namespace fs = std::filesystem;

struct ImportFlags {
  std::string folder;                   // that is made
  std::string from;                     // with what was saved; empty: --live
  std::vector<std::string> exports;     // of sacct; empty: those in `from`
  std::vector<std::string> partitions;  // "old=new"
  std::string since = "now-30days";
  std::string until = "now";
  std::string time_zone;
  bool live = false;
  bool overwrite = false;
  bool skip_bad_rows = false;
  bool keep_cancelled = false;
  bool anonymous = false;
};

constexpr const char* kCluster = "cluster.toml";
constexpr const char* kJobs = "jobs.jsonl.gz";
constexpr const char* kText = "report.txt";
constexpr const char* kJson = "report.json";
constexpr const char* kSaved = "saved";

// Exports in a folder, by name.
Result<std::vector<std::string>> exports_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with("sacct")) continue;
    std::error_code absent;
    if (!entry.is_regular_file(absent))
      return fail("{} is no file that can be read{}; take it out of the folder, or put the export there.",
                  shown_path(entry.path().string()), absent ? ": " + absent.message() : "");
    paths.push_back(entry.path());
  }
  if (error) return fail("Cannot read {}: {}.", shown_path(folder), error.message());
  if (paths.empty())
    return fail(shown_path(folder) +
                " has no file that begins with sacct, such as sacct.txt. Save one there, or name "
                "the exports with --sacct.");
  std::ranges::sort(paths);
  return paths;
}

// "old=new": jobs of the one are taken as of the other; old names are those of the log, so that two may be exchanged.
Result<void> rename_partitions(const std::vector<std::string>& renamed, log::NumberedNames& names) {
  const log::NumberedNames of_log = names;
  for (const std::string& pair : renamed) {
    const std::size_t equals = pair.find('=');
    const std::string from = pair.substr(0, equals);
    const auto at = std::ranges::find(of_log, from, [](const auto& of) { return of.second; });
    if (equals == std::string::npos || equals + 1 == pair.size())
      return fail("--partition takes OLD=NEW, not {}.", rota::quoted(pair));
    if (at == of_log.end()) return fail("--partition {}: no job is of partition {}.", pair, rota::quoted(from));
    names[at->first] = pair.substr(equals + 1);
  }
  return {};
}

// Where the first job stands that is of a partition which the cluster does not have.
std::string place_of_unknown(const log::SacctLog& log, const Machine& machine) {
  const auto unknown = [&](const log::SwfRow& row) {
    const std::int64_t number = row[log::SwfField::partition];
    return number >= 0 && std::ranges::find(machine.partitions, log.partitions.at(static_cast<std::uint32_t>(number)),
                                            &Partition::name) == machine.partitions.end();
  };
  std::int64_t line = 0;
  for (const log::SwfRow& row : log.rows)
    if ((line == 0 || row.line < line) && unknown(row)) line = row.line;
  const ExportPlace place = place_of(log, line);
  return fmt::format("{}:{}", place.file, place.line);
}

// What ended at once is a job of 1 s with its own limit, as where the export itself is rehearsed. One that was
// cancelled before it started has no wait that came to an end, which its run time would not tell any more.
void mend_run_times(log::SacctLog& log) {
  for (log::SwfRow& row : log.rows) {
    if (row.milli(log::SwfField::run) > 0) continue;
    if (row[log::SwfField::status] == log::kSwfCancelled) row.set(log::SwfField::wait, -1);
    row.set_milli(log::SwfField::run, 1000);
    log.report.note("run time 0: jobs of 1 s with their own limit", row.line);
  }
}

// Empty: not told.
std::string cluster_name(const site::SlurmConfig& config) {
  const auto own = config.find("ClusterName");
  return own == config.end() || own->second == "(null)" ? "" : own->second;
}

Result<log::SacctLog> read_workload(const ImportFlags& flags, const std::string& from,
                                    const site::SlurmCluster& cluster) {
  const Machine& machine = cluster.machine;
  const auto zone = TRY(zone_of(flags.time_zone));
  auto paths = TRY(flags.exports.empty() ? exports_in(from) : Result<std::vector<std::string>>(flags.exports));
  std::vector<log::LineBlocks> exports;
  for (const std::string& path : paths) {
    auto blocks = TRY(log::LineBlocks::open(path));
    exports.push_back(std::move(blocks));
  }
  log::SwfOptions options{.skip_bad_rows = flags.skip_bad_rows,
                          .keep_cancelled = flags.keep_cancelled,
                          .cluster = cluster_name(cluster.config),
                          .zone = zone};
  options.gpus_unaccounted = cluster.gpus_unaccounted;
  log::suit_to(machine, options);
  auto log = log::read_sacct_log(std::move(exports), options);
  if (!log) return log;
  mend_run_times(*log);
  TRY(rename_partitions(flags.partitions, log->partitions));
  std::map<std::uint32_t, std::int64_t> jobs_of;
  for (const log::SwfRow& row : log->rows)
    if (row[log::SwfField::partition] >= 0) ++jobs_of[static_cast<std::uint32_t>(row[log::SwfField::partition])];
  TRY(log::partitions_known({log->partitions, jobs_of, place_of_unknown(*log, machine)}, machine,
                            "scontrol show partition",
                            "Say which one the jobs of a partition that is there no more are taken as "
                            "of: --partition OLD=NEW, once for each."));
  return log;
}

Result<void> write_text(const std::string& text, const std::string& path) {
  auto file = TRY(OutputFile::create(path));
  file.stream() << text;
  return file.commit();
}

// The policies that the rehearsal compares: what really happened and what the site has now stand first.
std::string policies_for(const SlurmPolicy& own, const log::SacctLog& log) {
  const bool told = std::ranges::any_of(log.rows, [](const log::SwfRow& row) { return row[log::SwfField::wait] >= 0; });
  return fmt::format("{}{},easy{},conservative{}", told ? "recorded," : "", own.chain, own.at_limit, own.at_limit);
}

// How many tasks of an array run at once is told by sacct --json, and by SubmitLine where it was said there.
std::string waited_for(const log::SacctLog& log, bool reservations_known) {
  const auto throttled = std::ranges::count_if(log.rows, [](const log::SwfRow& row) { return row.throttle > 0; });
  return fmt::format(
      "what jobs waited for that sacct does not tell: {}how many tasks of an array run at once "
      "(--array=0-9%3), but for sacct --json and the column SubmitLine (told here of {})",
      reservations_known ? "" : "reservations, and ", amount(throttled, "job"));
}

// `from`: since when the jobs are all that there were; empty: from the first on.
std::string next_command(const std::string& policies, const std::string& folder, const std::string& from) {
  const auto path = [&](const char* name) {
    return for_shell(folder.empty() ? name : fmt::format("{}/{}", folder, name));
  };
  return fmt::format("rota simulate {} --cluster {} --policy {}{}", path(kJobs), path(kCluster), for_shell(policies),
                     from.empty() ? "" : " --from " + from);
}

// What the import was told to do with the rows, which the folder alone would not say.
std::vector<std::string> told(const ImportFlags& flags, site::MadeUpNames* names) {
  std::vector<std::string> all;
  for (const std::string& pair : flags.partitions) {
    const std::size_t equals = pair.find('=');
    const std::string from =
        names != nullptr ? "another partition" : "partition " + rota::quoted(pair.substr(0, equals));
    all.push_back(fmt::format("jobs of {} are taken as of {} (--partition)", from,
                              rota::quoted(called(names, site::MadeUpNames::Of::partition, pair.substr(equals + 1)))));
  }
  if (!flags.time_zone.empty())
    all.push_back(fmt::format("local times are those of {} (--time-zone)", flags.time_zone));
  if (flags.keep_cancelled)
    all.emplace_back("jobs that were cancelled before they started are kept (--keep-cancelled)");
  if (flags.skip_bad_rows) all.emplace_back("rows that cannot be read are dropped (--skip-bad-rows)");
  return all;
}

std::vector<std::string> guesses(const ImportFlags& flags, const site::SlurmCluster& cluster, const SlurmPolicy& own,
                                 const log::SacctLog& log, const JudgedJobs& judged) {
  std::vector<std::string> all = cluster.guessed;
  all.emplace_back("run times are known to the second: each is taken up to half a second longer or shorter");
  if (const Duration after = turnaround_of(log); after > Duration{0})
    all.push_back(
        fmt::format("jobs hold their nodes {} longer than they ran, as this log shows", format_duration(after)));
  if (own.chain.find("+priority=multifactor") != std::string::npos)
    all.emplace_back("jobs are taken as of Nice 0, for sacct does not tell it");
  if (log.local_times && flags.time_zone.empty() && !flags.live)
    all.emplace_back("times are taken as UTC: if sacct was not called with TZ=UTC, give --time-zone");
  if (const auto before = straddlers(log)) {
    all.push_back(
        fmt::format("the exports tell of all jobs from {} on: {} submitted since {} and still there then would stretch "
                    "what is compared; the next command leaves them out (--from)",
                    utc(log.unix_start + before->until), amount(before->jobs, "job"), utc(log.unix_start)));
  }
  for (const log::SacctExport& each : log.exports) {
    for (const std::string& lack : each.lacks)
      all.push_back(fmt::format("{} has no column {}", one_line(fs::path(each.shown).filename().string()), lack));
  }
  if (log.users.size() == 1 && log.rows.size() > 1)
    all.emplace_back(
        "all jobs are of one user: where slurmdbd.conf has PrivateData=jobs, sacct shows others than "
        "operators and administrators their own jobs alone");
  const auto& findings = log.report.findings;
  const auto guessed = std::ranges::find(findings, log::kGuessedSpread, &log::ImportReport::Finding::what);
  if (guessed != findings.end())
    all.push_back(
        fmt::format("{} of which sacct does not tell whether they need one node go on any number, as others of the "
                    "same user with as many processors did",
                    amount(guessed->rows, "job")));
  const auto several = std::ranges::find(findings, log::kSeveralPartitions, &log::ImportReport::Finding::what);
  if (several != findings.end())
    all.push_back(fmt::format("{}{} several partitions, having started in none: taken as of the first of them",
                              amount(several->rows, "job"), several->rows == 1 ? " names" : " name"));
  for (const auto& [what, count] : judged.unmet)
    all.push_back(fmt::format("what the cluster has none of is left out of the jobs that ask for it: {} ({})", what,
                              amount(count, "job")));
  return all;
}

// For the header of the jobs: what a rehearsal of them cannot know.
std::vector<std::string> notes_of(const ImportAccount& account, const std::string& policy) {
  std::vector<std::string> notes{std::string(log::kSitePolicy) + policy,
                                 fmt::format("{}{}", log::kTurnaround, turnaround_of(account.log).count()),
                                 std::string(log::kWholeSeconds)};
  const auto add = [&](const std::string& sentence) { notes.push_back(std::string(log::kLeftOut) + sentence); };
  for (const std::string& sentence : account.cluster.left_out) add(sentence);
  for (const std::string& sentence : account.guessed) add(sentence);
  for (const UnfitJobs& of : account.unfit)
    add(fmt::format("jobs that this cluster can never run: {} ({})", of.what, amount(of.jobs, "job")));
  for (const std::string& sentence : log::sentences_of(account.log.report)) add(sentence);
  return notes;
}

// What an earlier import made, and the folder that is replaced with --live and kept without.
std::vector<OwnEntry> own_entries(const ImportFlags& flags) {
  std::vector<OwnEntry> own;
  for (const auto& [name, mark] : {std::pair{kCluster, "# Made by rota import slurm"},
                                   {kJobs, "made by: rota import slurm"},
                                   {kText, "Imported from Slurm"},
                                   {kJson, "{\n  \"slurm\": "}})
    own.push_back({name, [mark](const std::string& path) { return check_made(path, mark); }});
  own.push_back({kSaved, [flags](const std::string& path) { return check_saved(path, flags.live, flags.anonymous); }});
  return own;
}

// All that the folder is to have, of what stands in `from`.
Result<int> fill(StagedFolder& folder, const ImportFlags& flags, const std::string& from) {
  const auto text = TRY(saved_cluster(from));
  auto cluster = site::cluster_of_slurm(text);
  if (!cluster) return std::unexpected(cluster.error());
  auto log = TRY(read_workload(flags, from, *cluster));
  const auto touched = touched_jobs(*cluster, log);
  std::optional<site::MadeUpNames> made_up;
  if (flags.anonymous) {
    made_up = made_up_names(log);
    cluster = site::cluster_of_slurm(text, &*made_up);
    if (!cluster) return std::unexpected(cluster.error());
    rename(log, *made_up);
  }
  site::MadeUpNames* const names = made_up ? &*made_up : nullptr;
  TRY(add_reservations(text, log, names, *cluster));
  const Machine& machine = cluster->machine;
  const SlurmPolicy own =
      slurm_policy_of({cluster->config.begin(), cluster->config.end()}, {.qos = !machine.qos.empty(),
                                                                         .accounts = !machine.accounts.empty(),
                                                                         .values = names == nullptr,
                                                                         .unix_start = log.unix_start});
  tell_touched(touched, cluster->left_out);
  cluster->left_out.insert(cluster->left_out.end(), own.remarks.begin(), own.remarks.end());
  cluster->left_out.emplace_back(waited_for(log, !text.reservations.text.empty()));
  const std::string policies = policies_for(own, log);
  const auto before = straddlers(log);
  const std::string since = before ? utc(log.unix_start + before->until).substr(0, 19) : "";
  const JudgedJobs judged = judge_jobs(log, machine, names);
  const ImportAccount account{*cluster,           log,
                              told(flags, names), guesses(flags, *cluster, own, log, judged),
                              judged.unfit,       next_command(policies, "", since)};
  TRY(write_jobs(log, machine, names, notes_of(account, own.chain), folder.at(kJobs)));
  const std::string report = report_text(account);
  if (!account.adds_up()) return fail("Rows were lost on the way, which is a defect of Rota:\n" + report);
  TRY(write_text(cluster->toml, folder.at(kCluster)));
  const std::string next = fmt::format("\nWhat comes next, in this folder:\n  {}\n", account.next);
  TRY(write_text(report + next, folder.at(kText)));
  TRY(write_text(report_json(account), folder.at(kJson)));
  std::error_code failed;
  if (flags.live && flags.anonymous) fs::remove_all(from, failed);
  if (failed) return fail("The names of people are in {} still: {}; remove it.", from, failed.message());
  if (!flags.live) TRY(folder.keep(kSaved));
  TRY(folder.commit());
  return printed(fmt::format("{}\nRehearse it:\n  {}\n", report, next_command(policies, flags.folder, since)));
}

Result<int> import_slurm(const ImportFlags& flags) {
  if (flags.live == !flags.from.empty())
    return fail("Say where to import from: --from FOLDER with what was saved, or --live on a host of the cluster.");
  auto folder = TRY(StagedFolder::create(flags.folder, flags.overwrite, own_entries(flags)));
  if (!flags.live) return fill(folder, flags, flags.from);
  const std::string from = folder.at(kSaved);
  std::error_code failed;
  if (!fs::create_directory(from, failed)) return fail("Cannot make {}: {}.", from, failed.message());
  TRY(ask_slurm(from, flags.since, flags.until));
  auto done = fill(folder, flags, from);
  if (done || !fs::exists(from, failed)) return done;
  return std::unexpected(kept_what_was_asked(done.error(), from, folder.path()));
}

void declare_slurm(Command import, Action& action) {
  auto flags = std::make_shared<ImportFlags>();
  Command command = import.add_subcommand("slurm", "from a Slurm cluster: its description and its accounting");
  command.add_option("DIR", flags->folder, "the folder that is made").required().type_name("DIR");
  command
      .add_option(
          "--from", flags->from,
          "folder with what was saved: config.txt, nodes.txt, partitions.txt, "
          "exports whose names begin with sacct; licences.txt, qos.txt, assoc.txt and reservations.txt may be missing")
      .type_name("FOLDER");
  command.add_flag("--live", flags->live, "run the commands below on this host, and keep what they print in DIR/saved")
      .excludes("--from");
  command
      .add_option("--sacct", flags->exports,
                  "exports to read instead of those in the folder, of sacct -P or sacct --json; packed ones, too")
      .type_name("FILE");
  command.add_option("--since", flags->since, "with --live: from when on, as sacct -S takes it")
      .type_name("TIME")
      .needs("--live")
      .capture_default_str();
  command.add_option("--until", flags->until, "with --live: until when, as sacct -E takes it")
      .type_name("TIME")
      .needs("--live")
      .capture_default_str();
  command.add_option("--partition", flags->partitions, "take jobs of partition OLD as of NEW").type_name("OLD=NEW");
  declare_time_zone(command, flags->time_zone);
  command.add_flag("--overwrite", flags->overwrite, "replace what an earlier import made");
  command.add_flag("--skip-bad-rows", flags->skip_bad_rows, "drop rows that cannot be read, and count them");
  command.add_flag("--keep-cancelled", flags->keep_cancelled, "keep jobs that were cancelled before they started");
  command.add_flag(
      "--anonymous", flags->anonymous,
      "make up names for users, accounts, QOS, partitions, licences, nodes and the cluster: user12, account3, ...");
  command.footer(fmt::format(
      "The first commands of the examples save, on a host of the cluster, what is read; --live runs them itself. "
      "Several exports of sacct, overlapping ones too, are one log.\n\nDIR gets cluster.toml, jobs.jsonl.gz, and what "
      "was read, mended, dropped and guessed in report.txt and report.json. It appears whole or not at all. "
      "--anonymous gives users, accounts and all else made-up names, the same in all of these files, so that all "
      "shares stay as they are; types of accelerators keep theirs.\n\nExamples:\n  mkdir saved\n{}  rota import slurm "
      "site --from saved\n  rota import slurm site --live --since now-90days",
      typed_commands("saved", "2024-01-01", "2024-07-01")));
  command.callback([&action, flags] { action = [flags] { return import_slurm(*flags); }; });
}

}  // namespace

void add_import(Command app, Action& action) {
  Command command = app.add_subcommand("import", "bring a site's cluster and its job log into a folder to rehearse");
  command.require_subcommand(1);
  declare_slurm(command, action);
}

}  // namespace rota::cli

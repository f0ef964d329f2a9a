#include "cli/import/import_report.h"

#include <fmt/core.h>
#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace rota::cli {
namespace {

using Json = nlohmann::ordered_json;
using log::ImportReport;

std::string name_only(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string listed(const std::string& title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return {};
  std::string text = fmt::format("\n{}\n", title);
  for (const std::string& sentence : sentences) text += fmt::format("  * {}\n", sentence);
  return text;
}

std::string counted(std::int64_t number) { return fmt::format("  {:>10}  ", grouped(number)); }

std::string rows(const ImportAccount& account, const std::string& title, bool dropped) {
  const auto& findings = account.log.report.findings;
  std::string text;
  for (const ImportReport::Finding& finding : findings) {
    if (finding.dropped != dropped) continue;
    const ExportPlace place = place_of(account.log, finding.first_line);
    text += fmt::format("{}{} ({}:{})\n", counted(finding.rows), finding.what, name_only(place.file), place.line);
  }
  return text.empty() ? text : fmt::format("\n{}\n{}", title, text);
}

std::string unfit(const ImportAccount& account) {
  std::string text;
  for (const UnfitJobs& of : account.unfit)
    text += fmt::format("{}{} (job {} {})\n", counted(of.jobs), of.what, of.first, of.why);
  return text.empty() ? text : "\nJobs that this cluster can never run, and that a rehearsal rejects:\n" + text;
}

std::int64_t accelerators_of(const Machine& machine) {
  std::int64_t sum = 0;
  for (const Node& node : machine.nodes) sum += node.accelerators;
  return sum;
}

std::string version_of(const site::SlurmCluster& cluster) {
  const auto at = cluster.config.find("SLURM_VERSION");
  return at == cluster.config.end() ? std::string() : one_line(at->second);
}

Json findings_of(const ImportAccount& account, bool dropped) {
  Json list = Json::array();
  for (const ImportReport::Finding& finding : account.log.report.findings) {
    if (finding.dropped != dropped) continue;
    const ExportPlace place = place_of(account.log, finding.first_line);
    list.push_back(
        {{"what", finding.what}, {"rows", finding.rows}, {"file", name_only(place.file)}, {"line", place.line}});
  }
  return list;
}

}  // namespace

std::string utc(std::int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds{seconds}};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const auto of_day = (time - day).count();
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(of_day / 3600),
                static_cast<int>(of_day / 60 % 60), static_cast<int>(of_day % 60));
  return text;
}

ExportPlace place_of(const log::SacctLog& log, std::int64_t line) {
  const log::SacctExport* of = &log.exports.front();
  for (const log::SacctExport& one : log.exports)
    if (one.lines_before < line) of = &one;
  return {of->shown, line - of->lines_before};
}

std::string report_text(const ImportAccount& account) {
  const Machine& machine = account.cluster.machine;
  const log::SacctLog& log = account.log;
  const std::string version = version_of(account.cluster);
  std::string text =
      fmt::format("Imported from Slurm{}, cluster {}.\n\ncluster.toml: {}, {}, {}, {}, {} of licences, {} QOS, {}\n",
                  version.empty() ? "" : " " + version, rota::quoted(machine.name),
                  amount(static_cast<std::int64_t>(machine.nodes.size()), "node"),
                  amount(machine.processors, "processor"), amount(accelerators_of(machine), "accelerator"),
                  amount(static_cast<std::int64_t>(machine.partitions.size()), "partition"),
                  amount(static_cast<std::int64_t>(machine.licences.size()), "kind"), machine.qos.size(),
                  amount(static_cast<std::int64_t>(machine.accounts.size()), "account"));
  text += fmt::format("jobs.jsonl.gz: {}, the first of {}\n", amount(log.report.kept, "job"), utc(log.unix_start));
  text += fmt::format("\n{} read = {} + {} that became no job of their own\n", amount(log.report.rows, "row"),
                      amount(log.report.kept, "job"), amount(log.report.dropped(), "row"));
  for (const log::SacctExport& one : log.exports)
    text += fmt::format("  {}: {}\n", name_only(one.shown), amount(one.rows, "row"));
  text += rows(account, "Rows that became no job of their own, and where the first of them is:", true);
  text += rows(account, "Jobs that were mended, or of which something is to be known:", false);
  text += unfit(account);
  text += listed("What the import was told to do:", account.told);
  text += listed("What was guessed:", account.guessed);
  return text + listed("What Slurm knows and a cluster file cannot say:", account.cluster.left_out);
}

std::string report_json(const ImportAccount& account) {
  const Machine& machine = account.cluster.machine;
  const log::SacctLog& log = account.log;
  Json exports = Json::array();
  for (const log::SacctExport& one : log.exports)
    exports.push_back({{"file", name_only(one.shown)}, {"rows", one.rows}});
  Json unfit = Json::array();
  for (const UnfitJobs& of : account.unfit)
    unfit.push_back({{"what", of.what}, {"jobs", of.jobs}, {"job", of.first}, {"why", of.why}});
  Json licences = Json::object();
  for (const Licence& licence : machine.licences) licences[licence.name] = licence.count;
  Json partitions = Json::array();
  for (const Partition& partition : machine.partitions) partitions.push_back(partition.name);
  const Json report{{"slurm", version_of(account.cluster)},
                    {"cluster",
                     {{"name", machine.name},
                      {"nodes", machine.nodes.size()},
                      {"processors", machine.processors},
                      {"accelerators", accelerators_of(machine)},
                      {"partitions", partitions},
                      {"licences", licences},
                      {"qos", machine.qos.size()},
                      {"accounts", machine.accounts.size()},
                      {"left_out", account.cluster.left_out}}},
                    {"workload",
                     {{"rows", log.report.rows},
                      {"jobs", log.report.kept},
                      {"dropped", log.report.dropped()},
                      {"unix_start", log.unix_start},
                      {"exports", exports},
                      {"dropped_rows", findings_of(account, true)},
                      {"remarks", findings_of(account, false)},
                      {"never_run", unfit}}},
                    {"told", account.told},
                    {"guessed", account.guessed},
                    {"next", account.next}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rota::cli

#include "cli/live/sbatch_options.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"

namespace rota::cli {
namespace {

using enum Fate;
using enum Takes;

constexpr std::string_view kInside = "Rota does not look inside nodes; ask for processors with -n and -c";
constexpr std::string_view kBuffer = "there are no burst buffers; copy files in the script";
constexpr std::string_view kSwitches =
    "Rota knows no network between nodes; -p names a partition of nodes that are near";
constexpr std::string_view kGpus =
    "--gpus-per-node or --gpus-per-task says how many accelerators, -n and -c processors";
constexpr std::string_view kImage = "start the container in the script, as `apptainer exec IMAGE PROGRAM`";
constexpr std::string_view kUser = "a job runs as the user that submits it";
constexpr std::string_view kOther = "ROTA_URL or --url names another service";
constexpr std::string_view kCommandLine = "`rota submit` takes it on its command line";
constexpr std::string_view kNoSuch = "a job is one run of its script here";

constexpr SbatchOption kOptions[] = {
    {"account", 'A', value, honoured},
    {"acctg-freq", '\0', value, passed_over},
    {"array", 'a', value, honoured},
    {"autocomplete", '\0', value, refused, "`rota completion` prints what a shell completes by"},
    {"batch", '\0', value, refused, "Rota chooses on which of its nodes the script runs; -C asks for features of all"},
    {"bb", '\0', value, refused, kBuffer},
    {"bbf", '\0', value, refused, kBuffer},
    {"begin", 'b', value, honoured},
    {"chdir", 'D', value, honoured},
    {"cluster", '\0', value, refused, kOther},
    {"cluster-constraint", '\0', value, refused, kOther},
    {"clusters", 'M', value, refused, kOther},
    {"comment", '\0', value, honoured},
    {"consolidate-segments", '\0', nothing, refused, kSwitches},
    {"constraint", 'C', value, honoured},
    {"container", '\0', value, refused, kImage},
    {"container-id", '\0', value, refused, kImage},
    {"context", '\0', value, refused, "a job runs in the security context of its service"},
    {"contiguous", '\0', nothing, refused, kSwitches},
    {"core-spec", 'S', value, refused, kInside, "0"},
    {"cores-per-socket", '\0', value, refused, kInside},
    {"cpu-freq", '\0', value, passed_over},
    {"cpus-per-gpu", '\0', value, honoured},
    {"cpus-per-task", 'c', value, honoured},
    {"deadline", '\0', value, refused, "-b says when it may begin, -t for how long it may run"},
    {"delay-boot", '\0', value, passed_over},
    {"dependency", 'd', value, honoured},
    {"distribution", 'm', value, passed_over, "a job starts its own processes"},
    {"error", 'e', value, honoured},
    {"exclude", 'x', value, honoured},
    {"exclusive", '\0', perhaps, honoured},
    {"export", '\0', value, honoured},
    {"export-file", '\0', value, refused, "--export names variables; the script can read a file of them"},
    {"external", '\0', nothing, refused, kNoSuch},
    {"extra", '\0', value, passed_over},
    {"extra-node-info", 'B', value, refused, kInside},
    {"get-user-env", '\0', perhaps, passed_over, "a job has the environment in which it was submitted"},
    {"gid", '\0', value, refused, kUser},
    {"gpu-bind", '\0', value, passed_over},
    {"gpu-freq", '\0', value, passed_over},
    {"gpus", 'G', value, honoured},
    {"gpus-per-node", '\0', value, honoured},
    {"gpus-per-socket", '\0', value, refused, kGpus},
    {"gpus-per-task", '\0', value, honoured},
    {"gres", '\0', value, honoured},
    {"gres-flags", '\0', value, passed_over},
    {"help", 'h', nothing, refused, "`rota submit --help` prints the options"},
    {"hint", '\0', value, passed_over, "what it has are whole processors"},
    {"hold", 'H', nothing, honoured},
    {"ignore-pbs", '\0', nothing, passed_over},
    {"input", 'i', value, honoured},
    {"job-name", 'J', value, honoured},
    {"kill-on-invalid-dep", '\0', value, passed_over, "a job that can never start waits until it is cancelled"},
    {"licenses", 'L', value, honoured},
    {"mail-type", '\0', value, honoured},
    {"mail-user", '\0', value, honoured},
    {"mcs-label", '\0', value, passed_over},
    {"mem", '\0', value, honoured},
    {"mem-bind", '\0', value, passed_over},
    {"mem-per-cpu", '\0', value, honoured},
    {"mem-per-gpu", '\0', value, honoured},
    {"mincpus", '\0', value, refused, kInside, "1"},
    {"network", '\0', value, passed_over},
    {"nice", '\0', perhaps, honoured},
    {"no-kill", 'k', perhaps, passed_over, "a job that loses a node ends"},
    {"no-requeue", '\0', nothing, honoured},
    {"nodefile", 'F', value, refused, "-w names the nodes themselves"},
    {"nodelist", 'w', value, honoured},
    {"nodes", 'N', value, honoured},
    {"ntasks", 'n', value, honoured},
    {"ntasks-per-core", '\0', value, refused, kInside, "1"},
    {"ntasks-per-gpu", '\0', value, refused, kGpus},
    {"ntasks-per-node", '\0', value, honoured},
    {"ntasks-per-socket", '\0', value, refused, kInside},
    {"ntasks-per-tres", '\0', value, refused, kGpus},
    {"oom-kill-step", '\0', perhaps, passed_over},
    {"open-mode", '\0', value, honoured},
    {"output", 'o', value, honoured},
    {"overcommit", 'O', nothing, refused, "-n says how many processors it is to have"},
    {"oversubscribe", 's', nothing, passed_over, "no two jobs share a processor"},
    {"parsable", '\0', nothing, passed_over, kCommandLine},
    {"partition", 'p', value, honoured},
    {"power", '\0', value, passed_over},
    {"prefer", '\0', value, passed_over, "-C asks for features that a job needs"},
    {"priority", '\0', value, honoured},
    {"profile", '\0', value, passed_over},
    {"propagate", '\0', perhaps, passed_over, "a job has the limits of its service"},
    {"qos", 'q', value, honoured},
    {"quiet", 'Q', nothing, passed_over},
    {"reboot", '\0', nothing, refused, "no node is booted anew for a job"},
    {"requeue", '\0', perhaps, honoured},
    {"reservation", '\0', value, honoured},
    {"resources", '\0', value, refused, "-n, --mem and --gpus-per-node say what it needs"},
    {"resv-ports", '\0', perhaps, refused, "no ports are set aside; let the program choose a free one"},
    {"segment", '\0', value, refused, kSwitches},
    {"signal", '\0', value, honoured},
    {"sockets-per-node", '\0', value, refused, kInside},
    {"spread-job", '\0', nothing, refused, "-N says over how many nodes it is spread"},
    {"spread-segments", '\0', nothing, refused, kSwitches},
    {"stepmgr", '\0', nothing, passed_over},
    {"switches", '\0', value, refused, kSwitches},
    {"tasks-per-node", '\0', value, honoured, "--ntasks-per-node"},
    {"test-only", '\0', nothing, refused, "`rota submit --test-only` submits nothing"},
    {"thread-spec", '\0', value, refused, kInside, "0"},
    {"threads-per-core", '\0', value, refused, kInside, "1"},
    {"time", 't', value, honoured},
    {"time-min", '\0', value, passed_over, "its limit is that of -t"},
    {"tmp", '\0', value, refused, "Rota does not count disk space", "0"},
    {"tres-bind", '\0', value, passed_over},
    {"tres-per-task", '\0', value, honoured},
    {"uid", '\0', value, refused, kUser},
    {"usage", '\0', nothing, refused, "`rota submit --help` prints the options"},
    {"use-min-nodes", '\0', nothing, passed_over},
    {"verbose", 'v', nothing, passed_over},
    {"version", 'V', nothing, refused, "`rota --version` prints it"},
    {"wait", 'W', nothing, passed_over, kCommandLine},
    {"wait-all-nodes", '\0', value, passed_over, "all its nodes are up when a job starts"},
    {"wckey", '\0', value, passed_over},
    {"wrap", '\0', value, refused, kCommandLine},
};

std::string dashed(const SbatchOption& option) { return "--" + std::string(option.name); }

// Among several with the same beginning: the one that is meant all the same, or nullptr.
const SbatchOption* meant(const std::vector<const SbatchOption*>& several) {
  const auto begins_all = [&](const SbatchOption* one) {
    return std::ranges::all_of(several, [&](const auto* other) { return other->name.starts_with(one->name); });
  };
  if (const auto found = std::ranges::find_if(several, begins_all); found != several.end()) return *found;
  const auto for_accelerators = [](const SbatchOption* one) {
    return one->name.contains("gpu") || one->name.contains("tres");
  };
  std::vector<const SbatchOption*> others = several;
  std::erase_if(others, for_accelerators);
  return others.size() == 1 ? others.front() : nullptr;
}

}  // namespace

std::span<const SbatchOption> sbatch_options() { return kOptions; }

Result<const SbatchOption*> sbatch_option(std::string_view name, bool* guessed) {
  if (name.size() == 2 && name[1] != '-') {
    const auto* const found = std::ranges::find(kOptions, name[1], &SbatchOption::letter);
    return found == std::end(kOptions) ? nullptr : found;
  }
  if (!name.starts_with("--") || name.size() == 2) return nullptr;
  const std::string_view beginning = name.substr(2);
  std::vector<const SbatchOption*> found;
  for (const SbatchOption& option : kOptions) {
    if (option.name == beginning) return &option;
    if (option.name.starts_with(beginning)) found.push_back(&option);
  }
  if (found.empty()) return nullptr;
  if (found.size() == 1) return found.front();
  if (const SbatchOption* one = meant(found)) {
    if (guessed != nullptr) *guessed = true;
    return one;
  }
  std::vector<std::string> names;
  for (const SbatchOption* option : found) names.push_back(dashed(*option));
  return fail("{} may be {}; write one of them out", name, alternatives(names));
}

Fate fate(const SbatchOption& option, std::optional<std::string_view> value) {
  if (option.name == "exclusive" && value && *value != "user" && *value != "mcs") return refused;
  return value && !option.idle.empty() && *value == option.idle ? Fate::passed_over : option.fate;
}

std::string nearest_sbatch_option(std::string_view name) {
  std::vector<std::string> names;
  for (const SbatchOption& option : kOptions) names.push_back(dashed(option));
  const std::string_view near = nearest(name, {names.begin(), names.end()});
  return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

std::string own_name(const SbatchOption& option) {
  return option.text.empty() ? dashed(option) : std::string(option.text);
}

}  // namespace rota::cli

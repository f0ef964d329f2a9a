#include "cli/live/submit_environment.h"

#include <fmt/core.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "base/letters.h"
#include "base/text.h"
#include "cli/live/service_address.h"
#include "cli/live/submit_value.h"
#include "cli/when.h"
#include "serve/this_host.h"

namespace rota::cli {
namespace {

const SubmitValue* given(const SubmitValues& values, std::string_view key) {
  const auto found = values.find(key);
  return found == values.end() ? nullptr : &found->second;
}

bool sets_one_of(std::string_view variable, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return variable.starts_with(name); });
}

// What --export=NONE leaves: enough to log in.
bool always(std::string_view variable) {
  static constexpr std::array<std::string_view, 5> kKept{"HOME=", "LOGNAME=", "PATH=", "SHELL=", "USER="};
  return sets_one_of(variable, kKept);
}

// What scripts for Slurm count with, where it was asked for: "NTASKS_PER_NODE=2 MEM_PER_CPU=20".
std::string asked_in_slurms_words(const SubmitValues& values) {
  constexpr std::array<std::array<std::string_view, 2>, 7> kWords{{{"per_node", "NTASKS_PER_NODE"},
                                                                   {"each_of_accelerator", "CPUS_PER_GPU"},
                                                                   {"accelerators_all", "GPUS"},
                                                                   {"accelerators_each", "GPUS_PER_TASK"},
                                                                   {"memory_each", "MEM_PER_CPU"},
                                                                   {"memory_of_accelerator", "MEM_PER_GPU"},
                                                                   {"after", "JOB_DEPENDENCY"}}};
  std::string out;
  const auto add = [&](std::string_view name, const std::string& text) {
    if (!text.contains(' ')) out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, text);
  };
  for (const auto& [key, name] : kWords) {
    const SubmitValue* value = given(values, key);
    if (value == nullptr || value->text.contains(":last")) continue;  // which is a number only later
    const bool megabytes = name.starts_with("MEM_");
    add(name, megabytes ? std::to_string(size_of(*value).value_or(0) >> 20U) : value->text);
  }
  if (const SubmitValue* value = given(values, "accelerators"); value != nullptr && value->where.ends_with("-node"))
    add("GPUS_PER_NODE", value->text);
  return out;
}

// A script with #PBS lines looks for these.
void add_origin(const Surroundings& here, std::vector<std::string>& out) {
  static constexpr std::array<std::string_view, 6> kOrigin{"HOME=", "LANG=", "LOGNAME=", "MAIL=", "PATH=", "SHELL="};
  out.push_back("PBS_O_WORKDIR=" + here.folder);
  out.push_back("PBS_O_HOST=" + serve::this_host());
  out.emplace_back("PBS_O_SYSTEM=Linux");
  for (const std::string& variable : here.environment)
    if (sets_one_of(variable, kOrigin)) out.push_back("PBS_O_" + variable);
}

// sbatch takes options from its environment; here they would go unseen.
void about_options_in(const std::vector<std::string>& environment, std::vector<std::string>& remarks) {
  for (const std::string& variable : environment) {
    if (variable.starts_with("SBATCH_") && !variable.starts_with("SBATCH_MEM_BIND"))
      remarks.push_back(variable.substr(0, variable.find('=')) +
                        " of the environment is not read; give the option on the command line or in the script.");
  }
}

}  // namespace

Result<Surroundings> surroundings() {
  std::error_code failed;
  Surroundings here;
  here.folder = std::filesystem::current_path(failed).string();
  if (failed) return fail("This folder cannot be named: {}. Change to another one.", failed.message());
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_of_address(*variable)) here.environment.emplace_back(*variable);
  }
  here.now = unix_now();
  here.umask = ::umask(0);
  ::umask(here.umask);
  return here;
}

std::vector<std::string> job_environment(const SubmitValues& values, const Surroundings& here,
                                         std::vector<std::string>& remarks) {
  const SubmitValue* value = given(values, "export");
  std::vector<std::string_view> names;  // NAME or NAME=VALUE
  if (value != nullptr) names = split(value->text, ',');
  const auto is_all = [](std::string_view name) { return lower(name) == "all"; };
  const bool all = value == nullptr || std::ranges::any_of(names, is_all);
  std::vector<std::string> out;
  for (const std::string& variable : here.environment) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    const auto set = [&](std::string_view word) { return word.substr(0, word.find('=')) == name; };
    const auto found = std::ranges::find_if(names, set);
    const bool wanted = found != names.end() ? found->find('=') == std::string_view::npos : all || always(variable);
    if (wanted) out.push_back(variable);
  }
  for (const std::string_view name : names) {
    for (const char* const prefix : {"ROTA_", "SLURM_"}) {
      if (name.starts_with(prefix))
        remarks.push_back(
            fmt::format("{} of --export is left out: only the service says what begins with {}; call it otherwise.",
                        rota::quoted(name.substr(0, name.find('='))), prefix));
    }
    if (name.find('=') != std::string_view::npos) out.emplace_back(name);
  }
  const SubmitValue* const variables = given(values, "variables");
  if (variables != nullptr && variables->text == "pbs") add_origin(here, out);
  if (variables != nullptr && variables->text == "slurm") {
    out.emplace_back("ROTA_SBATCH=1");
    about_options_in(here.environment, remarks);
  }
  if (const std::string asked = asked_in_slurms_words(values); !asked.empty())
    out.push_back("ROTA_SBATCH_ASKED=" + asked);
  return out;
}

}  // namespace rota::cli

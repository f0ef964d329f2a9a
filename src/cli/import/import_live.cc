#include "cli/import/import_live.h"

#include <fmt/core.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "log/sacct_columns.h"
#include "site/slurm_reservations.h"
#include "site/slurm_table.h"

namespace rota::cli {
namespace {

// This program's own, but for the forms of times and columns that users may have set, and in UTC.
std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry = *at;
    if (entry.starts_with("TZ=") || entry.starts_with("SLURM_TIME_FORMAT=") || entry.starts_with("SACCT_FORMAT=") ||
        entry.starts_with("SLURM_BITSTR_LEN=")) {
      continue;
    }
    all.emplace_back(entry);
  }
  all.emplace_back("TZ=UTC");
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

Result<void> run(SlurmCommand command, const std::string& path) {
  const std::string shown = fmt::format("{} {} {}", command.words[0], command.words[1], command.words[2]);
  auto variables = environment();
  const auto words = pointers(command.words), given = pointers(variables);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  pid_t process = -1;
  const int error = ::posix_spawnp(&process, words[0], &actions, nullptr, words.data(), given.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return fail(
        "Cannot run {}: {}. Is this a host of the cluster, with Slurm's commands in the PATH? Else save what they "
        "print there, and give --from (see --help).",
        command.words[0], std::strerror(error));
  }
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return fail("Cannot wait for {}: {}.", shown, std::strerror(errno));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail("`{} ...` failed{}; what it said stands above. Go to a host on which it works, or give --from.", shown,
              WIFEXITED(status) ? " with exit code " + std::to_string(WEXITSTATUS(status)) : std::string());
}

// Slurm 21.08 and later know the command line with which a job was submitted, which says how many tasks of an array run
// at once.
bool knows_submit_line(const std::string& config_file) {
  const auto text = read_file(config_file);
  const auto config = text ? site::slurm_config(*text, config_file) : std::unexpected(text.error());
  const auto version = config ? config->find("SLURM_VERSION") : site::SlurmConfig::const_iterator{};
  if (!config || version == config->end()) return false;
  const auto number = parse_number(version->second.substr(0, version->second.find('.', version->second.find('.') + 1)));
  return number && *number >= 21.08;
}

}  // namespace

std::vector<SlurmCommand> slurm_commands(const std::string& since, const std::string& until) {
  return {{"config.txt", {"scontrol", "show", "config"}, &site::SlurmText::config},
          {"nodes.txt", {"scontrol", "-a", "-o", "show", "node"}, &site::SlurmText::nodes},
          {"partitions.txt", {"scontrol", "-a", "-o", "show", "partition"}, &site::SlurmText::partitions},
          {"licences.txt", {"scontrol", "-o", "show", "lic"}, &site::SlurmText::licences, true},
          {"qos.txt",
           {"sacctmgr", "-P", "show", "qos", std::string("format=") + site::kQosFormat},
           &site::SlurmText::qos,
           true},
          {"assoc.txt",
           {"sacctmgr", "-P", "show", "assoc", std::string("format=") + site::kAssociationFormat},
           &site::SlurmText::associations,
           true},
          {"reservations.txt",
           {"sacctmgr", "-P", "show", "reservation", std::string("format=") + site::kReservationFormat},
           &site::SlurmText::reservations,
           true},
          {"sacct.txt",
           {"sacct", "-X", "-P", "-D", "--allusers", "-S", since, "-E", until,
            std::string("--format=") + log::kSacctFormat}}};
}

std::string typed_commands(const std::string& folder, const std::string& since, const std::string& until) {
  std::string text;
  for (const SlurmCommand& command : slurm_commands(since, until)) {
    const bool tells_times = command.words[0] == "sacct" || command.file == "reservations.txt";
    text += tells_times ? "  TZ=UTC" : " ";
    for (const std::string& word : command.words) text += " " + word;
    text += fmt::format(" > {}/{}\n", folder, command.file);
  }
  return text;
}

namespace {

Result<void> run_all(std::vector<SlurmCommand> commands, const std::string& folder) {
  for (SlurmCommand& command : commands) {
    const std::string path = fmt::format("{}/{}", folder, command.file);
    const bool needed = !command.may_be_missing;
    if (command.words[0] == "sacct" && knows_submit_line(folder + "/config.txt")) command.words.back() += ",SubmitLine";
    auto done = run(std::move(command), path);
    if (!done && needed) return done;
    std::error_code none;
    if (!done) std::filesystem::remove(path, none);
  }
  return {};
}

}  // namespace

Result<void> ask_slurm(const std::string& folder, const std::string& since, const std::string& until) {
  return run_all(slurm_commands(since, until), folder);
}

Result<void> ask_slurm_of_cluster(const std::string& folder) {
  auto commands = slurm_commands("", "");
  std::erase_if(commands, [](const SlurmCommand& command) { return command.of_cluster == nullptr; });
  return run_all(std::move(commands), folder);
}

Error kept_what_was_asked(const Error& error, const std::string& folder, const std::string& beside) {
  std::string text = error.message;
  const auto named = [&](const std::string& kept) {
    for (std::size_t at = 0; (at = text.find(folder + "/", at)) != std::string::npos; at += kept.size())
      text.replace(at, folder.size() + 1, kept);
  };
  std::string kept = beside + ".saved-XXXXXX";
  if (::mkdtemp(kept.data()) == nullptr || ::rename(folder.c_str(), kept.c_str()) != 0) {
    named("");
    return {fmt::format("{} What Slurm printed could not be kept: {}.", text, std::strerror(errno))};
  }
  named(kept + "/");
  return {fmt::format("{} What Slurm printed is kept in {}: go on with --from {} in place of --live.", text,
                      shown_path(kept), for_shell(kept))};
}

}  // namespace rota::cli

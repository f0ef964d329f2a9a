#include "process/spawn.h"

#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/open_files.h"

namespace rota::process {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

pid_t spawn(const Spawning& what) {
  std::vector<std::string> words = what.words, variables = what.variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  const std::vector<char*> arguments = pointers(words), environment = pointers(variables);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  for (const auto& [ours, theirs] : what.files) ::posix_spawn_file_actions_adddup2(&files, ours, theirs);
  if (what.apart) ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  sigset_t none;
  sigset_t all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  ::posix_spawnattr_setsigmask(&how, &none);
  ::posix_spawnattr_setsigdefault(&how, &all);
  ::posix_spawnattr_setflags(&how,
                             POSIX_SPAWN_SETSIGMASK | (what.apart ? POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID : 0));
  pid_t pid = 0;
  const auto start = what.searched ? ::posix_spawnp : ::posix_spawn;
  const bool raised = restore_open_files();  // for the program; what is open here stays so
  const int error = start(&pid, arguments.front(), &files, &how, arguments.data(), environment.data());
  if (raised) raise_open_files();
  ::posix_spawnattr_destroy(&how);
  ::posix_spawn_file_actions_destroy(&files);
  errno = error;
  return error == 0 ? pid : 0;
}

}  // namespace rota::process

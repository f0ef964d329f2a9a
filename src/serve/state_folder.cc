#include "serve/state_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/file.h"

namespace rota::serve {

Result<void> make_folder(const std::string& path) {
  // Of root: others pass through to the scripts of their own jobs, and see nothing else.
  const mode_t mode = ::geteuid() == 0 ? 0711 : 0700;
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  return fail("the folder " + shown_path(path) + " cannot be made: " + std::strerror(errno) +
              ". Name another with --state.");
}

Result<void> check_not_lost(const std::string& database, const std::string& runs) {
  std::error_code none;
  if (std::filesystem::file_size(database, none) != 0 || none) return {};
  if (std::filesystem::is_empty(runs, none) || none) return {};
  return fail(shown_path(database) + " is empty, and " + shown_path(runs) +
              " has what a service kept of its jobs: the database is lost. Put a copy of it back, or remove " +
              shown_path(runs) + " to begin anew without those jobs.");
}

}  // namespace rota::serve

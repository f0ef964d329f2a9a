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
  if (::mkdir(path.c_str(), mode) == 0) return {};
  struct stat found{};
  if (errno != EEXIST || ::stat(path.c_str(), &found) != 0)
    return fail("the folder " + shown_path(path) + " cannot be made: " + std::strerror(errno) +
                ". Name another for the state: `rota serve --background --state FOLDER`.");
  const std::string danger = ", so jobs could be put into it that run as you; name another folder with --state";
  if (found.st_uid != ::geteuid())
    return fail("the folder " + shown_path(path) + " of the state belongs to another user" + danger + ".");
  if ((found.st_mode & S_IWOTH) != 0)
    return fail("the folder " + shown_path(path) + " of the state can be written by all users" + danger +
                ", or close it with `chmod 700`, if you know what is in it.");
  return {};
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

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
  // Through a folder of root other users pass to the scripts of their own jobs, and see nothing else.
  const mode_t mode = ::geteuid() == 0 ? 0711 : 0700;
  if (::mkdir(path.c_str(), mode) == 0) return {};
  struct stat found{};
  if (errno != EEXIST || ::stat(path.c_str(), &found) != 0)
    return fail(
        "the folder {} cannot be made: {}. Name another for the state: `rota serve --background --state FOLDER`.",
        shown_path(path), std::strerror(errno));
  const std::string danger = ", so jobs could be put into it that run as you; name another folder with --state";
  if (found.st_uid != ::geteuid())
    return fail("the folder {} of the state belongs to another user{}.", shown_path(path), danger);
  if ((found.st_mode & S_IWOTH) != 0)
    return fail(
        "the folder {} of the state can be written by all users{}, or close it with `chmod 700`, if you know what is "
        "in it.",
        shown_path(path), danger);
  return {};
}

Result<void> check_not_lost(const std::string& database, const std::string& runs) {
  std::error_code none;
  if (std::filesystem::file_size(database, none) != 0 || none) return {};
  if (std::filesystem::is_empty(runs, none) || none) return {};
  return fail(
      "{} is empty, and {} has what a service kept of its jobs: the database is lost. Put a copy of it back, or remove "
      "{} to begin anew without those jobs.",
      shown_path(database), shown_path(runs), shown_path(runs));
}

}  // namespace rota::serve

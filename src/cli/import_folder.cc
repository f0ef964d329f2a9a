#include "cli/import_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace rota::cli {
namespace {

namespace fs = std::filesystem;

Result<void> check_free(const std::string& path, bool overwrite, const std::vector<std::string_view>& own) {
  std::error_code error;
  const std::string shown = shown_path(path);
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return {};
  if (status.type() != fs::file_type::directory)
    return fail(shown + " is there already, and not a folder; name another one.");
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename();
    if (std::ranges::find(own, name) == own.end()) {
      return fail(shown + " has " + rota::quoted(name) + " in it, which is no part of an import; name another folder.");
    }
    if (!overwrite)
      return fail(shown + " is there already. Name another folder, or have it replaced with --overwrite.");
  }
  if (error) return fail("Cannot read " + shown + ": " + error.message() + ".");
  return {};
}

}  // namespace

Result<StagedFolder> StagedFolder::create(const std::string& path, bool overwrite, std::vector<std::string_view> own) {
  if (auto free = check_free(path, overwrite, own); !free) return std::unexpected(free.error());
  fs::path target = fs::path(path).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  const std::string name = target.filename();
  if (name.empty() || name == "." || name == "..") return fail("Name a folder that is to be made, such as ./site.");
  std::string staged = (target.parent_path() / ("." + name + ".import-XXXXXX")).string();
  if (::mkdtemp(staged.data()) == nullptr)
    return fail("Cannot make a folder beside " + shown_path(path) + ": " + std::strerror(errno) + ".");
  ::chmod(staged.c_str(), 0755);
  return StagedFolder(target.string(), std::move(staged));
}

StagedFolder::StagedFolder(StagedFolder&& other) noexcept
    : path_(std::move(other.path_)), staged_(std::exchange(other.staged_, {})) {}

StagedFolder::~StagedFolder() {
  std::error_code error;
  if (!staged_.empty()) fs::remove_all(staged_, error);
}

Result<void> StagedFolder::commit() {
  sync_folder(staged_);
  if (::rename(staged_.c_str(), path_.c_str()) == 0) {
    staged_.clear();
  } else if (errno != ENOTEMPTY && errno != EEXIST) {
    return fail("Cannot make " + shown_path(path_) + ": " + std::strerror(errno) + ".");
  } else if (::renameat2(AT_FDCWD, staged_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) != 0) {
    return fail("Cannot replace " + shown_path(path_) + ": " + std::strerror(errno) +
                ". Remove it, or name another folder.");
  }  // else what was there is in the place of what is staged, and goes with it
  sync_folder(folder_of(path_));
  return {};
}

}  // namespace rota::cli

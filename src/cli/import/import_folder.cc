#include "cli/import/import_folder.h"

#include <fmt/core.h>

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

Result<void> check_free(const std::string& path, bool overwrite, const std::vector<OwnEntry>& own) {
  std::error_code error;
  const std::string shown = shown_path(path);
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return {};
  if (status.type() != fs::file_type::directory)
    return fail(shown + " is there already, and not a folder; name another one.");
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const std::string name = entry.path().filename();
    const auto one = std::ranges::find(own, name, &OwnEntry::name);
    if (one == own.end()) {
      return fail("{} has {} in it, which is no part of an import; name another folder.", shown, rota::quoted(name));
    }
    if (!overwrite)
      return fail(shown + " is there already. Name another folder, or have it replaced with --overwrite.");
    if (auto owned = one->check(entry.path()); !owned) return owned;
  }
  if (error) return fail("Cannot read {}: {}.", shown, error.message());
  return {};
}

}  // namespace

Result<StagedFolder> StagedFolder::create(const std::string& path, bool overwrite, const std::vector<OwnEntry>& own) {
  TRY(check_free(path, overwrite, own));
  fs::path target = fs::path(path).lexically_normal();
  if (!target.has_filename()) target = target.parent_path();
  const std::string name = target.filename();
  if (name.empty() || name == "." || name == "..") return fail("Name a folder that is to be made, such as ./site.");
  std::string staged = (target.parent_path() / (fmt::format(".{}.import-XXXXXX", name))).string();
  if (::mkdtemp(staged.data()) == nullptr)
    return fail("Cannot make a folder beside {}: {}.", shown_path(path), std::strerror(errno));
  ::chmod(staged.c_str(), 0755);
  return StagedFolder(target.string(), std::move(staged));
}

StagedFolder::StagedFolder(StagedFolder&& other) noexcept
    : path_(std::move(other.path_)), staged_(std::exchange(other.staged_, {})) {}

StagedFolder::~StagedFolder() {
  std::error_code error;
  if (!staged_.empty()) fs::remove_all(staged_, error);
}

// Linked or copied, so that it is in both folders whatever happens in between.
Result<void> StagedFolder::keep(std::string_view name) {
  const fs::path from = fs::path(path_) / name, to = at(name);
  std::error_code error;
  if (!fs::exists(fs::symlink_status(from, error))) return {};
  constexpr fs::copy_options kAll = fs::copy_options::recursive | fs::copy_options::copy_symlinks;
  fs::copy(from, to, kAll | fs::copy_options::create_hard_links, error);
  if (error) {  // there are file systems without links
    std::error_code ignored;
    fs::remove_all(to, ignored);
    fs::copy(from, to, kAll, error);
  }
  if (error) return fail("Cannot keep {}: {}.", shown_path(from), error.message());
  return {};
}

Result<void> StagedFolder::commit() {
  sync_folder(staged_);
  if (::rename(staged_.c_str(), path_.c_str()) == 0) {
    staged_.clear();
  } else if (errno != ENOTEMPTY && errno != EEXIST) {
    return fail("Cannot make {}: {}.", shown_path(path_), std::strerror(errno));
  } else if (::renameat2(AT_FDCWD, staged_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) != 0) {
    return fail("Cannot replace {}: {}. Remove it, or name another folder.", shown_path(path_), std::strerror(errno));
  }  // else what was there is in the place of what is staged, and goes with it
  sync_folder(folder_of(path_));
  return {};
}

}  // namespace rota::cli

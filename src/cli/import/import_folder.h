// A folder that appears whole or not at all.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rota::cli {

// What may be in a folder that is replaced: by its name, and by its content, for what has the name of such a file and
// is a user's own work must stay. check(path) fails with a sentence that says what it is.
struct OwnEntry {
  std::string_view name;
  std::function<Result<void>(const std::string& path)> check;
};

// Files are written into a folder beside the one that is wanted, which takes its name in commit(). Without commit()
// nothing is left of it.
class StagedFolder {
 public:
  // Fails where `path` is there already and not an empty folder; with `overwrite` a folder is replaced that has nothing
  // in it but `own` entries.
  static Result<StagedFolder> create(const std::string& path, bool overwrite, const std::vector<OwnEntry>& own);
  StagedFolder(StagedFolder&& other) noexcept;
  StagedFolder& operator=(StagedFolder&&) = delete;
  ~StagedFolder();

  const std::string& path() const { return path_; }  // that it takes
  std::string at(std::string_view name) const { return fmt::format("{}/{}", staged_, name); }
  // What stands there by that name goes on standing there in the folder that takes its place.
  Result<void> keep(std::string_view name);
  Result<void> commit();

 private:
  StagedFolder(std::string path, std::string staged) : path_(std::move(path)), staged_(std::move(staged)) {}
  std::string path_;
  std::string staged_;  // empty: nothing is to be removed
};

}  // namespace rota::cli

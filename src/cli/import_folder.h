// A folder that appears whole or not at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rota::cli {

// Files are written into a folder beside the one that is wanted, which takes its name in commit(). Without commit()
// nothing is left of it.
class StagedFolder {
 public:
  // Fails where `path` is there already and not an empty folder; with `overwrite` a folder is replaced that has nothing
  // in it but `own` names, which are those that may be written.
  static Result<StagedFolder> create(const std::string& path, bool overwrite, std::vector<std::string_view> own);
  StagedFolder(StagedFolder&& other) noexcept;
  StagedFolder& operator=(StagedFolder&&) = delete;
  ~StagedFolder();

  std::string at(std::string_view name) const { return staged_ + "/" + std::string(name); }
  Result<void> commit();

 private:
  StagedFolder(std::string path, std::string staged) : path_(std::move(path)), staged_(std::move(staged)) {}
  std::string path_;
  std::string staged_;  // empty: nothing is to be removed
};

}  // namespace rota::cli

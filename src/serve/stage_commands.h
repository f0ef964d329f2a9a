// The commands that move files of jobs between sites: one script for /bin/sh, which gets what it needs as variables. It
// uses coreutils, findutils, setpriv (where the service is root) and rsync.
//
// A site's folder `data` has
//
//   out/NAME/files, out/NAME/sums   what other sites may fetch, and its SHA-256 sums; made as NAME.part and renamed
//   when
//                                   it is whole. NAME: a job's number, of its input; HOME-NUMBER, of what it left
//   out/NAME/failed                 in their place: why it could not be made
//   in/NAME/files, ...              the same, fetched: HOME-NUMBER, in which the job runs, or back-NUMBER
//   in/kept-back-NUMBER             what could not be copied into the folder of the job
//   in/NAME/job                     once the job can run there: what is to go back
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "process/site_command.h"

namespace rota::serve {

struct StageUser {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

class StageCommands {
 public:
  using Command = process::SiteCommand::Options;

  // `account`: whose files between sites are; nothing: the service is not root, and does all as its own user.
  StageCommands(std::string data, std::optional<StageUser> account, std::string fetch)
      : data_(std::move(data)), account_(account), fetch_(std::move(fetch)) {}

  std::string path(std::string_view part, std::string_view name) const;  // part: "in" or "out"

  Command prepare() const;  // the folders, as far as they are missing
  // Copies files within `folder`, as their user, to out/NAME. `must` are there, or that fails; `may` may be. Names of
  // files, in which `*`, `?` and `[]` stand for others.
  Command give(const std::string& name, const StageUser& user, const std::string& folder,
               const std::vector<std::string>& must, const std::vector<std::string>& may) const;
  // Fetches NAME from the other site's address to in/`to`, and looks at its sums; `again`: what is there already may be
  // wrong. Ends with kNeverMade where that site says that it could not be made, and writes why.
  Command fetch(const std::string& address, const std::string& name, const std::string& to, bool again) const;
  // What was fetched is the user's, and a job can run in it. `job`: the text of in/NAME/job.
  Command hand_over(const std::string& name, const StageUser& user, const std::string& job) const;
  // Copies what was fetched into the user's folder, as the user, and no more than `may` names. Where that fails, what
  // was fetched stays at in/kept-NAME, which is the user's to read.
  Command bring_home(const std::string& name, const StageUser& user, const std::string& folder,
                     const std::vector<std::string>& may) const;
  Command remove(std::string_view part, std::string_view name) const;

  static constexpr int kNeverMade = 9;

 private:
  Command command(const char* action, std::vector<std::string> variables) const;

  std::string data_;
  std::optional<StageUser> account_;
  std::string fetch_;
};

// The paths of a wish. Fails with a sentence where one does not lie within the job's folder.
Result<std::vector<std::string>> stage_paths(std::string_view wish, std::string_view paths);

}  // namespace rota::serve

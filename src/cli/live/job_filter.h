// Which jobs a command is about: the filters of `rota queue` and `rota history`, and selectors as arguments.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/command_line.h"
#include "cli/live/service.h"

namespace rota::cli {

struct JobFilter {
  std::vector<std::string> jobs;  // selectors
  std::string user;
  std::string state;
  std::string partition;
  std::string name;
  std::int64_t most = 0;  // rows; 0: all
  bool me = false;

  // `which`: which of the jobs are listed where there are more than `most`. `states`: as an example.
  void declare(Command command, const std::string& which, const std::string& states);
  // Anything but `most`.
  bool narrows() const;

  // As a query of the service, of /v1/jobs and of /v1/history. Fails where a state has no such name.
  Result<std::map<std::string, std::string>> query() const;

  // The jobs that are known; those that have ended too if they are asked for by their state.
  // `more` goes into the query, too. Says of each id that no job has that it is none; `all_known`
  // counts what tell_unknown says, too.
  struct Asked {
    Json jobs;
    bool all_known = true;
  };
  Result<Asked> ask(const Service& service, const std::map<std::string, std::string>& more = {}) const;
};

// Where nothing is listed: says of each user and partition in the question that there is none; false: of one at least.
bool tell_unknown(const Service& service, const std::map<std::string, std::string>& asked);

// Says that no job is listed because of the filter, where without it there are so many: "that wait or run", say.
void tell_none_meets(std::int64_t without, const std::string& of_what, const std::string& more = "");

// Says of each id among these that no job has it; false: there is such a one.
bool tell_unknown_ids(const Json& unknown);

// Says so of each id in a selector that no job has, known or gone.
Result<bool> all_known(const Service& service, const std::string& selector);

// The user that asks, as the service knows them.
constexpr const char* kCallingUser = "me";

// "12", "13,14_[1-5]" and so on as one selector.
std::string joined(const std::vector<std::string>& selectors);

constexpr const char* kSelectorHelp =
    "ids such as 12, 14_3, 14_[1-5] and 20-25, or last (of an array all tasks), all, user=NAME, user=me, name=NAME, "
    "partition=NAME, state=STATE; of several sorts a job has to suit each";

}  // namespace rota::cli

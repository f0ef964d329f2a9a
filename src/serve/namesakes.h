// Which jobs must have ended before one that is the only one of its name (`singleton`) begins: its user's jobs of that
// name which came before it. One that waits its turn itself stands for all before it, so that a queue of such jobs
// needs one dependency a job. Cost: a look at every known job, once for all the names. For one thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "serve/job_book.h"

namespace rota::serve {

class Namesakes {
 public:
  Namesakes(const JobBook& book, const View& view, std::uint32_t uid, const std::set<std::string>& names);

  std::vector<Dependency> before(const std::string& name) const;  // for the job that comes next
  void add(const std::string& name, JobId job, bool singleton);   // came next; nothing where the name is not of these

 private:
  std::map<std::string, std::vector<JobId>> latest_;  // by name
};

}  // namespace rota::serve

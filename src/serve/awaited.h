// The jobs that a submission waits for, by their numbers. What it costs to find them out is counted and limited: one
// short name may stand for ten thousand jobs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/job_terms.h"
#include "serve/after_text.h"
#include "serve/job_lookup.h"

namespace rota::serve {

inline constexpr std::size_t kMostDependencies = 100'000;  // of one submission

class Awaited {
 public:
  Awaited(const JobLookup& jobs, const View& view, const AfterText& after) : jobs_(jobs), view_(view), after_(after) {}

  // What all tasks wait for. What was met already is left out; what can never be met is refused, unless another one
  // will do.
  Result<std::vector<Dependency>> of_all();
  // What the task with this index waits for beside that.
  Result<void> add_of(std::int64_t index, std::vector<Dependency>& into);

  std::size_t looked_at() const { return looked_at_; }
  Instant begins() const { return begins_; }  // not before: so long after the start of one that runs
  bool by_index() const { return std::ranges::any_of(after_.names, &AfterName::same_index); }

 private:
  struct Meant {
    JobId job;
    std::string state = {};  // as it has ended; none: it has not
    std::string shown = {};
  };
  using Tasks = std::multimap<std::int64_t, Meant>;  // by index; -1: no array

  Result<void> looked(std::size_t more);
  Result<const Tasks*> tasks_of(std::int64_t number, bool some);
  Meant meant(JobId job) const;
  bool never_had(const Tasks& tasks, std::int64_t index) const;
  Result<void> add(const AfterName& name, std::int64_t index, std::vector<Dependency>& into);
  Result<void> add_array_that_fails(const AfterName& name, Tasks::const_iterator from, Tasks::const_iterator to,
                                    std::vector<Dependency>& into);
  Result<void> add(const Meant& on, const AfterName& name, std::vector<Dependency>& into);

  const JobLookup& jobs_;
  const View& view_;
  const AfterText& after_;
  std::map<std::int64_t, Tasks> known_;
  std::size_t looked_at_ = 0;
  bool never_ = false;  // what was added last can never be met
  Instant begins_ = kEpoch;
};

}  // namespace rota::serve

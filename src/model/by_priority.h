// The running jobs that can give way to others: the lowest priority first, of one priority the latest start first,
// which is the one that has done the least.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "base/id.h"

namespace rota {

class RunningByPriority {
 public:
  struct Entry {
    std::int32_t priority = 0;
    std::uint32_t dispatch = 0;
    std::uint32_t processors = 0;
    JobId job;

    bool operator<(const Entry& o) const {
      return priority != o.priority ? priority < o.priority : dispatch > o.dispatch;
    }
  };

  void insert(const Entry& e);
  void erase(const Entry& e);

  bool empty() const { return jobs_.empty(); }
  std::int32_t lowest() const { return jobs_.begin()->priority; }  // of some

  // Processors by the priority of the jobs that hold them, rising.
  const std::map<std::int32_t, std::int64_t>& held() const { return held_; }
  // Processors of jobs of lower priority.
  std::int64_t held_below(std::int32_t priority) const;
  // Jobs of lower priority, in order, until visit(entry) returns false.
  template <class Visit>
  void for_each_below(std::int32_t priority, const Visit& visit) const {
    for (auto at = jobs_.begin(); at != jobs_.end() && at->priority < priority && visit(*at); ++at) {
    }
  }

 private:
  std::set<Entry> jobs_;
  std::map<std::int32_t, std::int64_t> held_;
};

}  // namespace rota

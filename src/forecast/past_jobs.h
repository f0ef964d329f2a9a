// Jobs that have ended, as far as a forecast looks back: how long they really ran, and when they came. Bounded: what is
// oldest is forgotten. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "model/job.h"

namespace rota::forecast {

struct PastJob {
  JobSpec spec;
  Duration run_time{0};  // > 0; at most its limit
};

class PastJobs {
 public:
  static constexpr std::size_t kMost = 50'000;  // jobs that are kept
  static constexpr std::size_t kOfUser = 96;    // of one user, and of one class of limits: the latest
  static constexpr std::size_t kOfClass = 512;

  // In order of their ends. Jobs without a limit are of a class of their own.
  void add(const PastJob& job);

  // The latest first. O(jobs that are visited). visit(const PastJob&)
  template <class Visit>
  void for_user(std::uint32_t user, const Visit& visit) const {
    const auto found = by_user_.find(user);
    if (found != by_user_.end()) visit_from(found->second, visit);
  }
  // Those whose limits are about as long: within a factor of two.
  template <class Visit>
  void for_class(Duration limit, const Visit& visit) const {
    const auto found = by_class_.find(class_of(limit));
    if (found != by_class_.end()) visit_from(found->second, visit);
  }

  static std::uint32_t class_of(Duration limit);

  const std::deque<PastJob>& all() const { return all_; }

 private:
  using Latest = std::deque<std::uint64_t>;  // numbers of jobs, the oldest first

  template <class Visit>
  void visit_from(const Latest& latest, const Visit& visit) const {
    for (auto n = latest.rbegin(); n != latest.rend() && *n >= forgotten_; ++n) visit(all_[*n - forgotten_]);
  }

  std::deque<PastJob> all_;
  std::uint64_t forgotten_ = 0;
  std::map<std::uint32_t, Latest> by_user_;
  std::map<std::uint32_t, Latest> by_class_;
};

}  // namespace rota::forecast

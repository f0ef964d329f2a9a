#include "forecast/past_jobs.h"

#include <bit>

namespace rota::forecast {

std::uint32_t PastJobs::class_of(Duration limit) {
  return static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint64_t>(limit.count() / 1000)));
}

void PastJobs::add(const PastJob& job) {
  const std::uint64_t number = forgotten_ + all_.size();
  all_.push_back(job);
  if (all_.size() > kMost) {
    all_.pop_front();
    ++forgotten_;
  }
  Latest& of_user = by_user_[job.spec.user];
  of_user.push_back(number);
  if (of_user.size() > kOfUser) of_user.pop_front();
  Latest& of_class = by_class_[class_of(job.spec.limit)];
  of_class.push_back(number);
  if (of_class.size() > kOfClass) of_class.pop_front();
}

}  // namespace rota::forecast

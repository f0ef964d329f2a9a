#include "serve/order_advice.h"

#include <algorithm>
#include <utility>

namespace rota::serve {
namespace {

constexpr std::int64_t kFutures = 50;
constexpr int kRest = 50;  // times as long as both rehearsals took, until the next ones

}  // namespace

void OrderAdvice::rehearse(const std::vector<ManagerPlace>& places) {
  if (places.empty()) {
    starts_.clear();
    at_ = kNever;
  }
  if (places.empty() || under_way_ || desk_.now() < next_) return;
  ForecastAsked own{.futures = kFutures, .operates = true}, advised = own;
  for (const ManagerPlace& place : places) {
    const JobId job = book_.numbered(place.number);
    if (!job.valid() || !forecaster_.not_foretold(job).empty()) continue;
    own.jobs.push_back(job);
    own.priorities[job] = place.own;
    advised.priorities[job] = place.advised;
  }
  if (own.jobs.empty()) return;
  advised.jobs = own.jobs;
  under_way_ = true;
  const Instant began = desk_.now();
  forecaster_.ask(std::move(own), [this, began, advised = std::move(advised)](const Result<Forecasted>& first) {
    forecaster_.ask(advised, [this, began, first](const Result<Forecasted>& second) {
      under_way_ = false;
      next_ = desk_.now() + kRest * (desk_.now() - began);
      rehearsed(first, second);
    });
  });
}

// A job that began meanwhile is in one of both at most.
void OrderAdvice::rehearsed(const Result<Forecasted>& own, const Result<Forecasted>& advised) {
  starts_.clear();
  at_ = kNever;
  if (!own || !advised) return;
  constexpr std::size_t kMiddle = 2;
  static_assert(Forecasted::kShares[kMiddle] == 50);
  std::map<JobId, Instant> by_own;
  for (const Forecasted::Start& start : own->starts) by_own.emplace(start.job, start.by[kMiddle]);
  for (const Forecasted::Start& start : advised->starts) {
    if (const auto found = by_own.find(start.job); found != by_own.end())
      starts_[start.job] = {found->second, start.by[kMiddle]};
  }
  at_ = own->now;
}

const OrderAdvice::Starts* OrderAdvice::of(JobId job) const {
  const auto found = starts_.find(job);
  return found == starts_.end() ? nullptr : &found->second;
}

OrderAdvice::Sum OrderAdvice::sum() const {
  Sum sum{.at = at_};
  const Duration most = forecast::Question{}.horizon;
  for (const auto& [job, starts] : starts_) {
    if (starts.own == kNever && starts.advised == kNever) continue;
    ++sum.jobs;
    sum.sooner += starts.advised < starts.own ? 1 : 0;
    sum.later += starts.advised > starts.own ? 1 : 0;
    sum.mean_own += std::min(starts.own, at_ + most) - at_;
    sum.mean_advised += std::min(starts.advised, at_ + most) - at_;
  }
  if (sum.jobs > 0) sum.mean_own /= sum.jobs, sum.mean_advised /= sum.jobs;
  return sum;
}

}  // namespace rota::serve

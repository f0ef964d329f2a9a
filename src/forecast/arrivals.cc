#include "forecast/arrivals.h"

#include <algorithm>

namespace rota::forecast {
namespace {

constexpr Duration kDay = seconds(86'400);

Instant came(const PastJob& job) { return job.spec.submit; }

}  // namespace

PastArrivals::PastArrivals(const PastJobs& past, Instant now) : now_(now) {
  if (past.all().empty()) return;
  Instant first = now;
  for (const PastJob& job : past.all()) first = std::min(first, job.spec.submit);
  const Duration known = now - first;
  period_ = known >= 7 * kDay ? 7 * kDay : kDay;
  periods_ = static_cast<int>(std::min<std::int64_t>(known / period_, kWeeks));
  const Instant from = now - periods_ * period_;
  for (const PastJob& job : past.all()) {
    if (job.spec.submit >= from && job.spec.submit < now) jobs_.push_back(job);
  }
  std::ranges::stable_sort(jobs_, {}, came);
}

DrawnArrivals::DrawnArrivals(const PastArrivals& past, Random lots, Instant until)
    : past_(past), lots_(lots), until_(until) {}

// Its copy lies before now: far days are looked up as many periods earlier as it takes.
bool DrawnArrivals::open_day() {
  const Instant from = past_.now() + day_ * kDay;
  if (past_.periods() == 0 || from >= until_) return false;
  const std::int64_t whole = (day_ * kDay) / past_.period();
  shift_ = (whole + lots_.between(1, past_.periods())) * past_.period();
  const auto& jobs = past_.jobs();
  at_ = static_cast<std::size_t>(std::ranges::lower_bound(jobs, from - shift_, {}, came) - jobs.begin());
  end_ = static_cast<std::size_t>(std::ranges::lower_bound(jobs, from - shift_ + kDay, {}, came) - jobs.begin());
  ++day_;
  return true;
}

bool DrawnArrivals::next(sim::Arrival& arrival) {
  while (at_ == end_) {
    if (!open_day()) return false;
  }
  const PastJob& job = past_.jobs()[at_++];
  arrival.spec = job.spec;
  arrival.spec.submit += shift_;
  arrival.run_time = job.run_time;
  return true;
}

}  // namespace rota::forecast

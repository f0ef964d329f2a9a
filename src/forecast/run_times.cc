#include "forecast/run_times.h"

#include <algorithm>
#include <cmath>

namespace rota::forecast {
namespace {

// As first written: no log was asked for better ones (docs/forecast.md).
constexpr double kHalfOfUser = 16;   // so many jobs later, one counts half
constexpr double kOfAllUsers = 1.0;  // what all others weigh beside the user's own
constexpr std::size_t kFromClass = 64;
constexpr Duration kNothingKnown = seconds(300);  // as if a job without a limit had been seen to run for so long
constexpr int kDoublings = 16;

double likeness(const JobSpec& a, const JobSpec& b) {
  if (a.limit == b.limit) return a.processors == b.processors ? 1.0 : 0.5;
  const double ratio = static_cast<double>(a.limit.count()) / static_cast<double>(b.limit.count());
  return ratio > 0.5 && ratio < 2 ? 0.25 : 0.08;
}

// What a job that ran for so long of its limit says of one with this limit.
Duration carried_over(const JobSpec& from, Duration run_time, Duration to) {
  if (from.limit == to || to >= kLongest || from.limit >= kLongest) return run_time;
  const double share = static_cast<double>(run_time.count()) / static_cast<double>(from.limit.count());
  return Duration{std::llround(share * static_cast<double>(to.count()))};
}

using Points = std::vector<RunTimes::Point>;

// Adds the run times of jobs that outlive all that is known. Up to a limit anything is possible; where there is none,
// what has run for so long runs for as long again in half of the cases (Gott 1993), and that goes for each doubling.
void add_beyond(Points& points, Duration all_known, double weight, Duration limit) {
  if (limit < kLongest) return points.push_back({std::max(limit, all_known), weight});
  Duration run_time = std::max(all_known, seconds(1));
  for (int doubled = 0; doubled < kDoublings && run_time < kLongest / 2; ++doubled) {
    run_time *= 2;
    weight /= 2;
    points.push_back({run_time, weight});
  }
  points.back().share += weight;  // the rest
}

// One that is known to be longer than that counts for those that were (Efron 1967: to the right).
// True: none was.
bool count_longer(Points& points, Duration than, double weight, Duration limit) {
  const auto from = std::ranges::upper_bound(points, than, {}, &RunTimes::Point::run_time);
  double sum = 0;
  for (auto at = from; at != points.end(); ++at) sum += at->share;
  if (sum <= 0) {
    points.push_back({than, 0});
    add_beyond(points, than, weight, limit);
    return true;
  }
  for (auto at = from; at != points.end(); ++at) at->share *= 1 + weight / sum;
  return false;
}

}  // namespace

// Where as many are known as are kept, they are those that ended of late: jobs that began before stand for those that
// run yet.
std::vector<RunTimes::Point> RunTimes::of_all_users(const PastJobs& past, std::span<const RunsYet> run_yet,
                                                    Duration limit) {
  std::vector<const PastJob*> known;
  past.for_class(limit, [&](const PastJob& job) { known.push_back(&job); });
  const std::size_t taken = std::min(known.size(), kFromClass);
  const double weight = static_cast<double>(known.size()) / static_cast<double>(std::max<std::size_t>(taken, 1));
  Points points;
  for (std::size_t i = 0; i < taken; ++i) {
    const PastJob& job = *known[i * known.size() / taken];
    points.push_back({std::min(carried_over(job.spec, job.run_time, limit), limit), weight});
  }
  std::ranges::sort(points, {}, &Point::run_time);
  if (points.empty() || known.size() == PastJobs::kOfClass) return points;
  std::vector<Duration> elapsed;
  for (const RunsYet& other : run_yet)
    if (PastJobs::class_of(other.spec.limit) == PastJobs::class_of(limit))
      elapsed.push_back(carried_over(other.spec, other.elapsed, limit));
  std::ranges::sort(elapsed);
  for (const Duration than : elapsed) count_longer(points, than, 1, limit);
  return points;
}

RunTimes RunTimes::of(const PastJobs& past, std::span<const RunsYet> run_yet, const std::vector<Point>& others,
                      const JobSpec& spec, Duration elapsed) {
  RunTimes times;
  times.elapsed_ = elapsed;
  auto& points = times.points_;
  double age = static_cast<double>(run_yet.size());
  past.for_user(spec.user, [&](const PastJob& job) {
    points.push_back({std::min(carried_over(job.spec, job.run_time, spec.limit), spec.limit),
                      std::exp2(-age / kHalfOfUser) * likeness(job.spec, spec)});
    ++age;
  });
  double of_all = 0;
  bool beyond_all = false;
  for (const Point& point : others) of_all += point.share, beyond_all |= point.share == 0;
  for (const Point& point : others) points.push_back({point.run_time, point.share * kOfAllUsers / of_all});
  std::ranges::stable_sort(points, {}, &Point::run_time);
  for (const RunsYet& other : run_yet) {
    if (points.empty()) break;  // of none it is known how long they can be
    beyond_all |= count_longer(points, carried_over(other.spec, other.elapsed, spec.limit), likeness(other.spec, spec),
                               spec.limit);
  }
  const bool nothing_known = points.empty();
  std::erase_if(points, [&](const Point& point) { return point.run_time <= elapsed; });
  if (points.empty()) {
    points = {{elapsed, 0}};
    const bool as_if_seen = nothing_known && spec.limit >= kLongest;
    add_beyond(points, as_if_seen ? std::max(elapsed, kNothingKnown) : elapsed, 1, spec.limit);
  } else if (beyond_all && points.front().run_time >= spec.limit) {
    points.insert(points.begin(), {elapsed, 0});
  }
  double sum = 0;
  for (Point& point : points) sum += point.share, point.share = sum;
  for (Point& point : points) point.share /= sum;
  return times;
}

// Between two points in proportion; jobs that used up their limits stay apart.
Duration RunTimes::left(double lot) const {
  const auto at = std::ranges::lower_bound(points_, lot, {}, &Point::share);
  const Point& above = at == points_.end() ? points_.back() : *at;
  Duration run = above.run_time;
  if (at != points_.begin() && at != points_.end()) {
    const Point& below = *(at - 1);
    const double part = (lot - below.share) / std::max(above.share - below.share, 1e-12);
    run = below.run_time + Duration{std::llround(part * static_cast<double>((run - below.run_time).count()))};
  }
  return std::max(run - elapsed_, seconds(1));
}

}  // namespace rota::forecast

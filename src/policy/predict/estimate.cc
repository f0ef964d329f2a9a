#include "policy/predict/estimate.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace rota {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr std::array<Duration, 11> kLadder{minutes(1), minutes(5), minutes(15), minutes(30), hours(1),  hours(2),
                                           hours(5),   hours(10),  hours(20),   hours(50),   hours(100)};

constexpr Duration kMostScaled{INT64_MAX / 100'000};  // by the highest factor that a node may have; as good as for ever

bool starts_over(const JobSpec& spec) { return spec.restart != Restart::checkpoint; }

// What takes that long at one CPU factor, at another one; rounded down.
Duration time_at(std::int32_t cpu_factor, Duration time, std::int32_t before) {
  return Duration{time.count() * before / cpu_factor};
}

}  // namespace

Duration expected_run_time(Estimator estimator, const View& view, const JobSpec& spec) {
  if (estimator == Estimator::limit) return spec.limit;
  const RunHistory* history = view.history_of(spec.user);
  if (!history || history->runs < 2) return spec.limit;
  const auto mean = std::chrono::floor<std::chrono::seconds>((history->last + history->before_last) / 2);
  return std::clamp<Duration>(mean, seconds(1), std::max(spec.limit, seconds(1)));
}

Duration time_after_move(const Job& job, Instant now, std::int32_t factor_before, std::int32_t factor) {
  const Duration to_do = job.expected_end() - now + (starts_over(job.spec) ? job.done + job.ran_by(now) : Duration{0});
  return job.spec.restart_cost + time_at(factor, std::min(to_do, kMostScaled), factor_before);
}

Duration moved_run_time(const Job& job, Instant now, std::int32_t factor_before, std::int32_t factor) {
  const Duration left = job.spec.limit - (starts_over(job.spec) ? Duration{0} : job.done + job.ran_by(now));
  return std::clamp(time_after_move(job, now, factor_before, factor) + seconds(1), Duration{1},
                    std::max(left, Duration{1}));
}

Duration corrected_run_time(const Job& job) {
  const std::size_t step = job.corrections;
  const Duration most = job.spec.limit - job.done;
  if (step >= kLadder.size()) return most;
  const Duration first = step == 0 ? job.expected : job.expected - kLadder[step - 1];
  return std::min(first + kLadder[step], most);
}

}  // namespace rota

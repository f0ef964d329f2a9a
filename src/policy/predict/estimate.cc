#include "policy/predict/estimate.h"

#include <algorithm>
#include <array>

namespace rota {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr std::array<Duration, 11> kLadder{minutes(1), minutes(5), minutes(15), minutes(30), hours(1),  hours(2),
                                           hours(5),   hours(10),  hours(20),   hours(50),   hours(100)};

}  // namespace

Duration expected_run_time(Estimator estimator, const View& view, const JobSpec& spec) {
  if (estimator == Estimator::limit) return spec.limit;
  const RunHistory* history = view.history_of(spec.user);
  if (!history || history->runs < 2) return spec.limit;
  const auto mean = std::chrono::floor<std::chrono::seconds>((history->last + history->before_last) / 2);
  return std::clamp<Duration>(mean, seconds(1), std::max(spec.limit, seconds(1)));
}

Duration corrected_run_time(const Job& job) {
  const std::size_t step = job.corrections;
  const Duration most = job.spec.limit - job.done;
  if (step >= kLadder.size()) return most;
  const Duration first = step == 0 ? job.expected : job.expected - kLadder[step - 1];
  return std::min(first + kLadder[step], most);
}

}  // namespace rota

#include "report/fairness.h"

#include <algorithm>

namespace rota::report {
namespace {

constexpr std::uint32_t kLow = 1U << 16U;

}  // namespace

// What the first of so large a number needs, and every one of those that are not small.
void FairnessTally::add_beyond(std::uint32_t party, double slowdown, std::int64_t jobs) {
  if (party >= kLow) return high_[party].add(slowdown, jobs);
  low_.resize(party + 1);
  low_[party].add(slowdown, jobs);
}

Fairness FairnessTally::conclude() const {
  Fairness fairness;
  double all = 0;
  double squares = 0;
  double worst = 0;
  const auto take = [&](const Sum& sum) {
    if (sum.jobs == 0) return;
    const double mean = sum.slowdown / static_cast<double>(sum.jobs);
    ++fairness.parties;
    all += mean;
    squares += mean * mean;
    worst = std::max(worst, mean);
  };
  for (const Sum& sum : low_) take(sum);
  for (const auto& [party, sum] : high_) take(sum);
  if (fairness.parties < 2) return fairness;
  fairness.index = all * all / (static_cast<double>(fairness.parties) * squares);
  fairness.worst = worst;
  return fairness;
}

}  // namespace rota::report

#include "forecast/correction.h"

#include <algorithm>
#include <cmath>

namespace rota::forecast {

void Correction::add(double rank) {
  ranks_.push_back(rank);
  if (ranks_.size() > kMost) ranks_.pop_front();
}

// Outwards, so that a band is rather too wide than too narrow.
double Correction::level(double share) const {
  if (ranks_.size() < kLeast) return share;
  std::vector<double> sorted(ranks_.begin(), ranks_.end());
  std::ranges::sort(sorted);
  const double place = share * static_cast<double>(sorted.size() + 1);
  const double rank = share < 0.5 ? std::floor(place) : share > 0.5 ? std::ceil(place) : std::round(place);
  if (rank < 1) return 0;
  if (rank > static_cast<double>(sorted.size())) return 1;
  return sorted[static_cast<std::size_t>(rank) - 1];
}

double rank_of(const std::vector<Instant>& sorted, Instant truth) {
  const auto [from, to] = std::ranges::equal_range(sorted, truth);
  const auto twice = (from - sorted.begin()) + (to - sorted.begin());
  return static_cast<double>(twice) / (2 * static_cast<double>(sorted.size()));
}

Instant quantile(const std::vector<Instant>& sorted, double q) {
  if (sorted.empty()) return kNever;
  const double rank = std::ceil(q * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::clamp(rank, 1.0, static_cast<double>(sorted.size()))) - 1];
}

}  // namespace rota::forecast

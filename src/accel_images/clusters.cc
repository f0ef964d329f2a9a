#include "accel_images/clusters.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace rota::accel_images {
namespace {

// splitmix64
std::uint64_t mixed(std::uint64_t& state) {
  std::uint64_t x = state += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

double uniform(std::uint64_t& state) { return static_cast<double>(mixed(state) >> 11U) * 0x1p-53; }

// Squared. In eight sums side by side, whose order is fixed.
float distance(std::span<const float> a, std::span<const float> b) {
  constexpr std::size_t kSide = 8;
  std::array<float, kSide> sums{};
  std::size_t i = 0;
  for (; i + kSide <= a.size(); i += kSide)
    for (std::size_t j = 0; j < kSide; ++j) sums[j] += (a[i + j] - b[i + j]) * (a[i + j] - b[i + j]);
  for (; i < a.size(); ++i) sums[0] += (a[i] - b[i]) * (a[i] - b[i]);
  float sum = 0;
  for (const float one : sums) sum += one;
  return sum;
}

std::span<float> centre(const Points& points, const Clusters& of, std::size_t k) {
  return of.centres.subspan(k * points.dimensions, points.dimensions);
}

// Each further centre is a point, with a probability as its squared distance to the nearest centre so far.
bool choose_centres(const Points& points, std::uint64_t seed, const Clusters& into,
                    const std::function<bool()>& cancelled) {
  std::ranges::fill(into.nearest, std::numeric_limits<float>::max());
  const std::size_t many = into.centres.size() / points.dimensions;
  std::size_t chosen = mixed(seed) % points.count;
  for (std::size_t k = 0; k < many; ++k) {
    if (cancelled()) return false;
    std::ranges::copy(points.at(chosen), centre(points, into, k).begin());
    double sum = 0;
    for (std::size_t p = 0; p < points.count; ++p) {
      into.nearest[p] = std::min(into.nearest[p], distance(points.at(p), centre(points, into, k)));
      sum += static_cast<double>(into.nearest[p]);
    }
    double left = sum * uniform(seed);
    for (chosen = 0; chosen + 1 < points.count; ++chosen)
      if ((left -= static_cast<double>(into.nearest[chosen])) <= 0) break;
  }
  return true;
}

// Whether a label has changed. Ties go to the lower number.
bool assign(const Points& points, const Clusters& into) {
  bool changed = false;
  const std::size_t many = into.centres.size() / points.dimensions;
  for (std::size_t p = 0; p < points.count; ++p) {
    float least = std::numeric_limits<float>::max();
    std::int32_t label = 0;
    for (std::size_t k = 0; k < many; ++k) {
      const float far = distance(points.at(p), centre(points, into, k));
      if (far >= least) continue;
      least = far;
      label = static_cast<std::int32_t>(k);
    }
    changed = changed || into.labels[p] != label;
    into.labels[p] = label;
  }
  return changed;
}

// A centre without points stays where it is.
void move_centres(const Points& points, const Clusters& into) {
  std::ranges::fill(into.sums, 0.0);
  std::vector<std::size_t> counts(into.centres.size() / points.dimensions);
  for (std::size_t p = 0; p < points.count; ++p) {
    const auto label = static_cast<std::size_t>(into.labels[p]);
    ++counts[label];
    const auto point = points.at(p);
    for (std::size_t d = 0; d < point.size(); ++d)
      into.sums[label * points.dimensions + d] += static_cast<double>(point[d]);
  }
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    for (std::size_t d = 0; d < points.dimensions; ++d) {
      const std::size_t at = k * points.dimensions + d;
      into.centres[at] = static_cast<float>(into.sums[at] / static_cast<double>(counts[k]));
    }
  }
}

}  // namespace

bool find_clusters(const Points& points, std::uint64_t seed, std::int64_t rounds, const Clusters& into,
                   const std::function<bool()>& cancelled) {
  std::ranges::fill(into.labels, -1);
  if (!choose_centres(points, seed, into, cancelled)) return false;
  for (std::int64_t round = 0; round < rounds; ++round) {
    if (cancelled()) return false;
    if (!assign(points, into)) break;
    move_centres(points, into);
  }
  return true;
}

}  // namespace rota::accel_images

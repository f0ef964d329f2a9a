// k-means (Lloyd 1982) from a start by k-means++ (Arthur and Vassilvitskii 2007): from the same points and seed always
// the same, to the last bit, on one kind of processor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace rota::accel_images {

struct Points {
  std::span<const float> values;  // point by point
  std::size_t count;
  std::size_t dimensions;

  std::span<const float> at(std::size_t point) const { return values.subspan(point * dimensions, dimensions); }
};

struct Clusters {
  std::span<float> centres;        // k points
  std::span<std::int32_t> labels;  // each point's centre
  std::span<float> nearest;        // scratch, one for each point
  std::span<double> sums;          // scratch, as many as centres
};

// At most so many rounds; it ends with the first that changes no label. O(rounds points k dimensions). False:
// `cancelled`, which is asked in each round and for each centre of the start, has said so.
bool find_clusters(const Points& points, std::uint64_t seed, std::int64_t rounds, const Clusters& into,
                   const std::function<bool()>& cancelled);

}  // namespace rota::accel_images

#include "model/order.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rota {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

// Scores are compared as integers so that ties are exact. Cut after six decimals, held within what an int64 can carry.
std::int64_t fixed_point(double score) {
  constexpr double kMost = 9.0e12;
  return static_cast<std::int64_t>(std::clamp(score, -kMost, kMost) * 1.0e6);
}

// As an integer that is the greater the greater the number is, whatever its size; for numbers from 0 on. The last
// four bits are rounded off, in which numbers that are equal may differ by how they were reckoned.
std::int64_t rising(double number) { return (std::bit_cast<std::int64_t>(number) + 0x8) & ~std::int64_t{0xF}; }

// (wait + expected) / expected in millionths, cut. Divided by hand, three decimals at a time: the longest wait in
// millionths is more than an int64 can carry.
std::int64_t response_ratio(Duration wait, Duration expected) {
  const std::int64_t by = expected.count();
  std::int64_t rest = wait.count();
  std::int64_t ratio = 1 + rest / by;
  for (int i = 0; i < 2; ++i) {
    rest = rest % by * 1000;
    ratio = ratio * 1000 + rest / by;
  }
  return ratio;
}

double at_least_one(Duration d) { return std::max(to_seconds(d), 1.0); }

}  // namespace

std::int64_t score(Order order, const Job& job, Instant now, Instant first, std::int64_t ratio_cap) {
  const auto processors = static_cast<double>(job.spec.processors);
  switch (order) {
    case Order::fcfs:
    case Order::fair:
      return 0;
    case Order::sjf:
      return job.expected.count();
    case Order::smallest:
      return job.spec.processors;
    case Order::largest:
      return -std::int64_t{job.spec.processors};
    case Order::wfp3: {
      const double ratio = to_seconds(std::max(now - job.spec.submit, Duration{0})) / at_least_one(job.expected);
      return -rising(ratio * ratio * ratio * processors);
    }
    case Order::unicef:
      return fixed_point(-to_seconds(now - job.spec.submit) /
                         (std::max(std::log2(processors), 1.0) * at_least_one(job.expected)));
    case Order::f1:
      return fixed_point(std::log10(at_least_one(job.expected)) * processors +
                         870.0 * std::log10(at_least_one(job.spec.submit - first)));
    case Order::hrrn: {
      const Duration wait = std::max(now - job.spec.submit, Duration{0});
      const std::int64_t ratio = response_ratio(wait, std::max(job.expected, seconds(1)));
      return -(ratio / kMillion < ratio_cap ? ratio : ratio_cap * kMillion);
    }
  }
  return 0;
}

}  // namespace rota

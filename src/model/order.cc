#include "model/order.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rota {
namespace {

// Scores are compared as integers so that ties are exact. Cut after six decimals, held within what an int64 can carry.
std::int64_t fixed_point(double score) {
  constexpr double kMost = 9.0e12;
  return static_cast<std::int64_t>(std::clamp(score, -kMost, kMost) * 1.0e6);
}

// As an integer that is the greater the greater the number is, whatever its size; for numbers from 0 on. The last
// four bits are rounded off, in which numbers that are equal may differ by how they were reckoned.
std::int64_t rising(double number) { return (std::bit_cast<std::int64_t>(number) + 0x8) & ~std::int64_t{0xF}; }

double at_least_one(Duration d) { return std::max(to_seconds(d), 1.0); }

}  // namespace

std::int64_t score(Order order, const Job& job, Instant now, Instant first) {
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
  }
  return 0;
}

}  // namespace rota

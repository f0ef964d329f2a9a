#include "model/order.h"

#include <algorithm>
#include <cmath>

namespace rota {
namespace {

// Scores are compared as integers so that ties are exact: cut after six decimals, held within what an int64 can carry.
std::int64_t fixed_point(double score) {
  constexpr double kMost = 9.0e12;
  return static_cast<std::int64_t>(std::clamp(score, -kMost, kMost) * 1.0e6);
}

double at_least_one(Duration d) { return std::max(to_seconds(d), 1.0); }

}  // namespace

std::int64_t score(Order order, const Job& job, Instant now) {
  const auto processors = static_cast<double>(job.spec.processors);
  switch (order) {
    case Order::fcfs:
      return 0;
    case Order::sjf:
      return job.expected.count();
    case Order::smallest:
      return job.spec.processors;
    case Order::largest:
      return -std::int64_t{job.spec.processors};
    case Order::wfp3: {
      const double ratio = to_seconds(now - job.spec.submit) / at_least_one(job.expected);
      return fixed_point(-ratio * ratio * ratio * processors);
    }
    case Order::unicef:
      return fixed_point(-to_seconds(now - job.spec.submit) /
                         (std::max(std::log2(processors), 1.0) * at_least_one(job.expected)));
    case Order::f1:
      return fixed_point(std::log10(at_least_one(job.expected)) * processors +
                         870.0 * std::log10(at_least_one(job.spec.submit - kEpoch)));
  }
  return 0;
}

}  // namespace rota

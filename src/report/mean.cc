#include "report/mean.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstddef>

#include "report/formatted.h"

namespace rota::report {
namespace {

double expanded_t(double freedom) {
  constexpr double z = 1.959964;
  constexpr double z3 = z * z * z;
  constexpr double z5 = z3 * z * z;
  constexpr double z7 = z5 * z * z;
  return z + (z3 + z) / (4 * freedom) + (5 * z5 + 16 * z3 + 3 * z) / (96 * freedom * freedom) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * freedom * freedom * freedom);
}

}  // namespace

// For few degrees of freedom as tables have it, else from the normal quantile (Cornish and
// Fisher's expansion, which is too small by a quarter for one).
double students_t(std::size_t freedom) {
  constexpr std::array kFew{12.7062, 4.3027, 3.1824, 2.7764, 2.5706};
  if (freedom <= kFew.size()) return kFew[freedom - 1];
  return expanded_t(static_cast<double>(freedom));
}

Mean mean_of(const std::vector<double>& values) {
  Mean m;
  m.count = static_cast<std::int64_t>(values.size());
  if (values.empty()) return m;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) m.mean += v;
  m.mean /= n;
  if (values.size() < 2) return m;
  double squares = 0;
  for (const double v : values) squares += (v - m.mean) * (v - m.mean);
  m.margin = students_t(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return m;
}

std::string with_margin(const Mean& mean, int digits, double scale) {
  if (mean.count == 0) return formatted("%15s", "-");
  // padded by hand: the sign has two bytes
  return fmt::format("{} \u00b1{}", formatted("%8.*f", digits, mean.mean * scale),
                     formatted("%-5.*f", digits, mean.margin * scale));
}

std::string mean_json(const Mean& mean) {
  if (mean.count == 0) return "null";
  return formatted(R"({"mean": %.9g, "margin": %.9g, "runs": %lld})", mean.mean, mean.margin,
                   static_cast<long long>(mean.count));
}

}  // namespace rota::report

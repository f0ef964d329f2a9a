// A figure averaged over repetitions, as studies print it: with Student's 95 % confidence interval.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rota::report {

struct Mean {
  double mean = 0;
  double margin = 0;       // the interval is mean - margin .. mean + margin; 0 for fewer than two values
  std::int64_t count = 0;  // 0: nothing to average, as the completion of backfills where there are none
};

Mean mean_of(const std::vector<double>& values);

// Student's t for 95 %, two-sided; at least one degree of freedom.
double students_t(std::size_t freedom);

// "77.7 ±2.1", 15 columns wide, times `scale`; "-" for what does not exist.
std::string with_margin(const Mean& mean, int digits, double scale = 1);

std::string mean_json(const Mean& mean);  // {"mean": 0.777, "margin": 0.021, "runs": 30}, or null

}  // namespace rota::report

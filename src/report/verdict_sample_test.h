// Rows for tests of the verdict.
#pragma once

#include <string>
#include <vector>

#include "report/verdict.h"

namespace rota::report {

inline Summary summary(const std::string& policy, double wait, double longest, double utilization = 0.7) {
  Summary s;
  s.policy = policy;
  s.jobs = 100;
  s.wait_mean = wait;
  s.wait_median = 90;
  s.wait_p95 = longest / 2;
  s.wait_max = longest;
  s.bounded_slowdown = 5;
  s.utilization = utilization;
  return s;
}

inline std::string said(std::vector<Summary> summaries) { return verdict(summaries); }

}  // namespace rota::report

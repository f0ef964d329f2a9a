// For tests: figures of a workload that can be compared with another's.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "log/workload.h"

namespace rota::generate {

inline double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

template <class Is>
double share_of(const log::Workload& workload, const Is& is) {
  return static_cast<double>(std::ranges::count_if(workload.jobs, is)) / static_cast<double>(workload.jobs.size());
}

inline std::vector<double> sizes_of(const log::Workload& workload) {
  std::vector<double> sizes;
  sizes.reserve(workload.jobs.size());
  for (const JobSpec& job : workload.jobs) sizes.push_back(job.processors);
  return sizes;
}

inline std::vector<double> runs_of(const log::Workload& workload) {
  std::vector<double> runs;
  runs.reserve(workload.jobs.size());
  for (const Duration run : workload.run_times) runs.push_back(to_seconds(run));
  return runs;
}

inline std::vector<double> gaps_of(const log::Workload& workload) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < workload.jobs.size(); ++i) {
    gaps.push_back(to_seconds(workload.jobs[i].submit - workload.jobs[i - 1].submit));
  }
  return gaps;
}

// Share of the jobs that arrive in each hour of the day.
inline std::array<double, 24> hours_of(const log::Workload& workload) {
  std::array<double, 24> hours{};
  for (const JobSpec& job : workload.jobs) {
    const auto hour = static_cast<std::size_t>((job.submit - kEpoch) / seconds(3600) % 24);
    hours[hour] += 1.0 / static_cast<double>(workload.jobs.size());
  }
  return hours;
}

inline double work_of(const log::Workload& workload) {  // processor-seconds
  double work = 0;
  for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
    work += to_seconds(workload.run_times[i]) * workload.jobs[i].processors;
  }
  return work;
}

inline double load_of(const log::Workload& workload) {
  return work_of(workload) /
         (static_cast<double>(workload.processors) * to_seconds(workload.jobs.back().submit - kEpoch));
}

inline double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

inline double deviation_of(const std::vector<double>& values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace rota::generate

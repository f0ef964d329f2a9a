// Which settings of slurm.conf are which knobs of policy slurm: read by slurm_policy.cc, written by slurm_conf.cc.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

namespace rota {

enum class SlurmUnit : std::uint8_t { jobs, seconds, minutes };

// A part of SchedulerParameters that a knob follows.
struct SlurmParameter {
  std::string_view name;
  std::string_view knob;
  SlurmUnit unit;
  std::int64_t fallback;  // in that unit
  std::int64_t least;
  std::int64_t most;  // that the knob takes
};
inline constexpr std::int64_t kMostSlurmTime = 1'000'000'000;
inline constexpr SlurmParameter kSlurmParameters[]{
    {"bf_interval", "bf-interval", SlurmUnit::seconds, 30, 1, kMostSlurmTime},
    {"bf_resolution", "bf-resolution", SlurmUnit::seconds, 60, 1, kMostSlurmTime},
    {"bf_window", "bf-window", SlurmUnit::minutes, 1440, 1, kMostSlurmTime},
    {"bf_max_job_test", "bf-max-job-test", SlurmUnit::jobs, 500, 1, 1'000'000},
    {"bf_max_job_start", "bf-max-job-start", SlurmUnit::jobs, 0, 0, 10'000},
    {"bf_max_job_user", "bf-max-job-user", SlurmUnit::jobs, 0, 0, 1'000'000},
    {"bf_max_job_part", "bf-max-job-part", SlurmUnit::jobs, 0, 0, 1'000'000},
    {"bf_job_part_count_reserve", "bf-job-part-count-reserve", SlurmUnit::jobs, 0, 0, 100'000},
    {"batch_sched_delay", "batch-sched-delay", SlurmUnit::seconds, 3, 0, kMostSlurmTime},
    {"default_queue_depth", "default-queue-depth", SlurmUnit::jobs, 100, 0, 1'000'000'000},
    {"partition_job_depth", "partition-job-depth", SlurmUnit::jobs, 0, 0, 1'000'000},
    {"sched_interval", "sched-interval", SlurmUnit::seconds, 60, 1, kMostSlurmTime},
};

// What a part of PriorityWeightTRES weighs.
inline constexpr std::pair<std::string_view, std::string_view> kSlurmTres[]{{"CPU", "weight-tres-cpu"},
                                                                            {"Mem", "weight-tres-mem"},
                                                                            {"Node", "weight-tres-node"},
                                                                            {"GRES/gpu", "weight-tres-gpu"}};

}  // namespace rota

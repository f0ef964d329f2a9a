// What a real Slurm 22.05 did with a backlog (tests/slurm/record.py), held against what policy slurm does with it.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "log/swf.h"
#include "scenario/scenario.h"

namespace rota {
namespace {

struct Recorded {
  std::string name;
  std::string file;
  std::uint32_t nodes;
  std::uint32_t processors;  // of each
  std::int64_t interval;     // between passes of backfill, in milliseconds
  std::string knobs;
  double within = 0.05;  // so far from the real mean wait, as a part of that
};

std::string path_of(const std::string& file) { return fmt::format("{}{}.swf", ROTA_SOURCE_DIR "/tests/slurm/", file); }

// Seconds of waiting in each row of SWF: the third column.
std::vector<double> waits_in(const std::string& path) {
  std::vector<double> waits;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(';')) continue;
    std::istringstream row(line);
    double number = 0;
    double submit = 0;
    row >> number >> submit >> waits.emplace_back();
  }
  return waits;
}

double mean(const std::vector<double>& of) {
  double sum = 0;
  for (const double one : of) sum += one;
  return sum / static_cast<double>(of.size());
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean(a);
  const double mean_b = mean(b);
  double both = 0;
  double only_a = 0;
  double only_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean_a) * (b[i] - mean_b);
    only_a += (a[i] - mean_a) * (a[i] - mean_a);
    only_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return both / std::sqrt(only_a * only_b);
}

std::vector<double> rehearsed_waits(const log::Workload& workload, const Recorded& recorded, std::int64_t interval) {
  Machine machine;
  for (std::uint32_t i = 1; i <= recorded.nodes; ++i) {
    machine.nodes.push_back({"n" + std::to_string(i), recorded.processors, 0, {}});
  }
  machine.processors = std::int64_t{recorded.nodes} * recorded.processors;
  RehearseOptions options = scenario::on(machine.processors);
  options.machine = std::make_shared<const Machine>(std::move(machine));
  const std::string policy = fmt::format("slurm+bf-interval={}ms{}", interval, recorded.knobs);
  const auto done = rehearse(workload, scenario::chain_of(policy), options);
  if (!done) throw std::runtime_error(done.error().message);
  std::vector<double> waits;
  for (const Job& job : done->outcome.jobs) waits.push_back(to_seconds(job.wait()));
  return waits;
}

class RealSlurm : public testing::TestWithParam<Recorded> {};

TEST_P(RealSlurm, DidWhatThePolicyDoes) {
  const std::string path = path_of(GetParam().file);
  const auto workload = log::read_swf(path);
  ASSERT_TRUE(workload) << workload.error().message;
  const std::vector<double> real = waits_in(path);
  EXPECT_GE(real.size(), 200U);
  double ratio = 0;
  double alike = 0;
  for (std::int64_t apart = -40; apart <= 40; apart += 8) {
    const std::vector<double> rehearsed = rehearsed_waits(*workload, GetParam(), GetParam().interval + apart);
    ASSERT_EQ(rehearsed.size(), real.size());
    ratio += mean(rehearsed) / mean(real) / 11;
    alike += correlation(rehearsed, real) / 11;
  }
  EXPECT_NEAR(ratio, 1.0, GetParam().within);
  EXPECT_GE(alike, 0.9);
}

const std::string kSmall = "+bf-resolution=5s";
const std::string kWide = "+bf-resolution=10s";

// When the passes fall cannot be chosen, and decides a good deal: so eleven intervals that are nearly the same are
// tried. In the wide backlogs two jobs ask for all processors, and one pass sooner or later decides when these are
// free: runs of Slurm itself differ by a fifth.
INSTANTIATE_TEST_SUITE_P(Backlogs, RealSlurm,
                         testing::Values(Recorded{"Small", "small", 4, 4, 3000, kSmall},
                                         Recorded{"SmallWithOneReservation", "small-one-reservation", 4, 4, 3000,
                                                  kSmall + "+bf-job-part-count-reserve=1"},
                                         Recorded{"Wide", "wide", 8, 8, 5000, kWide},
                                         Recorded{"WideAgain", "wide-again", 8, 8, 5000, kWide, 0.13},
                                         Recorded{"WideAThirdTime", "wide-third", 8, 8, 5000, kWide, 0.13},
                                         Recorded{"Steady", "steady", 8, 8, 5000, kWide},
                                         Recorded{"WideWithOneReservation", "wide-one-reservation", 8, 8, 5000,
                                                  kWide + "+bf-job-part-count-reserve=1"},
                                         Recorded{
                                             "WideWithSmallJobsFirst", "wide-multifactor", 8, 8, 5000,
                                             kWide + "+priority=multifactor+weight-job-size=2000+favor-small=yes"}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace rota

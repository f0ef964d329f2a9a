// Job by job against schedules that other simulators made: which job starts when, and the averages they were published
// with.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <ostream>

#include "generate/sample_test.h"
#include "log/schedule.h"
#include "log/swf.h"
#include "rehearse/rehearse.h"

namespace rota {
namespace {

constexpr double kNotPrinted = -1;

// Averages as far as they were published, with as many digits: wait in seconds and bounded slowdown with two decimals,
// utilization in per cent with three.
struct Averages {
  double wait = kNotPrinted;
  double slowdown = kNotPrinted;
  double utilization = kNotPrinted;
};

struct Published {
  const char* schedule;
  const char* trace;
  std::int64_t processors;
  const char* policy;
  sim::Ties ties = sim::Ties::submit_first;
  bool exact_estimates = false;
  Averages averages{};
};

void PrintTo(const Published& p, std::ostream* out) { *out << p.schedule; }

constexpr sim::Ties kSubmitFirst = sim::Ties::submit_first;
const Published kPublished[] = {
    {"KTH-SP2-easy", "KTH-SP2-rebuilt", 100, "easy", kSubmitFirst, false, {6836.87, 92.58, 68.561}},
    {"KTH-SP2-fcfs", "KTH-SP2-rebuilt", 100, "fcfs", kSubmitFirst, false, {353776.41, 6814.97, 68.524}},
    {"KTH-SP2-cons", "KTH-SP2-rebuilt", 100, "conservative", kSubmitFirst, false, {7310.55, 89.00, 68.561}},
    {"KTH-SP2-easysjbf", "KTH-SP2-rebuilt", 100, "easy-sjbf", kSubmitFirst, false, {5904.08, 69.41, 68.561}},
    {"KTH-SP2-easy_clairvoyant", "KTH-SP2-rebuilt", 100, "easy", kSubmitFirst, true, {kNotPrinted, 71.72}},
    {"KTH-SP2-easysjbf_clairvoyant", "KTH-SP2-rebuilt", 100, "easy-sjbf", kSubmitFirst, true, {kNotPrinted, 49.85}},
    {"KTH-SP2-easypp_tsafrir", "KTH-SP2-rebuilt", 100, "easy++"},
    {"KTH-SP2-easy_batch", "KTH-SP2-rebuilt", 100, "easy", sim::Ties::batch},
    {"SDSC-SP2-easy", "SDSC-SP2-rebuilt", 128, "easy", kSubmitFirst, false, {20497.76, 87.87, 82.293}},
    {"SDSC-SP2-fcfs", "SDSC-SP2-rebuilt", 128, "fcfs", kSubmitFirst, false, {1535568.62, 13823.53, 75.828}},
    {"SDSC-SP2-cons", "SDSC-SP2-rebuilt", 128, "conservative", kSubmitFirst, false, {21889.30, 89.66, 82.282}},
    {"SDSC-SP2-easy_clairvoyant", "SDSC-SP2-rebuilt", 128, "easy", kSubmitFirst, true, {kNotPrinted, 70.48}},
    {"SDSC-SP2-easysjbf_clairvoyant", "SDSC-SP2-rebuilt", 128, "easy-sjbf", kSubmitFirst, true, {kNotPrinted, 56.84}},
    {"SDSC-SP2-easypp_tsafrir", "SDSC-SP2-rebuilt", 128, "easy++"},
    {"SDSC-SP2-easy_batch", "SDSC-SP2-rebuilt", 128, "easy", sim::Ties::batch},
    {"SDSC-SP2-x2load-20k-easy", "SDSC-SP2-x2load-20k", 128, "easy"},
};

class PublishedSchedule : public testing::TestWithParam<Published> {};

std::string name_of_case(const testing::TestParamInfo<Published>& info) {
  std::string name;
  for (const char c : std::string(info.param.schedule)) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

void expect_printed(const char* what, double published, double scale, double got) {
  if (published == kNotPrinted) return;
  EXPECT_DOUBLE_EQ(std::round(got * scale) / scale, published) << what << " " << got;
}

// How many jobs start as saved; the first few that do not are failures that say both starts.
std::size_t count_same_starts(const std::vector<Job>& jobs, const std::vector<log::SavedStart>& saved) {
  std::map<std::int64_t, Instant> start_of;
  for (const log::SavedStart& s : saved) start_of[s.number] = s.start;
  std::size_t same = 0;
  int shown = 0;
  for (const Job& job : jobs) {
    const auto found = start_of.find(job.spec.number);
    if (found != start_of.end() && found->second == job.start) {
      ++same;
    } else if (++shown <= 3) {
      ADD_FAILURE() << "job " << job.spec.number << " starts at " << to_seconds(job.start - kEpoch)
                    << " s; saved: " << (found == start_of.end() ? -1.0 : to_seconds(found->second - kEpoch));
    }
  }
  return same;
}

TEST_P(PublishedSchedule, IsReproducedJobByJobWithItsAverages) {
  const Published& p = GetParam();
  const auto trace_file = generate::shared_folder() / "traces" / (std::string(p.trace) + ".swf.gz");
  const auto saved_file = generate::shared_folder() / "golden" / (std::string(p.schedule) + ".csv.gz");
  SKIP_WITHOUT(trace_file);
  SKIP_WITHOUT(saved_file);
  const auto workload = log::read_swf(trace_file.string(), {.published_limits = true});
  ASSERT_TRUE(workload) << workload.error().message;
  const auto saved = log::read_schedule(saved_file.string());
  ASSERT_TRUE(saved) << saved.error().message;
  const auto chain = Chain::parse(p.policy);
  ASSERT_TRUE(chain) << chain.error().message;

  const auto rehearsed = rehearse(*workload, *chain,
                                  {.processors = p.processors,
                                   .machine = {},
                                   .exact_estimates = p.exact_estimates,
                                   .clamp = false,
                                   .ties = p.ties,
                                   .keep_jobs = true,
                                   .progress = {}});
  ASSERT_TRUE(rehearsed) << rehearsed.error().message;
  EXPECT_EQ(rehearsed->outcome.jobs.size(), saved->size());
  EXPECT_EQ(count_same_starts(rehearsed->outcome.jobs, *saved), saved->size());
  const report::Summary& s = rehearsed->summary;
  expect_printed("mean wait", p.averages.wait, 100, s.wait_mean.value_or(0));
  expect_printed("mean bounded slowdown", p.averages.slowdown, 100, s.bounded_slowdown.value_or(0));
  expect_printed("utilization", p.averages.utilization, 1000, s.utilization.value_or(0) * 100);
}

INSTANTIATE_TEST_SUITE_P(All, PublishedSchedule, testing::ValuesIn(kPublished), name_of_case);

}  // namespace
}  // namespace rota

#include "report/plots.h"

#include <gtest/gtest.h>

namespace rota::report {
namespace {

Job ran(std::int64_t submit, std::int64_t start, std::int64_t end, std::uint32_t processors) {
  Job job;
  job.spec.submit = kEpoch + seconds(submit);
  job.spec.processors = processors;
  job.start = kEpoch + seconds(start);
  job.end = kEpoch + seconds(end);
  job.state = JobState::completed;
  return job;
}

Outcome with(std::vector<Job> jobs) {
  Outcome outcome;
  outcome.policy = "easy";
  outcome.processors = 8;
  outcome.jobs = std::move(jobs);
  return outcome;
}

std::vector<std::string> names_of(const std::vector<NamedPlot>& plots) {
  std::vector<std::string> names;
  for (const NamedPlot& each : plots) names.push_back(each.name);
  return names;
}

TEST(Plots, HaveALineForEachPolicy) {
  const Outcome one = with({ran(0, 0, 100, 4), ran(0, 60, 100, 4)});
  const Outcome other = with({ran(0, 0, 200, 8)});
  const std::vector<const Outcome*> both{&one, &other};
  const auto plots = plots_of(both);
  EXPECT_EQ(names_of(plots), (std::vector<std::string>{"waits", "waiting", "processors"}));
  for (const NamedPlot& each : plots) EXPECT_EQ(each.plot.lines.size(), 2U) << each.name;
  const Plot::Line& waits = plots[0].plot.lines[0];
  EXPECT_EQ(waits.points.front(), (std::pair<double, double>(0, 0)));
  EXPECT_EQ(waits.points[50], (std::pair<double, double>(50, 30)));  // between 0 and 60 s
  EXPECT_EQ(plots[2].plot.lines[0].points.front().second, 4);
  EXPECT_EQ(plots[2].plot.lines[0].points[100].second, 8);    // after 84 of 200 s
  EXPECT_EQ(plots[2].plot.lines[0].points.back().second, 0);  // it ended sooner than the other
}

TEST(Plots, OfAcceleratorsAndMemoryAreThereWhereJobsAskForSome) {
  Job job = ran(0, 0, 100, 4);
  job.spec.accelerators = 2;
  job.spec.memory = std::int64_t{3} << 30;
  job.spec.nodes = 2;
  const Outcome outcome = with({job});
  const std::vector<const Outcome*> alone{&outcome};
  const auto plots = plots_of(alone);
  EXPECT_EQ(names_of(plots), (std::vector<std::string>{"waits", "waiting", "processors", "accelerators", "memory"}));
  EXPECT_EQ(plots[3].plot.lines[0].points[7].second, 4);
  EXPECT_EQ(plots[4].plot.lines[0].points[7].second, 6);
}

TEST(Plots, OfNoJobsAreEmptyFrames) {
  const Outcome outcome = with({});
  const std::vector<const Outcome*> alone{&outcome};
  for (const NamedPlot& each : plots_of(alone)) EXPECT_NE(svg_of(each.plot).find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace rota::report

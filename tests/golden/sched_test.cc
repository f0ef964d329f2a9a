// Runs every *.sched file here and shows both timelines side by side where they differ.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "sched_file.h"

namespace rota::golden {
namespace {

std::string line_of(const Expected& e) {
  if (e.rejected) return std::to_string(e.id) + " rejected";
  std::string line = fmt::format("{} {} {}", e.id, e.start, e.end);
  if (e.promised) line += " promised=" + std::to_string(*e.promised);
  if (e.preempted > 0) line += " preempted=" + std::to_string(e.preempted);
  if (e.at) line += " at=" + std::to_string(*e.at);
  if (e.migrated > 0) line += " migrated=" + std::to_string(e.migrated);
  return line + (e.backfilled ? " backfilled" : "") + (e.killed ? " killed" : "");
}

// Seconds, rounded up so that no millisecond is lost.
std::int64_t second_of(Instant at) {
  return at == kNever ? -1 : std::chrono::ceil<std::chrono::seconds>(at - kEpoch).count();
}

Expected got_for(const Job& job, bool with_promise) {
  Expected got;
  got.id = job.spec.number;
  got.rejected = job.state == JobState::rejected;
  got.start = second_of(job.start);
  got.end = second_of(job.end);
  got.backfilled = job.backfilled;
  got.preempted = job.preemptions;
  got.migrated = job.migrations;
  got.killed = job.state == JobState::timed_out || job.kills > 0;
  if (with_promise) got.promised = second_of(job.first_promise);
  return got;
}

// From 1; 0: it ran nowhere, or there is one site.
std::int64_t site_of(const report::Outcome& outcome, const Job& job) {
  if (outcome.site_of.empty()) return 0;
  return std::int64_t{outcome.site_of[static_cast<std::size_t>(&job - outcome.jobs.data())].value + 1};
}

// One line a job, a sign a second: '.' waiting, '#' running.
std::string picture_of(const std::vector<Job>& jobs) {
  constexpr std::int64_t kWidth = 120;
  std::string picture;
  const std::int64_t begin = jobs.empty() ? 0 : second_of(jobs.front().spec.submit);
  for (const Job& job : jobs) {
    if (job.state == JobState::rejected) continue;
    std::string line = fmt::format("  {} ", job.spec.number);
    line.resize(6, ' ');
    for (std::int64_t t = begin; t < std::min(begin + kWidth, second_of(job.end)); ++t) {  // earlier dispatches wait
      line += t < second_of(job.spec.submit) ? ' ' : t < second_of(job.start) ? '.' : '#';
    }
    picture += line + "\n";
  }
  return picture;
}

std::string side_by_side(const SchedFile& file, const std::map<std::int64_t, std::string>& got) {
  std::string out = "  expected                                got\n";
  for (const Expected& e : file.timeline) {
    std::string line = line_of(e);
    const std::string& other = got.at(e.id);
    const bool same = line == other;
    line.resize(std::max<std::size_t>(line.size() + 2, 40), ' ');
    out += fmt::format("{}{}{}\n", same ? "  " : "! ", line, other);
  }
  return out;
}

// As the file names what became of tasks.
std::map<std::string, std::int64_t> named(const report::TaskUse& use) {
  return {{"cpu", use.on_cpu},    {"local", use.local}, {"remote", use.remote},
          {"redone", use.redone}, {"bound", use.bound}, {"rebound", use.rebound}};
}

class Sched : public testing::TestWithParam<std::string> {};

TEST_P(Sched, ComesToItsTimeline) {
  const SchedFile file = SchedReader::read(fmt::format("{}/{}.sched", folder(), GetParam()));
  const report::Outcome outcome = scenario::outcome_of(file.jobs, file.policy, file.options);
  std::map<std::int64_t, const Job*> job_of;
  for (const Job& job : outcome.jobs) job_of[job.spec.number] = &job;
  std::map<std::int64_t, std::string> got;
  bool same = true;
  for (const Expected& e : file.timeline) {
    ASSERT_TRUE(job_of.contains(e.id)) << "the timeline names job " << e.id << ", which is not among the jobs";
    Expected found = got_for(*job_of[e.id], e.promised.has_value());
    if (e.at) found.at = site_of(outcome, *job_of[e.id]);
    got[e.id] = line_of(found);
    same = same && got[e.id] == line_of(e);
  }
  if (file.asleep) {
    EXPECT_EQ(outcome.power->off, *file.asleep * 1000) << "processor-milliseconds off; lesson: " << file.lesson;
  }
  if (file.cycles) {
    EXPECT_EQ(outcome.power->cycles, *file.cycles) << "lesson: " << file.lesson;
  }
  if (file.failed) {
    EXPECT_EQ(outcome.power->failed_boots, *file.failed) << "lesson: " << file.lesson;
  }
  for (const auto& [what, count] : file.tasks) {
    ASSERT_TRUE(outcome.tasks && named(*outcome.tasks).contains(what)) << "nothing is known of tasks " << what;
    EXPECT_EQ(named(*outcome.tasks).at(what), count) << "tasks " << what << "; lesson: " << file.lesson;
  }
  EXPECT_EQ(file.timeline.size(), file.jobs.size()) << "every job is in the timeline, once";
  EXPECT_TRUE(same) << "lesson: " << file.lesson << "\n" << side_by_side(file, got) << picture_of(outcome.jobs);
}

std::string name_of_case(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Sched, testing::ValuesIn(every_file()), name_of_case);

TEST(SchedFiles, EachTeachALessonOfTheirOwn) {
  std::set<std::string> lessons;
  for (const std::string& name : every_file()) {
    EXPECT_TRUE(lessons.insert(SchedReader::read(fmt::format("{}/{}.sched", folder(), name)).lesson).second) << name;
  }
  EXPECT_GE(lessons.size(), 30U);
}

}  // namespace
}  // namespace rota::golden

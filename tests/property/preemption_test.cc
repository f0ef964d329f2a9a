// Absolute priorities on random workloads, with the referee watching: no job of lower priority runs while a higher one
// waits that could have its place, none gives way in vain, and no work is lost that should be kept.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "watched_rehearsal.h"

namespace rota {
namespace {

using scenario::Row;

const scenario::Mix kMix{.overruns = true, .priorities = true};

// With nine priorities; the highest is 5.
std::vector<Row> any_rows() {
  auto rows = *scenario::random_rows(kMix);
  for (Row& r : rows) r.priority = 3 * r.priority + static_cast<std::int32_t>(r.user);
  return rows;
}

const std::vector<std::string> kModes{"suspend", "requeue", "checkpoint"};

const std::vector<std::string> kTimedModes{"suspend", "requeue", "checkpoint+checkpoint=2"};

// A chain that goes with preemption, and how jobs give way under it.
std::pair<std::string, std::string> any_chain() {
  std::string chain = *rc::gen::elementOf(
      std::vector<std::string>{"fcfs", "fcfs-skip", "easy", "easy-sjbf", "easy++", "easy+depth=3", "conservative"});
  const auto knob = [&](const std::string& name, const std::vector<std::string>& values) {
    const std::string longer = fmt::format("{}+{}={}", chain, name, *rc::gen::elementOf(values));
    if (*rc::gen::arbitrary<bool>() && Chain::parse(longer)) chain = longer;  // knobs without effect are refused
  };
  const std::string mode = *rc::gen::elementOf(kModes);
  chain += "+preempt=" + mode;
  knob("order", scenario::every_order());
  knob("candidates", scenario::every_order());
  knob("beside", {"yes", "no"});
  knob("fixed", {"yes", "no"});
  knob("predict", {"limit", "tsafrir"});
  knob("stretch", {"1", "1.5"});
  knob("overrun", {"kill", "run-on", "grace", "4s"});
  knob("checkpoint", {"0", "1", "3"});
  return {chain, mode};
}

RC_GTEST_PROP(Preemption, RunsEveryWorkloadToItsEndUnderEveryPolicyItGoesWith, ()) {
  const auto rows = any_rows();
  const auto [chain, mode] = any_chain();
  RC_LOG() << "policy " << chain << "\n";
  const report::Outcome outcome = scenario::outcome_of(rows, chain, scenario::on(kMix.processors));
  for (const Job& job : outcome.jobs) {
    RC_LOG() << "job " << job.spec.number << "\n";
    RC_ASSERT(job.ended());
    const Row& row = rows[static_cast<std::size_t>(job.spec.number - 1)];
    if (job.state == JobState::completed) {
      RC_ASSERT(job.run_time() == seconds(row.run));
      if (mode == "requeue") RC_ASSERT(job.done == Duration{0});
    } else {
      RC_ASSERT(job.run_time() < seconds(row.run));
    }
    RC_ASSERT(job.wait() >= Duration{0});
  }
}

// No job that is considered waits for processors that are free or that jobs of lower priority hold; `skip`: all are.
// But where writing a checkpoint takes `lag`, it may wait for as many as come free by then at others' limits, and jobs
// behind it wait for it.
void expect_no_inversion(const View& view, bool skip, Duration lag) {
  if (!view.leaving().empty()) return;
  view.waiting().for_each_in_queue_order([&](const WaitingEntry& e) {
    const Job& job = view.job(e.job);
    std::int64_t room = view.free();
    view.running().for_each([&](const RunningEntry& r) {
      room += view.job(r.job).spec.priority < job.spec.priority ? r.processors : 0;
      return true;
    });
    std::int64_t over_soon = 0;
    view.running().for_each([&](const RunningEntry& r) {
      over_soon += lag > Duration{0} && view.job(r.job).limit_end() <= view.now() + lag ? r.processors : 0;
      return true;
    });
    if (room >= e.processors && view.free() + over_soon >= e.processors) return false;
    RC_LOG() << "at " << view.now().time_since_epoch().count() << " job " << job.spec.number << "\n";
    RC_ASSERT(room < e.processors);
    return skip;
  });
}

void run_without_inversion(const std::string& policy, bool skip) {
  const auto rows = any_rows();
  RC_LOG() << "policy " << policy << "\n";
  WatchedRehearsal rehearsal(rows, policy, scenario::on(kMix.processors));
  const ChainKnobs knobs = scenario::chain_of(policy).knobs();
  const Duration lag = knobs.preempt == Preemption::checkpoint ? knobs.checkpoint : Duration{0};
  rehearsal.run([&](const View& view) { expect_no_inversion(view, skip, lag); });
  for (const auto& [number, job] : rehearsal.ended()) RC_ASSERT(job.ended());
}

RC_GTEST_PROP(Preemption, LeavesNoJobWaitingForProcessorsOfLowerPriority, ()) {
  run_without_inversion("fcfs-skip+preempt=" + *rc::gen::elementOf(kTimedModes), true);
}

RC_GTEST_PROP(Preemption, LeavesTheFirstOfTheQueueWaitingForNoJobOfLowerPriority, ()) {
  run_without_inversion("fcfs+preempt=" + *rc::gen::elementOf(kTimedModes), false);
}

// The highest priority of all runs as if it were alone.
RC_GTEST_PROP(Preemption, DoesNotLetTheHighestPriorityFeelTheOthers, ()) {
  const auto rows = any_rows();
  std::vector<Row> highest;
  for (const Row& r : rows) {
    if (r.priority == 5) highest.push_back(r);
  }
  if (highest.empty()) return;
  const std::string policy = "fcfs-skip+overrun=run-on+preempt=suspend";
  const auto together = scenario::outcome_of(rows, policy, scenario::on(kMix.processors));
  const auto alone = scenario::outcome_of(highest, policy, scenario::on(kMix.processors));
  for (const Job& job : alone.jobs) {
    RC_ASSERT(together.jobs[static_cast<std::size_t>(job.spec.number - 1)].start == job.start);
    RC_ASSERT(together.jobs[static_cast<std::size_t>(job.spec.number - 1)].end == job.end);
  }
}

TEST(Preemption, OfJobsOfOnePriorityChangesNoPlan) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto rows = scenario::random_rows({.overruns = true})(rc::Random(seed), 60).value();
    for (const std::string policy : {"fcfs", "fcfs-skip", "easy", "easy++", "easy+depth=3", "conservative"}) {
      EXPECT_EQ(scenario::outcome_of(rows, policy, scenario::on(8)).plan_hash,
                scenario::outcome_of(rows, policy + "+preempt=suspend", scenario::on(8)).plan_hash)
          << policy << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace rota

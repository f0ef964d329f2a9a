// Rota against the textbook's rules as one slow loop: the same start and the same end for every job.
#include "oracle.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenario/scenario.h"

namespace rota {
namespace {

using oracle::Rules;
using scenario::Mix;
using scenario::Row;

struct Case {
  std::string policy;
  Rules rules;
  Mix mix;
  bool licences = false;  // of three kinds
};

std::int64_t ms(Instant at) { return at == kNever ? oracle::kFar : (at - kEpoch).count(); }

// One node, so that room is a matter of counts, of licences as of processors.
std::shared_ptr<const Machine> licensed(std::int64_t processors) {
  Machine machine;
  machine.nodes.push_back({"n1", static_cast<std::uint32_t>(processors), 0, {}});
  machine.processors = processors;
  machine.licences = {{"solver", 2}, {"mesher", 3}, {"viewer", 1}};
  return std::make_shared<const Machine>(std::move(machine));
}

void ask_for_licences(std::vector<Row>& rows) {
  for (Row& r : rows) {
    r.licences = *rc::gen::element(0U, 0U, 1U, 2U);
    r.second_licences = *rc::gen::element(0U, 0U, 1U, 3U, 4U);  // there are 3
    r.third_licences = *rc::gen::element(0U, 0U, 0U, 1U);
  }
}

void check(const Case& c) {
  auto rows = *scenario::random_rows(c.mix);
  if (c.licences) ask_for_licences(rows);
  const log::Workload workload = scenario::workload_of(rows);
  Rules rules = c.rules;
  rules.all.of[0] = c.mix.processors;
  auto options = scenario::on(c.mix.processors, rules.submit_first ? sim::Ties::submit_first : sim::Ties::batch);
  if (c.licences) {
    options.machine = licensed(c.mix.processors);
    for (std::size_t i = 0; i < options.machine->licences.size(); ++i)
      rules.all.of.at(1 + i) = options.machine->licences[i].count;
  }
  const report::Outcome outcome = scenario::outcome_of(rows, c.policy, options);
  oracle::Scheduler scheduler(workload, rules);
  const auto& naive = scheduler.run();
  RC_ASSERT(naive.size() == outcome.jobs.size());
  for (std::size_t i = 0; i < naive.size(); ++i) {
    RC_LOG() << "job " << outcome.jobs[i].spec.number << ": Rota " << ms(outcome.jobs[i].start) << " to "
             << ms(outcome.jobs[i].end) << ", the oracle " << naive[i].start << " to " << naive[i].end << "\n";
    RC_ASSERT(ms(outcome.jobs[i].start) == naive[i].start);
    RC_ASSERT(ms(outcome.jobs[i].end) == naive[i].end);
    RC_ASSERT((outcome.jobs[i].state == JobState::timed_out) == naive[i].timed_out);
  }
}

Rules with(oracle::Backfill backfill, Order order = Order::fcfs, Order candidates = Order::fcfs) {
  Rules rules;
  rules.backfill = backfill;
  rules.order = order;
  rules.candidates = candidates;
  return rules;
}
Rules submit_first(Rules rules) {
  rules.submit_first = true;
  return rules;
}
Rules predicting(Rules rules) {
  rules.predict = true;
  return rules;
}
Rules killing_after(std::int64_t grace, Rules rules) {
  rules.grace = grace;
  return rules;
}

constexpr Mix kPlain{};
constexpr Mix kOverruns{.overruns = true};
constexpr Mix kHours{.overruns = true, .unit = 1201};  // long enough for several corrections of one prediction
constexpr Mix kPriorities{.overruns = true, .priorities = true};

using oracle::Backfill;

RC_GTEST_PROP(Oracle, AgreesOnFcfs, ()) { check({"fcfs", with(Backfill::none), kPriorities}); }
RC_GTEST_PROP(Oracle, AgreesOnFcfsThatSkips, ()) { check({"fcfs-skip", with(Backfill::skip), kPriorities}); }
RC_GTEST_PROP(Oracle, AgreesOnEasy, ()) { check({"easy", with(Backfill::easy), kOverruns}); }
RC_GTEST_PROP(Oracle, AgreesOnEasyWithPriorities, ()) { check({"easy", with(Backfill::easy), kPriorities}); }
RC_GTEST_PROP(Oracle, AgreesOnEasySjbf, ()) {
  check({"easy-sjbf", with(Backfill::easy, Order::fcfs, Order::sjf), kPriorities});
}
RC_GTEST_PROP(Oracle, AgreesOnConservative, ()) { check({"conservative", with(Backfill::conservative), kPriorities}); }
RC_GTEST_PROP(Oracle, AgreesOnConservativeWithoutOverruns, ()) {
  check({"conservative", with(Backfill::conservative), kPlain});
}
RC_GTEST_PROP(Oracle, AgreesOnPredictions, ()) {
  check({"easy++", predicting(with(Backfill::easy, Order::fcfs, Order::sjf)), kHours});
}

RC_GTEST_PROP(Oracle, AgreesOnFcfsOneEventAtATime, ()) {
  check({"fcfs", submit_first(with(Backfill::none)), kPriorities});
}
RC_GTEST_PROP(Oracle, AgreesOnEasyOneEventAtATime, ()) {
  check({"easy", submit_first(with(Backfill::easy)), kOverruns});
}
RC_GTEST_PROP(Oracle, AgreesOnEasySjbfOneEventAtATime, ()) {
  check({"easy-sjbf", submit_first(with(Backfill::easy, Order::fcfs, Order::sjf)), kOverruns});
}
RC_GTEST_PROP(Oracle, AgreesOnConservativeOneEventAtATime, ()) {
  check({"conservative", submit_first(with(Backfill::conservative)), kOverruns});
}
RC_GTEST_PROP(Oracle, AgreesOnPredictionsOneEventAtATime, ()) {
  check({"easy++", submit_first(predicting(with(Backfill::easy, Order::fcfs, Order::sjf))), kHours});
}

RC_GTEST_PROP(Oracle, AgreesOnEasyWhenJobsRunOn, ()) {
  check({"easy+overrun=run-on", killing_after(oracle::kFar, with(Backfill::easy)), kOverruns});
}
RC_GTEST_PROP(Oracle, AgreesOnEasyWithAFixedGrace, ()) {
  check({"easy+overrun=3s", killing_after(3000, with(Backfill::easy)), kOverruns});
}

RC_GTEST_PROP(Oracle, AgreesOnLicencesOfSeveralKindsUnderFcfs, ()) {
  check({"fcfs", with(Backfill::none), kPriorities, true});
}
RC_GTEST_PROP(Oracle, AgreesOnLicencesOfSeveralKindsUnderFcfsThatSkips, ()) {
  check({"fcfs-skip", with(Backfill::skip), kPriorities, true});
}
RC_GTEST_PROP(Oracle, AgreesOnLicencesOfSeveralKindsUnderEasy, ()) {
  check({"easy", with(Backfill::easy), kPriorities, true});
}
RC_GTEST_PROP(Oracle, AgreesOnLicencesOfSeveralKindsUnderConservative, ()) {
  check({"conservative", with(Backfill::conservative), kPriorities, true});
}
RC_GTEST_PROP(Oracle, AgreesOnLicencesOfSeveralKindsUnderPredictions, ()) {
  check({"easy++", predicting(with(Backfill::easy, Order::fcfs, Order::sjf)), kHours, true});
}

Order order_named(const std::string& name) {
  return std::ranges::find(kOrderNames, name, &std::pair<Order, std::string_view>::second)->first;
}

RC_GTEST_PROP(Oracle, AgreesOnEveryPairOfOrders, ()) {
  const std::string order = *rc::gen::elementOf(scenario::every_order());
  const auto backfill = *rc::gen::element(Backfill::none, Backfill::skip, Backfill::easy);
  const std::string candidates = backfill == Backfill::none ? order : *rc::gen::elementOf(scenario::every_order());
  const std::string base = backfill == Backfill::none ? "fcfs" : backfill == Backfill::skip ? "fcfs-skip" : "easy";
  check({fmt::format("{}+order={}+candidates={}", base, order, candidates),
         with(backfill, order_named(order), order_named(candidates)), kPriorities});
}

}  // namespace
}  // namespace rota

// Jobs with terms of their own: when they may be queued, what holds them, and what an amended job gets.
#include <gtest/gtest.h>

#include "control/desk_test.h"

namespace rota {
namespace {

using When = Dependency::When;

JobTerms after(const JobTerms& terms, JobId on, When when) {
  JobTerms more = terms;
  more.after.push_back({on, when});
  return more;
}

TEST(ControllerTerms, AJobIsQueuedAtItsBeginTimeAndNotBefore) {
  Desk desk("easy");
  JobTerms terms = Desk::terms(10);
  terms.begin = at_seconds(30);
  const auto job = desk.submit_on(terms);
  ASSERT_TRUE(job);
  EXPECT_EQ(desk.decide(), "");
  EXPECT_TRUE(desk.barred(*job));
  EXPECT_EQ(desk.job(*job).bars, kBeginTime);
  EXPECT_EQ(desk.loop().next(), at_seconds(30));
  desk.at(29);
  EXPECT_FALSE(desk.ring());
  EXPECT_EQ(desk.decide(), "");
  EXPECT_TRUE(desk.barred(*job));
  desk.at(30);
  EXPECT_TRUE(desk.ring());
  ASSERT_TRUE(desk.runs(*job));
  EXPECT_EQ(desk.job(*job).start, at_seconds(30));
}

TEST(ControllerTerms, AHeldJobStaysWhenItsBeginTimeComes) {
  Desk desk("easy");
  JobTerms terms = Desk::terms(10);
  terms.begin = at_seconds(30);
  const auto job = desk.submit_on(terms, 1, kHeldByUser);
  EXPECT_EQ(desk.decide(), "");
  desk.at(30);
  EXPECT_TRUE(desk.ring());
  EXPECT_EQ(desk.job(*job).bars, kHeldByUser);
  desk.at(40);
  EXPECT_EQ(desk.tell_and_decide(Released{*job, kHeldByUser}), "");
  EXPECT_TRUE(desk.runs(*job));
}

TEST(ControllerTerms, EachKindOfDependencyIsMetByWhatItNames) {
  struct Case {
    When when;
    Outcome outcome;
    bool at_start;  // met when the other one starts
    bool at_end;
  };
  const std::vector<Case> cases{{When::started, Outcome::completed, true, true},
                                {When::ended, Outcome::completed, false, true},
                                {When::ended, Outcome::timed_out, false, true},
                                {When::succeeded, Outcome::completed, false, true},
                                {When::failed, Outcome::failed, false, true},
                                {When::failed, Outcome::node_failed, false, true},
                                {When::succeeded, Outcome::out_of_memory, false, false},
                                {When::succeeded, Outcome::timed_out, false, false},
                                {When::failed, Outcome::completed, false, false}};
  for (const Case& c : cases) {
    Desk desk("easy");
    const JobId filler = desk.run(4, 5);
    const JobId first = desk.run(2, 10);
    ASSERT_TRUE(desk.waits(first));
    const auto second = desk.submit_on(after(Desk::terms(10), first, c.when));
    EXPECT_EQ(desk.decide(), "");
    EXPECT_EQ(desk.job(*second).bars, kDependency);
    EXPECT_EQ(desk.tell_and_decide(Finished{filler}), "");
    ASSERT_TRUE(desk.runs(first));
    EXPECT_EQ(desk.decide(), "");
    EXPECT_EQ(desk.runs(*second), c.at_start);
    EXPECT_EQ(desk.tell_and_decide(Finished{first, c.outcome}), "");
    EXPECT_EQ(desk.runs(*second), c.at_end);
    if (!c.at_end) {
      EXPECT_EQ(desk.job(*second).bars, kDependency | kNeverAgain);
    }
  }
}

TEST(ControllerTerms, ADependencyOnAJobThatWasTakenBackCanNeverSucceed) {
  Desk desk("easy");
  desk.run(4, 5);
  const JobId first = desk.run(2, 10);
  const auto second = desk.submit_on(after(Desk::terms(10), first, When::succeeded));
  const auto third = desk.submit_on(after(Desk::terms(10), first, When::ended));
  EXPECT_EQ(desk.tell_and_decide(Cancelled{first}), "");
  EXPECT_EQ(desk.job(*second).bars, kDependency | kNeverAgain);
  EXPECT_TRUE(desk.waits(*third));
  EXPECT_EQ(desk.tell_and_decide(Cancelled{*second}), "");
  EXPECT_FALSE(desk.view().knows(*second));
  EXPECT_EQ(desk.view().barred(), 0U);
}

TEST(ControllerTerms, AJobWaitsForAllThatItNames) {
  Desk desk("easy");
  const JobId one = desk.run(1, 10);
  const JobId other = desk.run(1, 10);
  const auto both = desk.submit_on(after(after(Desk::terms(10), one, When::ended), other, When::succeeded));
  EXPECT_EQ(desk.tell_and_decide(Finished{one}), "");
  EXPECT_EQ(desk.job(*both).bars, kDependency);
  EXPECT_EQ(desk.tell_and_decide(Finished{other}), "");
  EXPECT_TRUE(desk.runs(*both));
}

TEST(ControllerTerms, NoMoreOfAnArrayAreQueuedThanItsThrottleAllows) {
  Desk desk("easy", {.processors = 8});
  JobTerms terms = Desk::terms(10);
  terms.array = 5;
  terms.throttle = 2;
  std::vector<JobId> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(desk.submit_on(terms).value());
  EXPECT_EQ(desk.decide(), "");
  for (std::size_t ended = 0; ended < jobs.size(); ++ended) {
    for (std::size_t i = ended; i < jobs.size(); ++i)
      EXPECT_EQ(desk.runs(jobs[i]), i < ended + 2) << ended << ", " << i;
    EXPECT_EQ(desk.tell_and_decide(Finished{jobs[ended]}), "");
  }
}

TEST(ControllerTerms, AThrottleThatIsRaisedForOneHoldsForItsArray) {
  Desk desk("easy", {.processors = 8});
  JobTerms terms = Desk::terms(10);
  terms.array = 5;
  terms.throttle = 1;
  std::vector<JobId> jobs;
  for (int i = 0; i < 4; ++i) jobs.push_back(desk.submit_on(terms).value());
  EXPECT_EQ(desk.decide(), "");
  EXPECT_TRUE(desk.barred(jobs[1]));
  terms.throttle = 3;
  EXPECT_EQ(desk.tell_and_decide(Amended{jobs[3], terms}), "");
  EXPECT_EQ(desk.decide(), "");
  EXPECT_EQ(desk.view().running().size(), 3U);
  const std::size_t facts = desk.log().facts.size();
  EXPECT_EQ(desk.decide(), "");
  EXPECT_EQ(desk.log().facts.size(), facts);  // no job is looked at again and again
}

TEST(ControllerTerms, AJobIsQueuedWhenTheLastHoldIsGone) {
  Desk desk("easy");
  const JobId first = desk.run(4, 10);
  const JobId job = desk.run(1, 10);
  EXPECT_NE(desk.job(job).promise, kNever);
  EXPECT_EQ(desk.tell(Held{job, kHeldByUser}), "");
  EXPECT_EQ(desk.job(job).promise, kNever);
  EXPECT_EQ(desk.tell_and_decide(Held{job, kHeldByOperator}), "");
  EXPECT_EQ(desk.tell_and_decide(Finished{first}), "");
  EXPECT_EQ(desk.job(job).bars, kHeldByUser | kHeldByOperator);
  EXPECT_EQ(desk.tell_and_decide(Released{job, kHeldByUser}), "");
  EXPECT_EQ(desk.job(job).bars, kHeldByOperator);
  EXPECT_EQ(desk.tell_and_decide(Released{job, kHeldByOperator}), "");
  EXPECT_TRUE(desk.runs(job));
}

TEST(ControllerTerms, AReleasedJobIsBackAtItsPlace) {
  Desk desk("fcfs");
  const JobId first = desk.run(4, 10);
  const JobId second = desk.run(3, 10);
  const JobId third = desk.run(3, 10);
  EXPECT_EQ(desk.tell_and_decide(Held{second}), "");
  EXPECT_EQ(desk.tell_and_decide(Released{second}), "");
  EXPECT_EQ(desk.tell_and_decide(Finished{first}), "");
  EXPECT_TRUE(desk.runs(second));
  EXPECT_TRUE(desk.waits(third));
}

TEST(ControllerTerms, AnAmendedPriorityChangesPlaceAndPromise) {
  Desk desk("easy");
  desk.run(4, 10);
  const JobId second = desk.run(4, 20);
  const JobId third = desk.run(4, 30);
  EXPECT_EQ(desk.job(second).promise, at_seconds(10));
  EXPECT_EQ(desk.job(third).promise, kNever);
  JobTerms terms = desk.terms_of(third);
  terms.priority = 1;
  EXPECT_EQ(desk.tell_and_decide(Amended{third, terms}), "");
  EXPECT_EQ(desk.view().waiting().head()->job, third);
  EXPECT_EQ(desk.job(third).promise, at_seconds(10));
  EXPECT_EQ(desk.job(second).promise, kNever);
}

TEST(ControllerTerms, AnAmendedLimitIsWhatPlanningCountsOn) {
  Desk desk("easy");
  const JobId first = desk.run(3, 10);
  const JobId head = desk.run(4, 10);
  const JobId late = desk.run(1, 20);  // would delay the head
  ASSERT_TRUE(desk.waits(late));
  JobTerms terms = desk.terms_of(late);
  terms.limit = seconds(10);
  EXPECT_EQ(desk.tell_and_decide(Amended{late, terms}), "");
  EXPECT_TRUE(desk.runs(late));
  EXPECT_EQ(desk.job(late).limit_end(), at_seconds(10));
  EXPECT_EQ(desk.engine().commands.back().limit_end, at_seconds(10));
  EXPECT_TRUE(desk.waits(head));
  EXPECT_TRUE(desk.runs(first));
}

TEST(ControllerTerms, AnAmendedLimitCountsWhatWasDone) {
  Desk desk("fcfs+preempt=suspend");
  const JobId low = desk.run(4, 100);
  desk.at(40);
  const JobId high = desk.run(4, 10, 1);
  EXPECT_EQ(desk.tell_and_decide(Vacated{low, seconds(40)}), "");
  ASSERT_TRUE(desk.runs(high));
  JobTerms terms = desk.terms_of(low);
  terms.limit = seconds(90);
  EXPECT_EQ(desk.tell_and_decide(Amended{low, terms}), "");
  EXPECT_EQ(desk.job(low).expected, seconds(50));
  terms.limit = seconds(30);  // less than it has run
  EXPECT_EQ(desk.tell_and_decide(Amended{low, terms}), "");
  EXPECT_EQ(desk.job(low).expected, Duration{1});
}

TEST(ControllerTerms, WhatAJobAskedForStaysUntilItIsForgotten) {
  class Sink final : public FactObserver {
   public:
    void fact_recorded(const View& before, const FactRef& fact) override {
      if (std::holds_alternative<const CycleClosed*>(fact.what) && before.gone().size() == 1) {
        asked = before.request(before.gone()[0]);
      }
    }
    JobSpec asked;
  };
  Desk desk("easy");
  Sink sink;
  desk.controller().add_observer(sink);
  desk.run(4, 10);
  const JobId job = desk.run(1, 10, 2);
  const std::string asked = text_of(desk.job(job).spec);
  for (const std::int64_t limit : {20, 10, 30}) {
    EXPECT_EQ(desk.tell_and_decide(Amended{job, Desk::terms(limit, 1)}), "");
    EXPECT_EQ(text_of(desk.view().request(job)), asked);
    EXPECT_EQ(desk.job(job).spec.limit, seconds(limit));
  }
  EXPECT_EQ(desk.tell(Cancelled{job}), "");
  EXPECT_EQ(text_of(desk.view().request(job)), asked);
  EXPECT_EQ(desk.decide(), "");
  EXPECT_EQ(text_of(sink.asked), asked);
  EXPECT_FALSE(desk.view().knows(job));
}

DeskOptions with_licences() {
  Machine machine;
  Node& node = machine.nodes.emplace_back();
  node.name = "n0";
  node.processors = 4;
  machine.processors = 4;
  machine.licences = {{"solver", 2}, {"mesher", 1}};
  DeskOptions options;
  options.machine = std::make_shared<const Machine>(std::move(machine));
  return options;
}

TEST(ControllerTerms, AJobThatWaitsIsGivenOtherLicencesAtItsPlace) {
  Desk desk("easy", with_licences());
  const LicenceId solver{0};
  JobSpec spec = desk.asking(1, 10);
  set_licences(spec, {{solver, 2}});
  const JobId first = desk.controller().submit(spec);
  spec = desk.asking(1, 20);
  set_licences(spec, {{solver, 1}});
  const JobId second = desk.controller().submit(spec);
  EXPECT_EQ(desk.decide(), "");
  ASSERT_TRUE(desk.runs(first) && desk.waits(second));
  const JobId third = desk.run(4, 10);
  EXPECT_EQ(desk.tell_and_decide(LicencesChanged{.job = second, .licence = LicenceId{1}, .licences = 1}), "");
  EXPECT_TRUE(desk.runs(second));
  EXPECT_EQ(desk.view().nodes().licences_free(LicenceId{1}), 0);
  EXPECT_EQ(desk.view().request(second).licence, solver);
  EXPECT_EQ(desk.tell(LicencesChanged{.job = third, .licence = solver, .licences = 2}), "");
  const std::string before = desk.state();
  EXPECT_EQ(desk.take_over(), "");
  EXPECT_EQ(difference(before, desk.state()), "");
  EXPECT_EQ(desk.job(third).spec.licences, 2U);
}

TEST(ControllerTerms, LicencesThatCannotBeAreRefused) {
  Desk desk("easy", with_licences());
  const JobId runs = desk.run(4, 10);
  const JobId waits = desk.run(4, 10);
  EXPECT_EQ(desk.tell(LicencesChanged{.job = runs}),
            "job 1 is given other licences, and it runs; nothing was changed.");
  EXPECT_EQ(
      desk.tell(LicencesChanged{.job = waits, .licence = LicenceId{2}, .licences = 1}),
      "job 2 asks for a partition, licence, QOS or type of accelerator that the cluster does not have; nothing was "
      "changed.");
  EXPECT_EQ(desk.tell(LicencesChanged{.job = waits, .licence = LicenceId{0}, .licences = 3}),
            "job 2 asks for 3 licences of solver; the cluster has 2; nothing was changed.");
  Desk counted("easy");
  counted.run(4, 10);
  const JobId other = counted.run(4, 10);
  EXPECT_NE(counted.tell(LicencesChanged{.job = other, .licence = LicenceId{0}, .licences = 1}), "");
}

TEST(ControllerTerms, AJobThatWaitsIsGivenOtherProcessorsAtItsPlace) {
  Desk desk("easy");
  const JobId first = desk.run(3, 10);
  const JobId head = desk.run(4, 10);
  const JobId third = desk.run(2, 5);  // one is free
  ASSERT_TRUE(desk.waits(head) && desk.waits(third));
  Amended fact{third, desk.terms_of(third)};
  fact.processors = 1;
  EXPECT_EQ(desk.tell_and_decide(fact), "");
  EXPECT_TRUE(desk.runs(third));
  EXPECT_EQ(desk.view().free(), 0);
  EXPECT_EQ(desk.view().request(third).processors, 2U);
  EXPECT_EQ(desk.job(head).promise, at_seconds(10));
  fact = {head, desk.terms_of(head)};
  fact.processors = 1;
  EXPECT_EQ(desk.tell_and_decide(fact), "");
  EXPECT_EQ(desk.job(head).promise, at_seconds(5)) << "its promise is another one";
  const std::string before = desk.state();
  EXPECT_EQ(desk.take_over(), "");
  EXPECT_EQ(difference(before, desk.state()), "");
  desk.at(5);
  EXPECT_EQ(desk.tell_and_decide(Finished{third}), "");
  EXPECT_TRUE(desk.runs(head));
  EXPECT_EQ(desk.tell(Amended{first, desk.terms_of(first)}), "job 1 is amended, and it runs; nothing was changed.");
}

TEST(ControllerTerms, ProcessorsAndMemoryThatCannotBeAreRefused) {
  Machine machine;
  machine.nodes.resize(2);
  for (Node& node : machine.nodes) node.processors = 4;
  machine.nodes[0].memory = 800;
  machine.nodes[1].memory = 400;
  machine.processors = 8;
  DeskOptions options;
  options.machine = std::make_shared<const Machine>(std::move(machine));
  Desk desk("easy", std::move(options));
  JobSpec spec = desk.asking(4, 10);
  spec.memory = 800;
  desk.controller().submit(spec);
  spec = desk.asking(1, 10);
  spec.memory = 500;
  const JobId waits = desk.controller().submit(spec);
  EXPECT_EQ(desk.decide(), "");
  ASSERT_TRUE(desk.waits(waits));
  Amended fact{waits, desk.terms_of(waits), 1, 0, 801};
  const std::string why = desk.tell(fact);
  EXPECT_TRUE(why.starts_with("job 2 asks for ")) << why;
  EXPECT_TRUE(why.ends_with("; nothing was changed.")) << why;
  fact = {waits, desk.terms_of(waits), 9, 0, 0};
  EXPECT_EQ(desk.tell(fact), "job 2 asks for 9 processors; the cluster has 8; nothing was changed.");
  fact = {waits, desk.terms_of(waits), 3, 3, 0};
  EXPECT_EQ(desk.tell(fact), "job 2 asks for 3 nodes; the cluster has 2; nothing was changed.");
  EXPECT_EQ(desk.job(waits).spec.memory, 500);
  EXPECT_EQ(desk.tell_and_decide(Amended{waits, desk.terms_of(waits), 2, 1, 400}), "");
  EXPECT_TRUE(desk.runs(waits));
  EXPECT_EQ(desk.view().placement(waits).shares.front().node, NodeId{1});
}

TEST(ControllerTerms, WhatAJobHeldBeforeCountsAsTheSameProcessorTime) {
  Desk desk("easy");
  const JobId job = desk.run(4, 100);
  desk.at(30);
  EXPECT_EQ(desk.tell(Requeued{job, seconds(100)}), "");
  for (const auto& [processors, earlier] : {std::pair{2U, 30}, {4U, 0}, {1U, 90}}) {
    EXPECT_EQ(desk.tell(Amended{job, desk.terms_of(job), processors}), "");
    EXPECT_EQ(desk.job(job).earlier, seconds(earlier)) << processors;
  }
  EXPECT_EQ(desk.decide(), "");
  EXPECT_EQ(desk.job(job).earlier, seconds(120));
}

TEST(ControllerTerms, WhatMakesNoSenseIsNotSubmitted) {
  Desk desk("easy");
  const std::string before = desk.state();
  const auto endless = desk.submit_on(Desk::terms(0));
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().message, "job 1 is to have no time to run, or too much; give a limit above 0.");
  const auto too_large = desk.submit_on(Desk::terms(10), 5);
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().message, "job 2 asks for 5 processors; the cluster has 4; nothing was changed.");
  const auto after_itself = desk.submit_on(after(Desk::terms(10), JobId{0}, When::ended));
  ASSERT_FALSE(after_itself);
  EXPECT_EQ(after_itself.error().message, "job 3 is to wait for itself; nothing was changed.");
  EXPECT_EQ(difference(before, desk.state()), "");
}

}  // namespace
}  // namespace rota

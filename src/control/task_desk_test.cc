#include "control/task_desk.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "control/desk_test.h"

namespace rota {
namespace {

// Does nothing by itself: the test says what becomes of tasks.
class HandExecutor final : public Executor {
 public:
  explicit HandExecutor(const Machine& machine) {
    for (std::uint32_t i = 0; i < machine.nodes.size(); ++i) {
      for (std::uint32_t a = 0; a < machine.nodes[i].accelerators; ++a) all.push_back({NodeId{i}, kUnitSpeed, true});
    }
  }
  void submit(const ComputeTask& task) override {
    tasks.push_back(task);
    if (task.container.valid()) all[task.container.value].room = false;
  }
  void cancel(const TaskKey& key) override { cancelled.push_back(key); }
  std::span<const Card> cards() const override { return all; }

  std::vector<Card> all;
  std::vector<ComputeTask> tasks;
  std::vector<TaskKey> cancelled;
};

// Nodes of four processors in one rack, the first ones with an accelerator.
Machine rack(std::uint32_t with, std::uint32_t without) {
  Machine machine = Machine::counted(4 * std::int64_t{with + without});
  machine.racks = {""};
  for (std::uint32_t i = 0; i < with + without; ++i) {
    Node node;
    node.name = "n" + std::to_string(i);
    node.processors = 4;
    node.accelerators = i < with ? 1 : 0;
    machine.nodes.push_back(node);
  }
  return machine;
}

// "asked 1: 10 of 10, bound 2>0, unbound 2>0 of 1 (1)"
std::string text_of(const std::vector<TaskFact>& facts) {
  std::string out;
  const auto binding = [](NodeId node, NodeId host, JobId job, std::uint32_t processors) {
    std::string text = node.valid() ? fmt::format(" {}>{}", node.value, host.value) : " all";
    if (job.valid()) text += fmt::format(" of {}", job.value);
    if (processors > 0) text += fmt::format(" ({})", processors);
    return text;
  };
  for (const TaskFact& fact : facts) {
    if (std::holds_alternative<Serving>(fact)) continue;
    if (!out.empty()) out += ", ";
    if (const auto* f = std::get_if<TasksAsked>(&fact))
      out += fmt::format("asked {}: {} of {}", f->job.value, f->left, f->tasks.count);
    if (const auto* f = std::get_if<Bound>(&fact)) out += "bound" + binding(f->node, f->to, f->job, f->processors);
    if (const auto* f = std::get_if<Unbound>(&fact))
      out += "unbound" + binding(f->node, f->from, f->job, f->processors);
  }
  return out;
}

constexpr JobId kJob{1};
constexpr JobId kOther{2};

class TaskDeskTest : public testing::Test, public TaskDeskListener {
 protected:
  void open(Bind bind, std::uint32_t with, std::uint32_t without) {
    machine_ = rack(with, without);
    executor_.emplace(machine_);
    desk_.emplace(bind, machine_, *executor_, *this);
  }
  void ask(JobId job, std::uint32_t count, Duration limit = Duration{0}) {
    TaskSpec spec;
    spec.count = count;
    spec.accelerator = seconds(1);
    spec.cpu = seconds(10);
    spec.limit = limit;
    desk_->ask(job, spec, seconds(100));
  }
  // On processors of some nodes, and ready.
  void start(JobId job, const std::vector<std::uint32_t>& nodes, std::uint32_t processors = 1) {
    Placement where;
    for (const std::uint32_t node : nodes) where.shares.push_back({NodeId{node}, processors});
    desk_->ready(job, desk_->start(job, where));
    desk_->hand_out();
  }
  void answer(std::size_t task, void (TaskDesk::*how)(const TaskKey&)) {
    const ComputeTask of = executor_->tasks.at(task);
    ((*desk_).*how)(of.key);
    if (of.container.valid()) {
      executor_->all[of.container.value].room = true;
      desk_->room(of.container);
    }
    desk_->hand_out();
  }
  std::size_t submitted() const { return executor_->tasks.size(); }
  std::string facts() { return text_of(desk_->take_facts()); }
  void tasks_done(JobId job) override { done_.push_back(job); }

  Machine machine_;
  std::optional<HandExecutor> executor_;
  std::optional<TaskDesk> desk_;
  std::vector<JobId> done_;
};

TEST_F(TaskDeskTest, ATaskIsDoneOnceHoweverOftenThatIsSaid) {
  open(Bind::node, 1, 1);
  ask(kJob, 2);
  start(kJob, {1});
  ASSERT_EQ(submitted(), 1U);
  EXPECT_EQ(executor_->tasks[0].on, NodeId{0});
  EXPECT_EQ(executor_->tasks[0].home, NodeId{1});
  answer(0, &TaskDesk::done);
  ASSERT_EQ(submitted(), 2U);
  desk_->done(executor_->tasks[0].key);  // its place is that of the second one now
  EXPECT_EQ(desk_->answers_in_vain(), 1);
  EXPECT_TRUE(done_.empty());
  answer(1, &TaskDesk::done);
  EXPECT_EQ(done_, std::vector{kJob});
  EXPECT_EQ(desk_->counts().remote, 2);
}

TEST_F(TaskDeskTest, AnAnswerAboutNothingChangesNothing) {
  open(Bind::node, 1, 1);
  desk_->done({0, 17, 3});
  desk_->lost({});
  desk_->room(ContainerId{8});
  desk_->came(NodeId{0});
  desk_->ready(kJob, 1);
  desk_->hand_out();
  EXPECT_EQ(desk_->answers_in_vain(), 3);
  EXPECT_EQ(submitted(), 0U);
}

TEST_F(TaskDeskTest, WhatAContainerLosesIsDoneByAnother) {
  open(Bind::container, 2, 1);
  ask(kJob, 2);
  start(kJob, {2});
  ASSERT_EQ(submitted(), 2U);
  desk_->went(NodeId{0});
  desk_->lost(executor_->tasks[0].key);
  answer(1, &TaskDesk::done);
  ASSERT_EQ(submitted(), 3U);
  EXPECT_EQ(executor_->tasks[2].on, NodeId{1});
  answer(2, &TaskDesk::done);
  desk_->done(executor_->tasks[0].key);  // it had only been cut off
  EXPECT_EQ(done_, std::vector{kJob});
  EXPECT_EQ(desk_->counts().redone, 1);
  EXPECT_EQ(desk_->answers_in_vain(), 1);
}

TEST_F(TaskDeskTest, AJobThatIsStoppedCancelsWhatIsBegunAndKeepsWhatIsDone) {
  open(Bind::node, 1, 1);
  ask(kJob, 5);
  EXPECT_EQ(facts(), "bound 1>0, asked 1: 5 of 5");
  start(kJob, {1});
  answer(0, &TaskDesk::done);
  desk_->stop(kJob, true);
  ASSERT_EQ(executor_->cancelled.size(), 1U);
  EXPECT_EQ(executor_->cancelled[0], executor_->tasks[1].key);
  EXPECT_EQ(facts(), "asked 1: 4 of 5");
  answer(1, &TaskDesk::done);  // too late: it does not count, and the card has room again
  start(kJob, {1});
  for (std::size_t i = 2; i < 6; ++i) answer(i, &TaskDesk::done);
  EXPECT_EQ(done_, std::vector{kJob});
  desk_->stop(kJob, false);
  EXPECT_EQ(facts(), "asked 1: 5 of 5") << "what was done is lost with it";
}

TEST_F(TaskDeskTest, ACpuThatIsTooSlowHandsItsTaskToAnotherNode) {
  open(Bind::none, 0, 2);
  ask(kJob, 2, seconds(5));
  start(kJob, {0, 1});
  ASSERT_EQ(submitted(), 2U);
  EXPECT_EQ(executor_->tasks[0].limit, seconds(5));
  answer(0, &TaskDesk::over_limit);
  answer(1, &TaskDesk::done);
  ASSERT_EQ(submitted(), 3U);
  EXPECT_EQ(executor_->tasks[2].on, NodeId{1});
  EXPECT_EQ(executor_->tasks[2].limit, Duration{0});
}

TEST_F(TaskDeskTest, TellsOfNodesThatAreBoundAnew) {
  open(Bind::node, 2, 2);
  ask(kJob, 1);
  EXPECT_EQ(facts(), "bound 2>0, bound 3>1, asked 1: 1 of 1");
  desk_->went(NodeId{1});
  EXPECT_EQ(facts(), "bound 3>0");
  desk_->went(NodeId{0});
  EXPECT_EQ(facts(), "unbound 2>0, unbound 3>0");
  desk_->came(NodeId{1});
  EXPECT_EQ(facts(), "bound 2>1, bound 3>1");
}

TEST_F(TaskDeskTest, TellsOfAJobsNodesOnceTheirTasksGoThere) {
  open(Bind::late, 2, 1);
  ask(kJob, 8);
  start(kJob, {2});
  EXPECT_EQ(facts(), "asked 1: 8 of 8, bound 2>0 of 1, bound 2>1 of 1");
  answer(0, &TaskDesk::done);
  EXPECT_EQ(facts(), "") << "a further task is no further binding";
  desk_->went(NodeId{1});
  EXPECT_EQ(facts(), "unbound 2>1 of 1");
  desk_->stop(kJob, false);
  EXPECT_EQ(facts(), "unbound all of 1");
}

TEST_F(TaskDeskTest, TellsOfSlotsAndThatTheyMove) {
  open(Bind::slot, 2, 2);
  ask(kJob, 8);
  ask(kOther, 8);
  start(kJob, {2}, 2);
  EXPECT_EQ(facts(), "asked 1: 8 of 8, asked 2: 8 of 8, bound 2>0 of 1 (1), bound 2>1 of 1 (1)");
  start(kOther, {3}, 2);
  EXPECT_EQ(facts(), "bound 3>0 of 2 (1), bound 3>1 of 2 (1)");
  desk_->forget(kJob);
  EXPECT_EQ(facts(), "") << "its end says so";
  desk_->went(NodeId{0});
  EXPECT_EQ(facts(), "bound 3>1 of 2 (1), unbound 3>0 of 2 (1)");
}

TEST_F(TaskDeskTest, AfterARestartNodesStayBoundAndJobsHaveWhatWasLeft) {
  open(Bind::node, 2, 4);
  ask(kJob, 5);
  desk_->went(NodeId{0});
  desk_->came(NodeId{0});
  start(kJob, {2});
  answer(0, &TaskDesk::done);
  desk_->stop(kJob, true);
  AcceleratorBindings kept;
  const auto fold = [&] {
    for (const TaskFact& fact : desk_->take_facts()) {
      if (const auto* f = std::get_if<TasksAsked>(&fact)) kept.apply(*f);
      if (const auto* f = std::get_if<Bound>(&fact)) kept.apply(*f);
      if (const auto* f = std::get_if<Unbound>(&fact)) kept.apply(*f);
    }
  };
  fold();
  desk_.emplace(Bind::node, machine_, *executor_, *this, TaskDeskStart{kept, 1});
  EXPECT_EQ(facts(), "") << "nothing is bound anew";
  const NodeId host = kept.bound_to(NodeId{2});
  executor_->tasks.clear();
  for (Card& card : executor_->all) card.room = true;
  start(kJob, {2});
  ASSERT_EQ(submitted(), 1U);
  EXPECT_EQ(executor_->tasks[0].on, host);
  TaskKey before = executor_->tasks[0].key;
  before.epoch = 0;
  desk_->done(before);  // by a container that has outlived the desk before
  EXPECT_EQ(desk_->answers_in_vain(), 1);
  for (std::size_t i = 0; i < 4; ++i) answer(i, &TaskDesk::done);
  EXPECT_EQ(done_, std::vector{kJob});
}

// ---- what the state makes of it

TasksAsked asked(JobId job, std::uint32_t left) {
  TasksAsked fact{job, {}, left};
  fact.tasks.count = 5;
  fact.tasks.accelerator = seconds(1);
  return fact;
}

class BindingFacts : public testing::Test {
 protected:
  void SetUp() override {
    job_ = desk_.run(4, 100);
    ASSERT_EQ(desk_.tell(asked(job_, 5)), "");
  }
  const AcceleratorBindings& bindings() const { return desk_.view().bindings(); }

  Desk desk_{"easy", {.processors = 16, .machine = std::make_shared<const Machine>(rack(2, 2))}};
  JobId job_;
};

TEST_F(BindingFacts, AreTakenInOnceAndLastAsLongAsTheJobHasItsNodes) {
  EXPECT_EQ(desk_.tell(Bound{NodeId{2}, NodeId{0}, {}, 0}), "");
  EXPECT_EQ(desk_.tell(Bound{NodeId{2}, NodeId{0}, {}, 0}),
            "node n2 is said to be bound to node n0, and it is; nothing was changed.");
  EXPECT_EQ(desk_.tell(Bound{NodeId{2}, NodeId{1}, {}, 0}), "") << "in place of the other";
  EXPECT_EQ(bindings().bound_to(NodeId{2}), NodeId{1});
  EXPECT_EQ(desk_.tell(Bound{NodeId{3}, NodeId{0}, job_, 2}), "");
  EXPECT_EQ(desk_.tell(Bound{NodeId{3}, NodeId{0}, job_, 1}), "");
  EXPECT_EQ(desk_.tell(Unbound{NodeId{3}, NodeId{0}, job_, 2}), "");
  EXPECT_EQ(desk_.tell(Unbound{NodeId{3}, NodeId{0}, job_, 2}),
            "node n3 is said to be bound to node n0 no longer, and it is not; nothing was changed.");
  ASSERT_EQ(bindings().all().size(), 2U);
  EXPECT_EQ(bindings().all()[1].processors, 1U);
  EXPECT_EQ(desk_.tell(Finished{job_}), "");
  EXPECT_EQ(bindings().all().size(), 1U);
  EXPECT_TRUE(bindings().asked().empty());
  EXPECT_NE(desk_.tell(Bound{NodeId{3}, NodeId{0}, job_, 2}), "") << "it runs no longer";
  EXPECT_NE(desk_.tell(asked(job_, 1)), "");
}

TEST_F(BindingFacts, ThatCannotBeAreRefused) {
  EXPECT_NE(desk_.tell(asked(job_, 6)), "") << "more than all";
  EXPECT_NE(desk_.tell(Bound{NodeId{0}, NodeId{2}, job_, 0}), "") << "it has no accelerators";
  EXPECT_NE(desk_.tell(Bound{NodeId{0}, NodeId{1}, {}, 0}), "") << "it has some of its own";
  EXPECT_NE(desk_.tell(Bound{NodeId{2}, NodeId{2}, {}, 0}), "") << "to itself";
  EXPECT_NE(desk_.tell(Bound{NodeId{9}, NodeId{1}, {}, 0}), "");
  EXPECT_NE(desk_.tell(Bound{NodeId{2}, NodeId{9}, {}, 0}), "");
  EXPECT_NE(desk_.tell(Bound{NodeId{2}, NodeId{0}, job_, 5}), "") << "more processors than the node has";
  EXPECT_NE(desk_.tell(Unbound{{}, {}, job_, 0}), "") << "it has bound nothing";
  EXPECT_NE(desk_.tell(Unbound{{}, {}, {}, 0}), "");
  const JobId other = desk_.run(1, 10);
  EXPECT_NE(desk_.tell(Bound{NodeId{2}, NodeId{0}, other, 0}), "") << "it has no tasks";
  EXPECT_TRUE(bindings().all().empty());
}

TEST_F(BindingFacts, OfProcessorsMayBeOfAJobWithoutTasksAndToAnyNodeOfTheRack) {
  const JobId other = desk_.run(1, 10);
  EXPECT_EQ(desk_.tell(Bound{NodeId{2}, NodeId{3}, other, 3}), "") << "a container may run there";
  EXPECT_EQ(desk_.tell(Bound{NodeId{2}, NodeId{2}, other, 1}), "") << "its own node";
  EXPECT_NE(desk_.tell(Bound{NodeId{2}, NodeId{3}, other, 0}), "") << "as a whole it has to have tasks";
  EXPECT_NE(desk_.tell(Unbound{NodeId{2}, NodeId{3}, other, 4}), "") << "more than there are";
  EXPECT_EQ(desk_.tell(Unbound{NodeId{2}, NodeId{3}, other, 1}), "");
  EXPECT_EQ(bindings().bound_to(NodeId{2}), NodeId{}) << "for all jobs it is not";
  ASSERT_EQ(desk_.take_over(), "");
  ASSERT_EQ(bindings().all().size(), 2U);
  EXPECT_EQ(bindings().all()[0].processors, 2U);
  EXPECT_EQ(desk_.tell(Finished{other}), "");
  EXPECT_TRUE(bindings().all().empty());
}

TEST_F(BindingFacts, MayNameANodeThatIsDescribedWithoutAcceleratorsForItsContainerMayRun) {
  EXPECT_EQ(desk_.tell(Bound{NodeId{3}, NodeId{2}, {}, 0}), "");
  ASSERT_EQ(desk_.take_over(), "");
  EXPECT_EQ(bindings().bound_to(NodeId{3}), NodeId{2});
}

TEST_F(BindingFacts, ComeBackAfterARestart) {
  EXPECT_EQ(desk_.tell(Bound{NodeId{3}, NodeId{1}, {}, 0}), "");
  EXPECT_EQ(desk_.tell(Bound{NodeId{2}, NodeId{1}, {}, 0}), "");
  EXPECT_EQ(desk_.tell(Bound{NodeId{2}, NodeId{0}, job_, 3}), "");
  EXPECT_EQ(desk_.tell(asked(job_, 2)), "");
  ASSERT_EQ(desk_.take_over(), "");
  const std::vector<Bound> all = bindings().all();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].node, NodeId{3}) << "in the order in which they were made";
  EXPECT_EQ(all[2].processors, 3U);
  EXPECT_EQ(bindings().asked().at(job_).left, 2U);
}

}  // namespace
}  // namespace rota

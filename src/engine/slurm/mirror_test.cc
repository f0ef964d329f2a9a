// What differs between Slurm's lists and the state becomes facts, with their times.
#include "engine/slurm/mirror.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>

#include "control/controller.h"
#include "control/hand_loop_test.h"

namespace rota::slurm {
namespace {

class SilentEngine final : public Engine {
 public:
  Capabilities capabilities() const override {
    Capabilities can;
    can.shared = can.confirms_starts = true;
    can.submits = false;
    can.remembers = seconds(300);
    return can;
  }
  void dispatch(const Command& command) override { commands.push_back(command); }
  Observation observe() const override { return {.complete = false, .jobs = {}, .nodes = {}}; }

  std::vector<Command> commands;
};

class History final : public JobSink {
 public:
  void job_gone(JobId /*id*/, const Job& job) override { left.push_back(job); }
  const Job* find(std::int64_t number) const {
    const auto found = std::ranges::find(left, number, [](const Job& job) { return job.spec.number; });
    return found == left.end() ? nullptr : &*found;
  }
  std::vector<Job> left;
};

Machine machine_of_two() {
  Machine machine;
  machine.partitions.emplace_back().name = "main";
  machine.default_partition = PartitionId{0};
  for (const char* name : {"n1", "n2"}) {
    Node& node = machine.nodes.emplace_back();
    node.name = name;
    node.processors = 4;
    node.memory = std::int64_t{4000} << 20U;
    node.partitions = {PartitionId{0}};
    node.features = 3;
    machine.partitions[0].nodes.push_back(NodeId{static_cast<std::uint32_t>(machine.nodes.size() - 1)});
  }
  machine.partitions[0].processors = machine.processors = 8;
  machine.racks = {""};
  machine.features = {"cpu", "intel"};
  machine.licences = {{"matlab", 3}};
  return machine;
}

class SlurmMirror : public testing::Test, protected ManagerJobs {
 protected:
  SlurmMirror() {
    ClusterOptions options;
    options.processors = machine_.processors;
    options.machine = &machine_;
    options.shared = options.confirms_starts = true;
    chain_.ask(options);
    controller_.emplace(options, chain_, Ports{loop_, engine_, history_});
    loop_.move_to(at_seconds(1000));
    begin();
  }

  // Another life of the service.
  void begin() {
    mirror_.emplace(Mirror::Uses{*controller_, *this, [this]() -> const View& { return controller_->view(); },
                                 [](std::int64_t unix) { return Instant{Duration{unix}}; }});
  }

  JobId meet(const JobSpec& spec, Bars bars, const ManagerJob& named) override {
    names_[spec.number] = named;
    return controller_->submit(spec, bars);
  }
  bool has_left(std::int64_t number) const override { return history_.find(number) != nullptr; }
  void say(JobId /*job*/, const ManagerWait& wait) override {
    reason_ = wait.reason;
    expected_ = wait.expected;
    after_ = wait.after;
  }
  void reserved(const std::vector<ManagerReservation>& all) override { reserved_ = all; }
  void node_reason(NodeId node, const std::string& reason) override { node_reasons_[node] = reason; }
  void surveyed(Instant /*at*/) override {}
  Result<std::vector<ManagerTurn>> in_order(const std::string& /*rule*/) override { return std::vector<ManagerTurn>{}; }

  static JobRow row(std::int64_t id, Stage stage, std::int64_t start = -1, std::string_view nodes = "") {
    JobRow row;
    row.id = id;
    row.stage = stage;
    row.uid = 7;
    row.user = "ann";
    row.partition = "main";
    row.submit = 900'000;
    row.start = start < 0 ? -1 : start * 1000;
    row.nodes = nodes;
    row.limit = seconds(600);
    row.processors = 2;
    row.node_count = 1;
    row.reason = stage == Stage::waiting ? "Priority" : "";
    return row;
  }
  static JobRow ended(std::int64_t id, Outcome outcome, std::int64_t start, std::int64_t end, std::string_view nodes) {
    JobRow row = SlurmMirror::row(id, Stage::ended, start, nodes);
    row.outcome = outcome;
    row.end = end * 1000;
    return row;
  }
  std::vector<std::string> list(const std::vector<JobRow>& rows, std::int64_t now) {
    loop_.move_to(at_seconds(now));
    auto missing = mirror_->take(rows, loop_.now());
    decide();
    return missing;
  }
  void decide() {
    EXPECT_TRUE(controller_->decide());
    EXPECT_TRUE(controller_->health()) << controller_->health().error().message;
    EXPECT_TRUE(engine_.commands.empty()) << "nothing is ever ordered";
  }
  const Job* job(std::int64_t number) {
    const Job* found = nullptr;
    controller_->view().for_each_job([&](JobId, const Job& each) {
      if (each.spec.number == number && !each.gone()) found = &each;
    });
    return found;
  }
  JobState state(std::int64_t number) { return job(number) ? job(number)->state : JobState::rejected; }

  HandLoop loop_;
  SilentEngine engine_;
  History history_;
  Machine machine_ = machine_of_two();
  Chain chain_ = *Chain::parse("easy");
  std::optional<Controller> controller_;
  std::optional<Mirror> mirror_;
  std::map<std::int64_t, ManagerJob> names_;
  std::string reason_;
  Instant expected_ = kNever;
  std::string after_;
  std::vector<ManagerReservation> reserved_;
  std::map<NodeId, std::string> node_reasons_;
};

TEST_F(SlurmMirror, AJobThatWaitsIsSeenAndNeverStarted) {
  list({row(12, Stage::waiting, 1500)}, 1000);
  ASSERT_NE(job(12), nullptr);
  EXPECT_EQ(state(12), JobState::barred);
  EXPECT_FALSE(job(12)->ours());
  EXPECT_EQ(job(12)->spec.submit, at_seconds(900));
  EXPECT_EQ(names_.at(12).user, "ann");
  EXPECT_EQ(reason_, "Priority");
  EXPECT_EQ(expected_, at_seconds(1500));
}

TEST_F(SlurmMirror, AJobRunsFromWhenAndWhereSlurmSaysUntilItSays) {
  list({row(12, Stage::waiting)}, 1000);
  list({row(12, Stage::running, 1010, "n[1-2]")}, 1030);
  ASSERT_EQ(state(12), JobState::running);
  EXPECT_EQ(job(12)->start, at_seconds(1010));
  EXPECT_EQ(controller_->view().nodes().free_on(NodeId{0}), 3);
  EXPECT_EQ(controller_->view().nodes().free_on(NodeId{1}), 3);
  JobRow over = ended(12, Outcome::failed, 1010, 1050, "n[1-2]");
  over.status = 3 << 8;
  list({over}, 1060);
  const Job* left = history_.find(12);
  ASSERT_NE(left, nullptr);
  EXPECT_EQ(left->state, JobState::failed);
  EXPECT_EQ(left->start, at_seconds(1010));
  EXPECT_EQ(left->end, at_seconds(1050));
}

TEST_F(SlurmMirror, WhatHappenedBetweenTwoListsIsAllTold) {
  list({}, 1000);
  list({ended(12, Outcome::completed, 1005, 1010, "n1"), ended(13, Outcome::cancelled, 1007, 1007, "")}, 1030);
  ASSERT_EQ(history_.left.size(), 2U);
  EXPECT_EQ(history_.find(12)->run_time(), seconds(5));
  EXPECT_EQ(history_.find(13)->state, JobState::cancelled);
  EXPECT_EQ(history_.find(13)->start, kNever);
}

TEST_F(SlurmMirror, AListThatComesAgainChangesNothing) {
  const std::vector<JobRow> rows{row(12, Stage::waiting), row(13, Stage::running, 990, "n1"),
                                 ended(14, Outcome::completed, 950, 960, "n2")};
  list(rows, 1000);
  const std::uint64_t before = controller_->view().sequence();
  list(rows, 1000);
  EXPECT_EQ(controller_->view().sequence(), before);
  begin();
  list(rows, 1000);
  EXPECT_EQ(controller_->view().sequence(), before) << "nor for another life of the service";
  EXPECT_EQ(mirror_->refused(), 0);
}

TEST_F(SlurmMirror, AJobThatBeginsAgainWasQueuedAgain) {
  list({row(12, Stage::running, 1000, "n1")}, 1010);
  list({row(12, Stage::running, 1020, "n2")}, 1030);
  EXPECT_EQ(job(12)->start, at_seconds(1020));
  EXPECT_EQ(job(12)->kills, 1);
  list({row(12, Stage::waiting)}, 1040);
  EXPECT_EQ(state(12), JobState::barred);
  EXPECT_EQ(controller_->view().nodes().free_on(NodeId{1}), 4);
}

TEST_F(SlurmMirror, AJobThatLeavesToWaitAgainWasQueuedAgainOnce) {
  list({row(12, Stage::running, 1000, "n1")}, 1010);
  JobRow leaves = row(12, Stage::running, 1130, "n1");
  leaves.completing = true;
  list({leaves}, 1020);
  EXPECT_EQ(job(12)->start, at_seconds(1000));
  list({row(12, Stage::waiting)}, 1030);
  list({row(12, Stage::running, 1040, "n2")}, 1050);
  EXPECT_EQ(job(12)->kills, 1);
}

TEST_F(SlurmMirror, AnotherLimitPartOrHoldIsTakenIn) {
  list({row(12, Stage::waiting)}, 1000);
  JobRow changed = row(12, Stage::waiting);
  changed.limit = seconds(60);
  changed.processors = 4;
  changed.reason = "JobHeldUser";
  list({changed}, 1010);
  EXPECT_EQ(job(12)->spec.limit, seconds(60));
  EXPECT_EQ(job(12)->spec.processors, 4U);
  EXPECT_NE(job(12)->bars & kHeldByUser, 0);
  list({row(12, Stage::waiting)}, 1020);
  EXPECT_EQ(job(12)->bars, kNotOurs);
  JobRow runs = row(12, Stage::running, 1025, "n1");
  list({runs}, 1030);
  runs.limit = seconds(1200);
  runs.stage = Stage::suspended;
  list({runs}, 1040);
  EXPECT_EQ(job(12)->spec.limit, seconds(1200));
  EXPECT_TRUE(job(12)->suspended());
  runs.stage = Stage::running;
  list({runs}, 1050);
  EXPECT_FALSE(job(12)->suspended());
}

TEST_F(SlurmMirror, AJobThatIsListedNoMoreIsAskedFor) {
  JobRow task = row(15, Stage::waiting);
  task.array = 15;
  task.index = 2;
  list({row(12, Stage::running, 1000, "n1"), row(13, Stage::running, 1000, "n1"), task}, 1010);
  const auto missing = list({}, 1030);
  EXPECT_EQ(missing, (std::vector<std::string>{"12", "13", "15_2"}));
  mirror_->take_ended({ended(12, Outcome::timed_out, 1000, 1020, "n1")});
  mirror_->give_up(missing);
  decide();
  EXPECT_EQ(history_.find(12)->state, JobState::timed_out);
  EXPECT_EQ(history_.find(12)->end, at_seconds(1020));
  EXPECT_EQ(history_.find(13)->state, JobState::unknown);
  EXPECT_EQ(history_.left.size(), 3U);
}

TEST_F(SlurmMirror, WhatAJobAsksOfNodesAndWaitsForIsTold) {
  JobRow wishes = row(12, Stage::waiting);
  wishes.features = "cpu&intel";
  wishes.required_nodes = "n2";
  wishes.licences = "matlab:2";
  wishes.dependency = "afterok:5(unfulfilled)";
  wishes.account = "physics";
  list({wishes}, 1000);
  ASSERT_NE(job(12), nullptr);
  const JobSpec& spec = job(12)->spec;
  ASSERT_NE(spec.node_wish, nullptr);
  EXPECT_EQ(spec.node_wish->features, std::vector<std::uint64_t>{3});
  EXPECT_EQ(spec.node_wish->among, std::vector<NodeId>{NodeId{1}});
  EXPECT_EQ(spec.licences, 2U);
  EXPECT_EQ(after_, "afterok:5");
  EXPECT_EQ(names_.at(12).account, "physics");
  const std::uint64_t before = controller_->view().sequence();
  list({wishes}, 1010);
  EXPECT_EQ(controller_->view().sequence(), before + 1) << "the survey alone";
  JobRow runs = wishes;
  runs.stage = Stage::running;
  runs.start = 1'015'000;
  runs.nodes = "n2";
  list({runs}, 1020);
  EXPECT_EQ(state(12), JobState::running);
  EXPECT_EQ(mirror_->refused(), 0);
}

TEST_F(SlurmMirror, AJobThatWantsItsNodesAloneAsksForAllOfThem) {
  JobRow alone = row(12, Stage::waiting);
  alone.exclusive = true;
  alone.node_count = 2;
  list({alone}, 1000);
  EXPECT_EQ(job(12)->spec.processors, 8U);
}

TEST_F(SlurmMirror, ANewArrayIsAskedForItsThrottleOnce) {
  JobRow task = row(15, Stage::waiting);
  task.array = 15;
  task.index = 2;
  list({task, row(16, Stage::waiting)}, 1000);
  EXPECT_EQ(mirror_->new_arrays(), std::vector<std::int64_t>{15});
  list({task}, 1010);
  EXPECT_TRUE(mirror_->new_arrays().empty());
}

TEST_F(SlurmMirror, ReservationsOfWholeNodesAndReasonsOfNodesAreTold) {
  mirror_->take(std::vector<ReservationRow>{{"up", "root", {"n2", "n1"}, 2'000'000, 3'000'000, 8},
                                            {"part", "ann", {"n1"}, 2'000'000, 3'000'000, 2},
                                            {"elsewhere", "ann", {"x9"}, 2'000'000, 3'000'000, 0}});
  ASSERT_EQ(reserved_.size(), 1U);
  EXPECT_EQ(reserved_[0].name, "up");
  EXPECT_EQ(reserved_[0].nodes, (std::vector<NodeId>{NodeId{0}, NodeId{1}}));
  EXPECT_EQ(reserved_[0].from, at_seconds(2000));
  NodeRow one{.name = "n1", .processors = 4, .memory = std::int64_t{4000} << 20U, .partitions = {"main"}};
  one.health = Health::down;
  one.reason = "bad disk";
  mirror_->take(std::vector<NodeRow>{one});
  decide();
  EXPECT_EQ(node_reasons_[NodeId{0}], "bad disk");
}

TEST_F(SlurmMirror, NodesComeGoSleepAndDrain) {
  NodeRow one{.name = "n1", .processors = 4, .memory = std::int64_t{4000} << 20U, .partitions = {"main"}};
  NodeRow two = one, three = one;
  two.name = "n2";
  three.name = "n3";
  three.processors = 16;
  one.health = Health::draining;
  two.power = PowerState::off;
  mirror_->take(std::vector<NodeRow>{one, two, three});
  decide();
  const View& view = controller_->view();
  ASSERT_EQ(view.nodes().size(), 3U);
  EXPECT_EQ(view.power().health(NodeId{0}), Health::draining);
  EXPECT_EQ(view.power().state(NodeId{1}), PowerState::off);
  EXPECT_EQ(view.options().machine->nodes[2].processors, 16U);
  mirror_->take(std::vector<NodeRow>{one, three});
  decide();
  EXPECT_TRUE(view.options().machine->nodes[1].has_gone());
  EXPECT_EQ(mirror_->refused(), 0);
}

}  // namespace
}  // namespace rota::slurm

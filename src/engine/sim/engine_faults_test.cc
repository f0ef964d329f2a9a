// What the simulated cluster makes of commands that come late, twice and out of order, and of nodes that die.
#include <gtest/gtest.h>

#include <vector>

#include "engine/sim/engine.h"

namespace rota::sim {
namespace {

class NoJobs final : public Source {
 public:
  bool next(Arrival& /*arrival*/) override { return false; }
};

class Hearer final : public Intake {
 public:
  JobId submit(const JobSpec& /*spec*/, Bars /*bars*/) override { return JobId{0}; }
  Result<void> record(const Observed& fact, Instant /*happened*/) override {
    heard.push_back(fact);
    return {};
  }
  Result<void> decide() override { return {}; }
  template <class Kind>
  std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const Observed& fact : heard) {
      if (const auto* one = std::get_if<Kind>(&fact)) found.push_back(*one);
    }
    return found;
  }
  std::vector<Observed> heard;
};

Machine two_nodes() {
  Machine machine = Machine::counted(4);
  machine.racks = {""};
  for (int i = 0; i < 2; ++i) {
    Node& node = machine.nodes.emplace_back();
    node.name = "n" + std::to_string(i);
    node.processors = 2;
    node.power.boot = seconds(100);
    node.power.shutdown = seconds(10);
  }
  return machine;
}

class EngineFaultsTest : public ::testing::Test {
 protected:
  explicit EngineFaultsTest(const EngineFaults& faults = {}, bool confirms = true)
      : machine_(two_nodes()),
        engine_({.metered = &machine_, .faults = faults, .confirms_starts = confirms, .moves = !confirms}, no_jobs_,
                loop_) {
    engine_.open(hearer_);
    engine_.will_run(kJob, seconds(60));
  }

  static Command about(Command::Kind kind, std::uint64_t key, std::uint32_t dispatch = 0) {
    Command command;
    command.kind = kind;
    command.epoch = 2;
    command.key = key;
    command.job = kJob;
    command.dispatch = dispatch;
    if (kind == Command::Kind::start) command.where = {{{NodeId{0}, 2}}, {}};
    return command;
  }
  static Command power(Command::Kind kind, std::uint64_t key) {
    Command command;
    command.kind = kind;
    command.epoch = 2;
    command.key = key;
    command.node = NodeId{1};
    return command;
  }
  void run_out() {
    while (loop_.step()) {
    }
  }

  static constexpr JobId kJob{0};
  Machine machine_;
  VirtualLoop loop_;
  NoJobs no_jobs_;
  Hearer hearer_;
  SimEngine engine_;
};

TEST_F(EngineFaultsTest, a_start_that_comes_twice_runs_once_and_is_answered_twice) {
  engine_.dispatch(about(Command::Kind::start, 7));
  engine_.dispatch(about(Command::Kind::start, 7));
  run_out();
  EXPECT_EQ(hearer_.all<Launched>().size(), 2U);
  ASSERT_EQ(hearer_.all<Finished>().size(), 1U);
  EXPECT_EQ(hearer_.all<Finished>()[0].dispatch, 0U);
  engine_.dispatch(about(Command::Kind::start, 7));
  run_out();
  EXPECT_EQ(hearer_.all<Finished>().size(), 2U) << "its end is told again, and it does not run again";
  EXPECT_EQ(engine_.ledger()->commands().counts().doubled, 2);
}

TEST_F(EngineFaultsTest, a_stop_that_overtakes_its_start_leaves_nothing_to_start) {
  engine_.dispatch(about(Command::Kind::kill, 8));
  engine_.dispatch(about(Command::Kind::start, 7));
  run_out();
  EXPECT_EQ(hearer_.all<Requeued>().size(), 1U);
  EXPECT_TRUE(hearer_.all<Launched>().empty());
  EXPECT_FALSE(engine_.ledger()->runs(kJob));
  engine_.dispatch(about(Command::Kind::start, 9, 1));
  EXPECT_TRUE(engine_.ledger()->runs(kJob, 1)) << "the next dispatch is another matter";
}

TEST_F(EngineFaultsTest, commands_of_an_older_epoch_are_refused) {
  engine_.dispatch(power(Command::Kind::power_off, 1));
  Command late = about(Command::Kind::start, 7);
  late.epoch = 1;
  engine_.dispatch(late);
  run_out();
  EXPECT_TRUE(hearer_.all<Launched>().empty());
  EXPECT_EQ(engine_.ledger()->commands().counts().of_old_epochs, 1);
}

TEST_F(EngineFaultsTest, a_node_that_dies_takes_its_jobs_along_and_tells_them_first) {
  engine_.dispatch(about(Command::Kind::start, 7));
  engine_.node_dies(NodeId{0});
  run_out();
  ASSERT_EQ(hearer_.heard.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<Finished>(hearer_.heard[1]));
  EXPECT_EQ(std::get<Finished>(hearer_.heard[1]).outcome, Outcome::node_failed);
  EXPECT_TRUE(std::holds_alternative<HealthChanged>(hearer_.heard[2]));
  engine_.dispatch(about(Command::Kind::start, 9, 1));
  run_out();
  ASSERT_EQ(hearer_.all<LaunchFailed>().size(), 1U) << "nothing starts there";
  EXPECT_TRUE(hearer_.all<LaunchFailed>()[0].again);
}

TEST_F(EngineFaultsTest, observing_tells_what_runs_and_how_it_was_over) {
  engine_.dispatch(about(Command::Kind::start, 7, 4));
  Observation seen = engine_.observe();
  ASSERT_EQ(seen.jobs.size(), 1U);
  EXPECT_TRUE(seen.jobs[0].runs);
  EXPECT_EQ(seen.jobs[0].key, 7U);
  EXPECT_EQ(seen.jobs[0].dispatch, 4U);
  run_out();
  seen = engine_.observe();
  ASSERT_EQ(seen.jobs.size(), 1U);
  EXPECT_FALSE(seen.jobs[0].runs);
  EXPECT_TRUE(std::holds_alternative<Finished>(seen.jobs[0].end));
}

TEST(EngineFaultsWithTasks, a_node_that_dies_computes_no_more_for_jobs_on_others_until_it_recovers) {
  Machine machine = two_nodes();
  machine.nodes[1].accelerators = 1;
  TaskTable table;
  table.of_others = TaskSpec{.count = 40, .accelerator = seconds(1), .cpu = seconds(10)};
  VirtualLoop loop;
  NoJobs no_jobs;
  Hearer hearer;
  SimEngine engine(
      {.metered = &machine, .tasks = &table, .machine = &machine, .bind = Bind::node, .faults = EngineFaults{}},
      no_jobs, loop);
  engine.open(hearer);
  engine.submit({{}, seconds(60)});
  loop.step();
  Command start;
  start.epoch = 2;
  start.key = 7;
  start.job = JobId{0};
  start.where = {{{NodeId{0}, 2}}, {}};
  engine.dispatch(start);
  while (loop.now() < at_seconds(9) && loop.step()) {
  }
  engine.node_dies(NodeId{1});
  while (loop.now() < at_seconds(19) && loop.step()) {
  }
  engine.node_recovers(NodeId{1});
  while (loop.step()) {
  }
  const TaskUse use = engine.tasks()->use(loop.now());
  EXPECT_EQ(use.on_cpu, 2) << "begun at 9 s and at 19 s";
  EXPECT_EQ(use.on_cpu + use.remote, 40);
  EXPECT_GT(use.redone, 0);
  EXPECT_EQ(hearer.all<Finished>().size(), 1U);
}

class UnconfirmedTest : public EngineFaultsTest {
 protected:
  explicit UnconfirmedTest(const EngineFaults& faults = {}) : EngineFaultsTest(faults, false) {}
};

TEST_F(UnconfirmedTest, no_start_is_reported) {
  EXPECT_FALSE(engine_.capabilities().confirms_starts);
  engine_.dispatch(about(Command::Kind::start, 7));
  engine_.dispatch(about(Command::Kind::start, 7));
  run_out();
  EXPECT_TRUE(hearer_.all<Launched>().empty());
  EXPECT_EQ(hearer_.all<Finished>().size(), 1U);
}

TEST_F(UnconfirmedTest, a_job_that_moves_to_a_node_that_is_gone_is_lost_with_it) {
  engine_.dispatch(about(Command::Kind::start, 7));
  engine_.node_dies(NodeId{1});
  Command move = about(Command::Kind::migrate, 8);
  move.where.shares = {{NodeId{1}, 2}};
  engine_.dispatch(move);
  run_out();
  ASSERT_EQ(hearer_.all<Finished>().size(), 1U);
  EXPECT_EQ(hearer_.all<Finished>()[0].outcome, Outcome::node_failed);
}

class UnconfirmedFailureTest : public UnconfirmedTest {
 protected:
  UnconfirmedFailureTest() : UnconfirmedTest({.launch_fails = 1}) {}
};

TEST_F(UnconfirmedFailureTest, a_start_that_fails_is_a_job_that_was_lost) {
  engine_.dispatch(about(Command::Kind::start, 7));
  run_out();
  EXPECT_TRUE(hearer_.all<LaunchFailed>().empty());
  ASSERT_EQ(hearer_.all<Finished>().size(), 1U);
  EXPECT_EQ(hearer_.all<Finished>()[0].outcome, Outcome::node_failed);
}

class HangingBootTest : public EngineFaultsTest {
 protected:
  HangingBootTest() : EngineFaultsTest({.boot_hangs = 1}) {}
};

TEST_F(HangingBootTest, a_boot_that_hangs_is_over_when_the_node_is_switched_again) {
  engine_.dispatch(power(Command::Kind::power_off, 1));
  run_out();
  engine_.dispatch(power(Command::Kind::power_on, 2));
  run_out();
  EXPECT_EQ(engine_.observe().nodes[1].power, PowerState::booting);
  EXPECT_EQ(hearer_.all<PowerChanged>().size(), 1U) << "only that it is off";
  engine_.heal();
  engine_.dispatch(power(Command::Kind::power_on, 3));
  run_out();
  EXPECT_EQ(engine_.observe().nodes[1].power, PowerState::on);
  EXPECT_EQ(hearer_.all<PowerChanged>().back().key, 3U);
}

}  // namespace
}  // namespace rota::sim

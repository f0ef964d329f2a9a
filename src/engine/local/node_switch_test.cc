#include "engine/local/node_switch.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "engine/local/desk_test.h"

namespace rota::local {
namespace {

struct Answer {
  NodeId node;
  PowerState power = PowerState::on;
  std::uint64_t key = 0;
  bool operator==(const Answer&) const = default;
};

// A node is on while its file is there.
class NodeSwitches : public testing::Test {
 protected:
  NodeSwitches() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rota-switch-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    how_.suspend = fmt::format("echo off >> {}; rm {}", path("asked"), path("$ROTA_NODE"));
    how_.resume = fmt::format("echo on >> {}; : > {}", path("asked"), path("$ROTA_NODE"));
    how_.probe = fmt::format("[ -e {} ]", path("$ROTA_NODE"));
    how_.timeout = seconds(60);
  }
  ~NodeSwitches() override {
    switch_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return fmt::format("{}/{}", folder_.string(), name); }
  void touch(const std::string& name) const { std::ofstream(path(name)).put('x'); }
  bool there(const std::string& name) const { return std::filesystem::exists(path(name)); }
  std::string asked() const {
    std::ifstream file(path("asked"));
    return {std::istreambuf_iterator<char>(file), {}};
  }

  NodeSwitch& open(std::size_t with_commands = 2) {
    machine_ = {};
    for (const char* name : {"n1", "n2"}) {
      Node node;
      node.name = name;
      node.power.boot = node.power.shutdown = Duration{1};
      if (machine_.nodes.size() < with_commands) node.commands = std::make_shared<const SwitchCommands>(how_);
      machine_.nodes.push_back(std::move(node));
    }
    switch_ = std::make_unique<NodeSwitch>(
        io_, machine_, loop_, folder_.string(),
        NodeSwitch::Hearers{
            .changed =
                [this](const PowerChanged& change) { heard_.push_back({change.node, change.state, change.key}); },
            .note = [this](NodeId, const std::string& sentence,
                           const std::string& output) { told_.push_back(sentence + output); }});
    return *switch_;
  }
  void order(bool on, std::uint64_t key, std::uint32_t node = 0, bool inherited = false) {
    Command command{.kind = on ? Command::Kind::power_on : Command::Kind::power_off, .epoch = 1, .key = key, .job = {}};
    command.node = NodeId{node};
    switch_->carry_out(command, inherited);
  }
  // The answer that comes next.
  Answer answer() {
    const std::size_t before = answered_++;
    const bool answered = comes_true(io_, [&] { return heard_.size() > before; });
    EXPECT_TRUE(answered) << "nobody has answered";
    return answered ? heard_[before] : Answer{};
  }
  static Answer change(std::uint32_t node, PowerState state, std::uint64_t key) { return {NodeId{node}, state, key}; }

  std::filesystem::path folder_;
  boost::asio::io_context io_;
  RealLoop loop_{io_};
  SwitchCommands how_;
  Machine machine_;
  std::vector<Answer> heard_;
  std::vector<std::string> told_;
  std::size_t answered_ = 0;
  std::unique_ptr<NodeSwitch> switch_;
};

TEST_F(NodeSwitches, an_order_is_carried_out_and_answered_under_its_key) {
  touch("n1");
  open();
  order(false, 5);
  EXPECT_EQ(answer(), change(0, PowerState::off, 5));
  EXPECT_FALSE(there("n1"));
  order(true, 6);
  EXPECT_EQ(answer(), change(0, PowerState::on, 6));
  EXPECT_TRUE(there("n1"));
  EXPECT_EQ(asked(), "off\non\n");
  EXPECT_EQ(told_, (std::vector<std::string>{"", ""})) << "nothing is wrong with it";
}

TEST_F(NodeSwitches, one_that_comes_again_is_answered_again_and_one_that_is_too_old_is_not) {
  touch("n1");
  open();
  order(false, 5);
  EXPECT_EQ(answer(), change(0, PowerState::off, 5));
  order(false, 5);
  EXPECT_EQ(answer(), change(0, PowerState::off, 5));
  order(true, 4);
  order(true, 6, 1);
  EXPECT_EQ(answer(), change(1, PowerState::on, 6));
  EXPECT_EQ(asked(), "off\non\n");
  EXPECT_FALSE(there("n1"));
}

TEST_F(NodeSwitches, a_command_that_fails_is_told_of_and_leaves_the_node_as_it_was) {
  touch("n1");
  how_.suspend = "echo no answer from the plug; exit 3";
  how_.resume = "exit 4";
  open();
  order(false, 5);
  EXPECT_EQ(answer(), change(0, PowerState::on, 5));
  order(true, 6, 1);
  EXPECT_EQ(answer(), change(1, PowerState::off, 6));
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_EQ(told_[0],
            "It could not be put to sleep: its `suspend_command` ended with 3: no answer from the plug.no answer from "
            "the plug\n");
  EXPECT_EQ(told_[1], "It could not be woken: its `resume_command` ended with 4.");
}

TEST_F(NodeSwitches, a_command_that_fails_because_it_is_so_already_has_done_its_work) {
  how_.suspend = "exit 3";
  open();
  order(false, 5);
  EXPECT_EQ(answer(), change(0, PowerState::off, 5));
  EXPECT_EQ(told_, std::vector<std::string>{""});
}

TEST_F(NodeSwitches, a_node_that_is_not_ready_in_time_has_failed) {
  how_.resume = "true";
  how_.timeout = Duration{300};
  open();
  order(true, 5);
  EXPECT_EQ(answer(), change(0, PowerState::off, 5));
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_TRUE(told_[0].starts_with("It could not be woken: its `probe_command` ended with 1, ")) << told_[0];
  EXPECT_TRUE(told_[0].ends_with(" after it was told to wake.")) << told_[0];
}

// A boot that failed may have come about after all, and so may one that an earlier life of the service began: it is
// asked before it is booted again.
TEST_F(NodeSwitches, what_may_be_on_already_is_asked_before_it_is_woken) {
  touch("n1");
  open();
  order(true, 5, 0, true);
  EXPECT_EQ(answer(), change(0, PowerState::on, 5));
  EXPECT_EQ(asked(), "");
}

TEST_F(NodeSwitches, without_a_probe_its_times_are_taken_at_their_word) {
  how_.probe = "";
  open();
  order(true, 5);
  EXPECT_EQ(answer(), change(0, PowerState::on, 5));
  EXPECT_EQ(asked(), "on\n");
}

TEST_F(NodeSwitches, a_later_order_ends_the_command_of_the_one_before) {
  touch("n1");
  how_.suspend = fmt::format("echo $$ > {}; exec sleep 1000", path("pid"));
  open();
  order(false, 5);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!there("pid") && std::chrono::steady_clock::now() < end) io_.run_one_for(std::chrono::milliseconds(20));
  order(true, 6);
  EXPECT_EQ(answer(), change(0, PowerState::on, 6));
  EXPECT_EQ(heard_.size(), 1U) << "the one before is not answered any more";
}

TEST_F(NodeSwitches, all_are_asked_when_it_opens_and_answer_under_no_key) {
  touch("n2");
  std::vector<Observation::NodeSeen> seen;
  open().open();
  switch_->observe(seen);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].power, PowerState::booting) << "nothing is known yet";
  std::vector<Answer> both{answer(), answer()};
  std::ranges::sort(both, {}, &Answer::node);
  EXPECT_EQ(both, (std::vector<Answer>{change(0, PowerState::off, 0), change(1, PowerState::on, 0)}));
}

TEST_F(NodeSwitches, nodes_without_commands_are_named_and_always_on) {
  EXPECT_EQ(open().why_not(), "");
  const std::string why = open(0).why_not();
  EXPECT_TRUE(why.starts_with("Nodes n[1-2] have no `suspend_command`")) << why;
  EXPECT_TRUE(open(1).why_not().starts_with("Node n2 has no ")) << switch_->why_not();
  order(true, 5, 1);
  EXPECT_EQ(answer(), change(1, PowerState::on, 5));
  order(false, 6, 1);
  EXPECT_EQ(answer(), change(1, PowerState::on, 6));
  std::vector<Observation::NodeSeen> seen;
  switch_->observe(seen);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[1].power, PowerState::on);
  EXPECT_GE(seen[1].key, 7U) << "no order is waited for, not even one that it had commands for";
  const Machine counted = Machine::counted(4);
  const NodeSwitch none(io_, counted, loop_, folder_.string(), {});
  EXPECT_TRUE(none.why_not().starts_with("Processors are only counted here")) << none.why_not();
}

TEST_F(NodeSwitches, nodes_may_come_and_one_that_is_without_commands_counts_as_on) {
  touch("n1");
  touch("n2");
  how_.suspend = "exec sleep 1000";
  open(1).open();
  EXPECT_EQ(answer(), change(0, PowerState::on, 0));
  order(false, 5);
  Machine other = machine_;
  other.nodes[1].commands = other.nodes[0].commands;
  other.nodes[0].commands = nullptr;
  switch_->describe(other);
  EXPECT_EQ(answer(), change(0, PowerState::on, 5)) << "its order comes to nothing";
  EXPECT_EQ(answer(), change(1, PowerState::on, 0)) << "this one is asked how it is";
  order(false, 6, 0);
  EXPECT_EQ(answer(), change(0, PowerState::on, 6));
  other.nodes.push_back(other.nodes[1]);
  other.nodes[2].name = "n3";
  switch_->describe(other);
  EXPECT_EQ(answer(), change(2, PowerState::off, 0)) << "it is new, and off";
  order(true, 7, 2);
  EXPECT_EQ(answer(), change(2, PowerState::on, 7));
  EXPECT_TRUE(there("n3"));
  switch_.reset();  // before the machine that it looks at
}

}  // namespace
}  // namespace rota::local

// Rehearsals whose policy switches nodes against the rules end with the referee's sentence.
#include <gtest/gtest.h>

#include "engine/sim/rehearsal.h"

namespace rota::sim {
namespace {

// Job 1 on one of two nodes from 0 to 10, then job 2, which needs both, promised at 10 under EASY; job 3 much later.
class ThreeJobs final : public Source {
 public:
  bool next(Arrival& arrival) override {
    static constexpr std::int64_t kSubmit[] = {0, 1, 200};
    static constexpr std::uint32_t kProcessors[] = {1, 2, 1};
    if (next_ == 3) return false;
    arrival = {};
    arrival.spec.number = static_cast<std::int64_t>(next_) + 1;
    arrival.spec.submit = at_seconds(kSubmit[next_]);
    arrival.spec.processors = kProcessors[next_];
    arrival.spec.limit = arrival.run_time = seconds(10);
    ++next_;
    return true;
  }

 private:
  std::size_t next_ = 0;
};

class NullSink final : public JobSink {
 public:
  void job_gone(JobId, const Job&) override {}
};

template <class Mischief>
class Broken final : public Policy {
 public:
  explicit Broken(Mischief mischief) : mischief_(std::move(mischief)) {}
  void decide(const View& view, Plan& plan) const override { mischief_(view, plan); }

 private:
  Mischief mischief_;
};

Machine two_nodes() {
  Machine machine;
  for (const char* name : {"one", "two"}) {
    Node node;
    node.name = name;
    node.power.boot = seconds(30);
    machine.nodes.push_back(node);
  }
  machine.processors = 2;
  return machine;
}

template <class Mischief>
std::string sentence_about(Mischief mischief, const char* policy = "easy") {
  const Machine machine = two_nodes();
  auto chain = Chain::parse(policy);
  chain->append(std::make_unique<Broken<Mischief>>(std::move(mischief)));
  ThreeJobs jobs;
  NullSink null_sink;
  RehearsalOptions options;
  options.processors = 2;
  options.machine = options.engine.metered = &machine;
  const auto done = Rehearsal(options, *chain, jobs, null_sink).run();
  return done ? "nothing" : done.error().message;
}

constexpr NodeId kOne{0};
constexpr NodeId kTwo{1};

TEST(RefereeOfPower, refuses_sleep_for_a_node_on_which_a_job_runs) {
  const auto sentence = sentence_about([](const View& view, Plan& plan) {
    if (view.now() == at_seconds(1)) plan.power_off(view.nodes().idle(kOne) ? kTwo : kOne, {});
  });
  EXPECT_NE(sentence.find("is sent to sleep while a job runs there"), std::string::npos) << sentence;
}

TEST(RefereeOfPower, refuses_sleep_for_a_node_that_a_promise_needs) {
  const auto sentence = sentence_about([](const View& view, Plan& plan) {
    if (view.now() == at_seconds(1)) plan.power_off(view.nodes().idle(kOne) ? kOne : kTwo, {});
  });
  EXPECT_NE(sentence.find("is promised a start for which a node is needed"), std::string::npos) << sentence;
}

TEST(RefereeOfPower, refuses_to_wake_a_node_that_does_not_sleep) {
  const auto sentence = sentence_about([](const View&, Plan& plan) { plan.power_on(kTwo, {}); });
  EXPECT_NE(sentence.find("node two is woken and does not sleep"), std::string::npos) << sentence;
}

TEST(RefereeOfPower, refuses_to_switch_a_node_twice) {
  const auto sentence = sentence_about([](const View& view, Plan& plan) {
    if (view.now() != at_seconds(20)) return;
    plan.power_off(kOne, {});
    plan.power_off(kOne, {});
  });
  EXPECT_NE(sentence.find("switched twice"), std::string::npos) << sentence;
}

TEST(RehearsalOfPower, what_nodes_did_over_time_adds_up_to_what_was_metered) {
  for (const char* policy : {"easy", "easy+power=idle-timeout+power-idle=5s", "easy+power=demand+power-idle=5s"}) {
    Machine machine = two_nodes();
    for (Node& node : machine.nodes) {
      node.power = {.off = 5'001, .idle = 100'003, .busy = 20'007, .boot = seconds(30), .shutdown = seconds(7)};
    }
    const auto chain = Chain::parse(policy);
    ThreeJobs jobs;
    NullSink null_sink;
    RehearsalOptions options;
    options.processors = 2;
    options.machine = options.engine.metered = &machine;
    options.engine.keeps_states = true;
    Rehearsal rehearsal(options, *chain, jobs, null_sink);
    ASSERT_TRUE(rehearsal.run());
    const Consumption used = rehearsal.consumption();
    const NodeStates states = rehearsal.node_states();
    NodeStates::Bin all;
    for (const NodeStates::Bin& bin : states.bins) all += bin;
    const auto time = [&](NodeUse use) { return all.time[static_cast<std::size_t>(use)]; };
    EXPECT_EQ(states.length, used.length) << policy;
    EXPECT_EQ(all.energy / 1000, used.energy) << policy;
    EXPECT_EQ(time(NodeUse::busy), used.work) << "nodes of one processor each";
    EXPECT_EQ(time(NodeUse::off), used.off) << policy;
    EXPECT_EQ(time(NodeUse::idle) + time(NodeUse::booting) + time(NodeUse::shutting_down), used.idle) << policy;
    EXPECT_EQ(time(NodeUse::off) > 0, used.cycles > 0) << policy;
    EXPECT_EQ(time(NodeUse::shutting_down), used.cycles * 7'000) << policy;
  }
}

TEST(RehearsalOfPower, a_sound_rule_finds_no_breach_and_ends_with_the_last_job) {
  for (const char* policy : {"easy+power=demand", "easy+power=idle-timeout+power-idle=5s", "fcfs+power=demand",
                             "easy+power=load-factor+power-interval=15s", "conservative+power=demand+power-idle=5s"}) {
    EXPECT_EQ(sentence_about([](const View&, Plan&) {}, policy), "nothing") << policy;
  }
}

}  // namespace
}  // namespace rota::sim

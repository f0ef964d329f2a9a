// A whole rehearsal whose policy is broken on purpose ends with the referee's sentence.
#include "engine/sim/rehearsal.h"

#include <gtest/gtest.h>

#include <map>

namespace rota::sim {
namespace {

struct Listing {
  std::int64_t submit;
  std::uint32_t processors;
  std::int64_t limit;
  std::int64_t run;
};

class Listed final : public Source {
 public:
  explicit Listed(std::vector<Listing> jobs) : jobs_(std::move(jobs)) {}
  bool next(Arrival& arrival) override {
    if (next_ == jobs_.size()) return false;
    const Listing& job = jobs_[next_++];
    arrival = {};
    arrival.spec.number = static_cast<std::int64_t>(next_);
    arrival.spec.submit = at_seconds(job.submit);
    arrival.spec.processors = job.processors;
    arrival.spec.limit = seconds(job.limit);
    arrival.run_time = seconds(job.run);
    return true;
  }

 private:
  std::vector<Listing> jobs_;
  std::size_t next_ = 0;
};

class Gone final : public JobSink {
 public:
  void job_gone(JobId, const Job& job) override { jobs[job.spec.number] = job; }
  std::map<std::int64_t, Job> jobs;
};

// A link of a chain that does one thing of its own.
template <class Mischief>
class Broken final : public Policy {
 public:
  explicit Broken(Mischief mischief) : mischief_(std::move(mischief)) {}
  void decide(const View& view, Plan& plan) const override { mischief_(view, plan); }

 private:
  Mischief mischief_;
};

const std::vector<Listing> kJobs{{0, 3, 10, 10}, {1, 4, 5, 5}, {2, 1, 100, 100}};

template <class Mischief>
std::string sentence_about(Mischief mischief) {
  auto chain = Chain::parse("easy");
  chain->append(std::make_unique<Broken<Mischief>>(std::move(mischief)));
  Listed source(kJobs);
  Gone gone;
  Rehearsal rehearsal({.processors = 4, .machine = nullptr, .engine = {}, .progress = {}}, *chain, source, gone);
  const auto done = rehearsal.run();
  return done ? "none" : done.error().message;
}

constexpr Reason kBeside{Rule::beside_promise, {}, kNever, 0, 0};

TEST(RehearsalOfABrokenPolicy, EndsWhenAJobIsStartedThatDoesNotFit) {
  EXPECT_EQ(sentence_about([](const View& view, Plan& plan) {
              if (view.now() == at_seconds(1)) plan.start(JobId{1}, kBeside, true);
            }),
            "the referee refuses a plan of policy easy: job 2 is started although it does not fit: the starts at 1 s "
            "need 3 processors more than are free.");
}

TEST(RehearsalOfABrokenPolicy, EndsWhenAJobIsStartedThatDelaysTheHead) {
  EXPECT_EQ(sentence_about([](const View& view, Plan& plan) {
              if (view.now() == at_seconds(2)) plan.start(JobId{2}, kBeside, true);
            }),
            "the referee refuses a plan of policy easy: job 2 was promised 10 s, and the plan's starts take what it "
            "needs then.");
}

TEST(RehearsalOfABrokenPolicy, EndsWhenAJobIsKilledForNoReason) {
  EXPECT_EQ(sentence_about([](const View& view, Plan& plan) {
              if (view.now() == at_seconds(2)) plan.kill(JobId{0}, {Rule::promise_due, {}, kNever, 0, 0});
            }),
            "the referee refuses a plan of policy easy: job 1 is killed before its time is up.");
}

TEST(RehearsalOfABrokenPolicy, EndsWhenThePromiseIsPutOff) {
  EXPECT_EQ(
      sentence_about([](const View& view, Plan& plan) {
        if (view.now() == at_seconds(2)) plan.promise(JobId{1}, at_seconds(11));
      }),
      "the referee refuses a plan of policy easy: job 2 was promised 10 s and is put off to 11 s although nothing "
      "but the plan stands in its way.");
}

TEST(Rehearsal, RunsASoundLinkOfOnesOwn) {
  EXPECT_EQ(sentence_about([](const View&, Plan&) {}), "none");
}

TEST(Rehearsal, HandsEveryJobOverOnceAndForgetsIt) {
  const auto chain = Chain::parse("easy");
  Listed source(kJobs);
  Gone gone;
  Rehearsal rehearsal({.processors = 4, .machine = nullptr, .engine = {}, .progress = {}}, *chain, source, gone);
  ASSERT_TRUE(rehearsal.run());
  ASSERT_EQ(gone.jobs.size(), 3U);
  EXPECT_EQ(gone.jobs[2].start, at_seconds(10));
  EXPECT_EQ(gone.jobs[3].start, at_seconds(15));
  EXPECT_TRUE(rehearsal.controller().view().running().empty());
  EXPECT_TRUE(rehearsal.controller().view().waiting().empty());
}

// The first that sleeps is woken; only the last has the memory that is asked for.
TEST(Rehearsal, EndsWithASentenceWhereAPolicyLetsAJobWaitForEver) {
  Machine machine;
  for (int i = 0; i < 3; ++i) {
    Node node;
    node.name = std::string(1, static_cast<char>('a' + i));
    node.memory = i == 2 ? 40 : 10;
    machine.nodes.push_back(node);
  }
  machine.processors = 3;
  class Hungry final : public Source {
   public:
    bool next(Arrival& arrival) override {
      if (number_ == 2) return false;
      arrival = {};
      arrival.spec.number = ++number_;
      arrival.spec.submit = at_seconds(100'000 * number_);
      arrival.spec.memory = number_ == 2 ? 30 : 0;
      arrival.run_time = seconds(1);
      return true;
    }

   private:
    std::int64_t number_ = 0;
  };
  const auto run = [&](const std::string& published) {
    const auto chain = Chain::parse("fcfs+power=load-factor+power-longest=1h+power-published=" + published);
    Hungry source;
    Gone gone;
    const EngineOptions engine{.metered = &machine};
    Rehearsal rehearsal({.processors = 3, .machine = &machine, .engine = engine, .progress = {}}, *chain, source, gone);
    const auto done = rehearsal.run();
    return done ? std::string() : done.error().message;
  };
  EXPECT_EQ(run("no"), "");
  EXPECT_EQ(run("yes").substr(0, 66), "job 2 is the first of 1 that wait, nothing is left to happen, and ");
}

TEST(Rehearsal, InAClosedLoopBringsTheNextJobWhenTooFewWait) {
  const auto chain = Chain::parse("fcfs");
  Listed source({{0, 4, 10, 10}, {100, 4, 10, 10}, {200, 4, 10, 10}});
  Gone gone;
  Rehearsal rehearsal({.processors = 4, .machine = nullptr, .engine = {.queue_floor = 0}, .progress = {}}, *chain,
                      source, gone);
  ASSERT_TRUE(rehearsal.run());
  EXPECT_EQ(gone.jobs[2].start, at_seconds(10));
  EXPECT_EQ(gone.jobs[3].start, at_seconds(20));
}

TEST(Rehearsal, GoesOnWhileThereAreReservationsToCome) {
  Machine machine;
  machine.processors = 4;
  for (std::uint32_t i = 0; i < 5'100; ++i) {
    machine.reservations.push_back({ReservationId{i}, at_seconds(4 * i), at_seconds(4 * i + 2), {}, 4});
  }
  const auto chain = Chain::parse("fcfs");
  Listed source({{0, 1, 100, 100}});
  Gone gone;
  Rehearsal rehearsal({.processors = 4, .machine = &machine, .engine = {}, .progress = {}}, *chain, source, gone);
  ASSERT_TRUE(rehearsal.run());
  EXPECT_EQ(gone.jobs[1].start, at_seconds(4 * 5'099 + 2));
}

TEST(VirtualLoop, RingsInOrderOfTimeAndThenOfFirstBeingSet) {
  struct Bell final : Alarm {
    std::vector<int>* rung = nullptr;
    int name = 0;
    void ring() override { rung->push_back(name); }
  };
  std::vector<int> rung;
  Bell one, two;
  one.rung = two.rung = &rung;
  one.name = 1;
  two.name = 2;
  VirtualLoop loop;
  EXPECT_FALSE(loop.step());
  loop.set(one, at_seconds(5));
  loop.set(two, at_seconds(3));
  EXPECT_TRUE(loop.step());
  EXPECT_EQ(loop.now(), at_seconds(3));
  loop.set(two, at_seconds(5));
  while (loop.step()) {
  }
  EXPECT_EQ(rung, (std::vector{2, 1, 2}));
  loop.set(one, at_seconds(9));
  loop.set(one, kNever);
  EXPECT_FALSE(loop.step());
}

}  // namespace
}  // namespace rota::sim

// The laws of an engine (control/ports.h, control/live_engine.h) as tests of whatever implements it, behind a true
// controller: commands are its own, kept on the way, sent again and out of order. An adapter's test file includes this,
// writes a rig and instantiates the suites with what makes one:
//
//   INSTANTIATE_TEST_SUITE_P(Sim, EngineLaws, testing::Values(+[] { return sim_rig(); }));
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "control/controller.h"
#include "control/live_engine.h"

namespace rota {

// An engine that is unused, and its world: eight processors.
class EngineRig {
 public:
  enum class Work : std::uint8_t { brief, endless };  // it ends soon by itself, or not before it is told to

  virtual ~EngineRig() = default;
  virtual Engine& engine() = 0;
  virtual Loop& loop() = 0;
  virtual const Machine& machine() const = 0;
  virtual void open(Intake& intake, std::function<const View&()> state) = 0;
  // A job comes to the controller, as jobs come here, and is decided upon.
  virtual JobId submit(Controller& controller, const JobSpec& spec, Work work) = 0;
  virtual std::int64_t begun() const = 0;             // so many starts of jobs have really happened
  virtual std::int64_t running(JobId job) const = 0;  // so often the job really runs now
  // Lets time pass until it is so; false: it does not come to that.
  virtual bool wait(const std::function<bool()>& is_so) = 0;
};

// Between a controller and an engine. The controller knows it as its engine, the engine as its intake.
class LawLink final : public Engine, public Intake {
 public:
  explicit LawLink(EngineRig& rig) : rig_(rig) {}

  bool keeps = false;           // commands stay here
  bool deaf = false;            // what the engine says is lost
  std::vector<Command> sent;    // by the controller, in this order
  std::vector<Observed> heard;  // from the engine
  Controller* controller = nullptr;

  void deliver(const Command& command) {
    dispatching_ = true;
    rig_.engine().dispatch(Command(command));
    dispatching_ = false;
  }
  // The latest of this kind about the job; of this dispatch, where that is said.
  Command latest(Command::Kind kind, JobId job, std::uint32_t dispatch = kAnyDispatch) const {
    for (auto at = sent.rbegin(); at != sent.rend(); ++at) {
      if (at->kind == kind && at->job == job && (dispatch == kAnyDispatch || at->dispatch == dispatch)) return *at;
    }
    ADD_FAILURE() << "the controller has sent no such command";
    return {};
  }

  Capabilities capabilities() const override { return rig_.engine().capabilities(); }
  void dispatch(const Command& command) override {
    sent.push_back(command);
    if (!keeps) deliver(command);
  }
  Observation observe() const override { return rig_.engine().observe(); }
  JobId submit(const JobSpec& spec, Bars bars) override { return controller->submit(spec, bars); }
  Result<void> record(const Observed& fact, Instant happened) override {
    EXPECT_FALSE(dispatching_) << "nothing comes back from dispatch()";
    if (deaf) return {};
    heard.push_back(fact);
    return controller->record(fact, happened);
  }
  Result<void> decide() override { return controller->decide(); }

 private:
  EngineRig& rig_;
  bool dispatching_ = false;
};

// A rig, and a controller that acts there.
class EngineLawsBase : protected JobSink {
 protected:
  using Kind = Command::Kind;
  using Work = EngineRig::Work;
  static constexpr std::uint32_t kAll = 8;

  explicit EngineLawsBase(std::unique_ptr<EngineRig> made) : rig(std::move(made)), link(*rig) {}
  ~EngineLawsBase() override {
    link.deaf = true;  // an engine may say something while its world is tidied up
    rig.reset();
  }

  void decide_by(const std::string& policy) {
    chain.emplace(*Chain::parse(policy));
    ClusterOptions options;
    options.processors = rig->machine().processors;
    options.machine = &rig->machine();
    options.confirms_starts = rig->engine().capabilities().confirms_starts;
    options.shared = rig->engine().capabilities().shared;
    chain->ask(options);
    controller.emplace(options, *chain, Ports{rig->loop(), link, *this});
    link.controller = &*controller;
    rig->open(link, [this]() -> const View& { return controller->view(); });
    const auto resumed = controller->resume();
    ASSERT_TRUE(resumed) << resumed.error().message;
  }

  JobId submit(Work work, std::uint32_t processors = kAll / 2, std::int32_t priority = 0) {
    JobSpec spec;
    spec.number = ++number_;
    spec.processors = processors;
    spec.limit = work == Work::brief ? seconds(1000) : seconds(100'000);
    spec.restart = Restart::from_start;
    spec.priority = priority;
    return rig->submit(*controller, spec, work);
  }
  const Job* job(JobId id) const { return controller->view().find_job(id); }
  bool over(JobId id) const { return job(id) == nullptr || job(id)->gone(); }
  bool steady(JobId id, std::uint32_t dispatch = kAnyDispatch) const {
    const Job* row = job(id);
    return row && row->steady() && (dispatch == kAnyDispatch || row->dispatch == dispatch);
  }
  JobId submit_and_launch() {
    const JobId id = submit(Work::endless);
    EXPECT_TRUE(rig->wait([&] { return steady(id) && rig->running(id) == 1; }));
    return id;
  }
  // All that was told before has been carried out, if it is: jobs come and go behind it.
  void fence() {
    for (int i = 0; i < 2; ++i) {
      const bool kept = std::exchange(link.keeps, false);
      const JobId last = submit(Work::brief, 1);
      EXPECT_TRUE(rig->wait([&] { return over(last); }));
      link.keeps = kept;
      ++fences_;
    }
  }
  std::int64_t begun() const { return rig->begun() - fences_; }
  void record(const Observed& fact) {
    const auto taken = controller->record(fact);
    EXPECT_TRUE(taken) << taken.error().message;
    EXPECT_TRUE(controller->decide());
  }
  template <class... Kinds>
  bool heard_any_of(JobId id) const {
    return std::ranges::any_of(link.heard, [&](const Observed& fact) {
      return ([&] {
        const auto* what = std::get_if<Kinds>(&fact);
        return what && what->job == id;
      }() || ...);
    });
  }
  void job_gone(JobId /*id*/, const Job& gone) override { states.push_back(gone.state); }

  std::unique_ptr<EngineRig> rig;
  LawLink link;
  std::optional<Chain> chain;
  std::optional<Controller> controller;
  std::vector<JobState> states;  // of jobs that have left

 private:
  std::int64_t number_ = 0;
  std::int64_t fences_ = 0;
};

class EngineLaws : public testing::TestWithParam<std::unique_ptr<EngineRig> (*)()>, protected EngineLawsBase {
 protected:
  EngineLaws() : EngineLawsBase(GetParam()()) { decide_by("easy+preempt=requeue"); }
};

TEST_P(EngineLaws, AStartIsCarriedOutOnce) {
  const JobId id = submit_and_launch();
  const Command start = link.latest(Kind::start, id);
  link.deliver(start);
  link.deliver(start);
  fence();
  EXPECT_EQ(begun(), 1);
  EXPECT_EQ(rig->running(id), 1);
  EXPECT_TRUE(steady(id));
  record(CancelAsked{id});
  ASSERT_TRUE(rig->wait([&] { return over(id); }));
  link.deliver(start);
  fence();
  EXPECT_EQ(begun(), 1) << "nor does it begin when it is over";
}

TEST_P(EngineLaws, AStartThatComesAgainIsAnsweredAgain) {
  link.deaf = true;
  const JobId id = submit(Work::endless);
  ASSERT_TRUE(rig->wait([&] { return rig->running(id) == 1; }));
  link.deaf = false;
  link.deliver(link.latest(Kind::start, id));
  EXPECT_TRUE(rig->wait([&] { return steady(id); }));
  EXPECT_EQ(begun(), 1);
}

TEST_P(EngineLaws, AnEndThatComesBeforeItsStartMakesTheStartTooLate) {
  link.keeps = true;
  const JobId id = submit(Work::endless);
  ASSERT_TRUE(controller->requeue(id));
  ASSERT_TRUE(controller->decide());
  const Command start = link.latest(Kind::start, id);
  link.deliver(link.latest(Kind::kill, id));
  link.deliver(start);
  ASSERT_TRUE(rig->wait([&] { return job(id)->dispatch != start.dispatch; })) << "it is to be started anew";
  fence();
  EXPECT_EQ(begun(), 0);
  link.keeps = false;
  link.deliver(link.latest(Kind::start, id));
  EXPECT_TRUE(rig->wait([&] { return steady(id) && begun() == 1; }));
}

TEST_P(EngineLaws, WhatIsSaidOfAnEarlierDispatchIsTooLate) {
  const JobId id = submit_and_launch();
  const Command start = link.latest(Kind::start, id);
  ASSERT_TRUE(controller->requeue(id));
  ASSERT_TRUE(controller->decide());
  ASSERT_TRUE(rig->wait([&] { return steady(id) && job(id)->dispatch != start.dispatch; }));
  const std::uint32_t later = job(id)->dispatch;
  link.deliver(start);
  link.deliver(link.latest(Kind::kill, id, start.dispatch));
  fence();
  EXPECT_TRUE(rig->wait([&] { return rig->running(id) == 1; }));
  EXPECT_TRUE(steady(id, later));
  EXPECT_EQ(begun(), 2);
}

TEST_P(EngineLaws, ACommandOfAnOlderEpochIsRefused) {
  const JobId id = submit_and_launch();
  Command kill = link.latest(Kind::start, id);
  kill.kind = Kind::kill;
  kill.for_good = true;
  kill.key += 1'000'000;
  --kill.epoch;
  link.deliver(kill);
  fence();
  EXPECT_TRUE(steady(id));
  EXPECT_EQ(rig->running(id), 1);
}

TEST_P(EngineLaws, AStartOfANewDispatchEndsTheOneBefore) {
  const JobId id = submit_and_launch();
  const std::uint32_t first = job(id)->dispatch;
  record(Requeued{id, job(id)->spec.limit, first});  // as far as is known; it runs all the same
  ASSERT_TRUE(rig->wait([&] { return steady(id) && job(id)->dispatch != first; }));
  fence();
  EXPECT_TRUE(rig->wait([&] { return rig->running(id) == 1; }));
  EXPECT_EQ(states, (std::vector<JobState>(2, JobState::completed))) << "of the fence, and no end of this job";
}

TEST_P(EngineLaws, WhatRunsAndWhatHasEndedCanBeSeen) {
  const JobId runs = submit_and_launch();
  const JobId ends = submit(Work::brief);
  if (!rig->engine().observe().complete) {  // what is not in it comes as facts, if only later
    ASSERT_TRUE(rig->wait([&] { return over(ends); }));
    EXPECT_EQ(states, std::vector{JobState::completed});
    EXPECT_TRUE(steady(runs));
    return;
  }
  link.deaf = true;
  const auto seen = [&](JobId id) {
    const Observation all = rig->engine().observe();
    const auto found = std::ranges::find(all.jobs, id, &Observation::JobSeen::job);
    return found == all.jobs.end() ? std::nullopt : std::optional(*found);
  };
  ASSERT_TRUE(rig->wait([&] { return seen(ends) && !seen(ends)->runs; }));
  const DispatchEnd told = seen(ends)->end;
  const auto* end = std::get_if<Finished>(&told);
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(end->outcome, Outcome::completed);
  EXPECT_EQ(seen(ends)->dispatch, job(ends)->dispatch);
  EXPECT_EQ(seen(ends)->key, link.latest(Kind::start, ends).key);
  ASSERT_TRUE(seen(runs));
  EXPECT_TRUE(seen(runs)->runs);
  EXPECT_EQ(seen(runs)->dispatch, job(runs)->dispatch);
  EXPECT_EQ(seen(runs)->key, link.latest(Kind::start, runs).key);
}

TEST_P(EngineLaws, AJobThatIsToGiveWayHasVacatedOrFinished) {
  const JobId id = submit_and_launch();
  const JobId first = submit(Work::endless, kAll, 1);
  ASSERT_TRUE(rig->wait([&] { return steady(first); }));
  EXPECT_TRUE((heard_any_of<Vacated, Finished>(id)));
  EXPECT_FALSE((heard_any_of<Requeued, Cancelled, LaunchFailed>(id)));
  EXPECT_EQ(rig->running(id), 0);
  EXPECT_EQ(job(id)->state, JobState::waiting);
}

TEST_P(EngineLaws, AJobThatIsToStopIsSaidToHaveStopped) {
  const JobId id = submit_and_launch();
  ASSERT_TRUE(controller->requeue(id));
  ASSERT_TRUE(controller->decide());
  ASSERT_TRUE(rig->wait([&] { return heard_any_of<Requeued>(id); }));
  ASSERT_TRUE(rig->wait([&] { return steady(id); })) << "it begins anew";
  link.heard.clear();
  record(CancelAsked{id});
  ASSERT_TRUE(rig->wait([&] { return over(id); }));
  EXPECT_EQ(states, std::vector{JobState::cancelled});
  EXPECT_EQ(rig->running(id), 0);
}

TEST_P(EngineLaws, AJobThatOutlivesWhatIsExpectedIsOverdue) {
  if (!rig->engine().capabilities().extend) GTEST_SKIP() << "its jobs end at their limits";
  const JobId id = submit_and_launch();
  Command expect = link.latest(Kind::start, id);
  expect.kind = Kind::expect;
  expect.key += 1'000'000;
  expect.expected_end = rig->loop().now() + seconds(1);
  link.deliver(expect);
  EXPECT_TRUE(rig->wait([&] { return heard_any_of<Overdue>(id); }));
  EXPECT_GE(rig->loop().now(), expect.expected_end);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EngineLaws);

// A live engine and its world: it can be opened anew over what an earlier life of it has left.
class LiveEngineRig : public EngineRig {
 public:
  LiveEngine& engine() override = 0;
  // The engine of another life, over the same world; nothing that the one before was about to say is said.
  virtual void open_again(Intake& intake, const Takeover& from) = 0;
};

class LiveEngineLaws : public testing::TestWithParam<std::unique_ptr<LiveEngineRig> (*)()>, protected EngineLawsBase {
 protected:
  LiveEngineLaws() : EngineLawsBase(GetParam()()), live(static_cast<LiveEngineRig&>(*rig)) { decide_by("easy"); }

  void open_again() {
    const std::uint64_t decided = controller->view().sequence();
    live.open_again(link, {decided, decided, [this]() -> const View& { return controller->view(); }});
  }

  LiveEngineRig& live;
};

TEST_P(LiveEngineLaws, WhatAnEarlierLifeHasCarriedOutIsNotCarriedOutAgain) {
  const JobId id = submit_and_launch();
  open_again();
  link.deliver(link.latest(Kind::start, id));
  fence();
  EXPECT_EQ(begun(), 1);
  EXPECT_EQ(rig->running(id), 1);
  EXPECT_TRUE(steady(id));
}

TEST_P(LiveEngineLaws, AnEndWhileItWasAwayIsFound) {
  const JobId id = submit(Work::brief);
  link.deaf = true;
  ASSERT_TRUE(rig->wait([&] { return rig->begun() == 1 && rig->running(id) == 0; }));
  open_again();
  link.deaf = false;
  ASSERT_TRUE(controller->resume());
  EXPECT_TRUE(rig->wait([&] { return over(id); }));
  EXPECT_EQ(states, std::vector{JobState::completed});
}

TEST_P(LiveEngineLaws, NothingRemainsOfWhatIsSettledForGood) {
  const JobId id = submit_and_launch();
  record(CancelAsked{id});
  ASSERT_TRUE(rig->wait([&] { return over(id); }));
  live.engine().settled(id, kAnyDispatch);
  const std::size_t ended = states.size();
  fence();
  open_again();
  fence();
  const Observation seen = live.engine().observe();
  EXPECT_EQ(std::ranges::find(seen.jobs, id, &Observation::JobSeen::job), seen.jobs.end());
  EXPECT_EQ(states.size(), ended + 4) << "those of the fences";
}

TEST_P(LiveEngineLaws, AnEngineThatHasJustAnsweredIsHealthy) {
  submit_and_launch();
  const auto health = live.engine().health();
  EXPECT_TRUE(health) << health.error().message;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LiveEngineLaws);

}  // namespace rota

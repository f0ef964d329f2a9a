// A snapshot is the state: whatever mechanisms made it, its facts fold into a state with the same facts, and a
// controller that took the state over from them decides what the other one would have decided.
#include "model/snapshot.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>

#include "control/controller.h"
#include "engine/sim/rehearsal.h"
#include "model/fact_text_test.h"
#include "scenario/scenario.h"
#include "scenario/two_racks.h"

namespace rota {
namespace {

using scenario::Row;

constexpr int kMostSteps = 20'000;
constexpr int kOneOf = 3;  // cases of a property: in each, controllers take over again and again, which takes long

// The alarm of whichever controller is in charge.
class OneAlarm final : public Loop, public Alarm {
 public:
  explicit OneAlarm(sim::VirtualLoop& loop) : loop_(loop) {}

  Instant now() const override { return loop_.now(); }
  void set(Alarm& alarm, Instant at) override {
    alarm_ = &alarm;
    set_ = true;
    loop_.set(*this, at);
  }
  void ring() override { alarm_->ring(); }

  void hand_over(Alarm& to) {
    alarm_ = &to;
    set_ = false;
  }
  // The new one has decided: unless it has said so, it does not want to be woken as the old one did.
  void settle() {
    if (!set_) loop_.set(*this, kNever);
    set_ = true;
  }

 private:
  sim::VirtualLoop& loop_;
  Alarm* alarm_ = nullptr;
  bool set_ = true;
};

struct Handover {
  int every = 0;        // steps after which another controller takes over; 0: none does
  int looks_every = 1;  // facts after which the state is folded again
};

// A rehearsal in which controllers take over from each other.
class Relay final : public Intake, private JobSink, private FactObserver {
 public:
  Relay(const std::vector<Row>& rows, const std::string& policy, const RehearseOptions& options,
        const Handover& handover)
      : workload_(scenario::workload_of(rows)),
        options_(options),
        handover_(handover),
        chain_(scenario::chain_of(policy)),
        source_(workload_, options_),
        engine_({.ties = options.ties, .checkpoint = chain_.knobs().checkpoint, .metered = options_.machine.get()},
                source_, loop_) {
    take_over({});
  }

  void run() {
    engine_.open(*this);
    if (auto reserved = sim::reserve(options_.machine.get(), *this); !reserved)
      throw std::runtime_error(reserved.error().message);
    for (int steps = 0; loop_.step(); ++steps) {
      if (steps > kMostSteps) throw std::runtime_error("it never ends");
      if (!engine_.health()) throw std::runtime_error(engine_.health().error().message);
      if (!controller_->health()) throw std::runtime_error(controller_->health().error().message);
      settle();
      const View& view = controller_->view();
      if (!engine_.expects_jobs() && view.waiting().empty() && view.running().empty()) break;
      if (handover_.every > 0 && steps % handover_.every == 0) take_over(controller_->snapshot());
    }
    controller_->close();
  }

  JobId submit(const JobSpec& spec, Bars bars) override {
    const JobId id = controller_->submit(spec, bars);
    look();
    return id;
  }
  Result<void> record(const Observed& fact, Instant happened) override {
    auto done = controller_->record(fact, happened);
    look();
    return done;
  }
  Result<void> decide() override {
    auto done = controller_->decide();
    settle();
    look();
    return done;
  }

  std::map<std::int64_t, std::string> jobs;  // by number
  std::vector<std::uint64_t> cycles;         // hashes of their plans
  std::int64_t folds = 0;

 private:
  ClusterOptions cluster_options() const {
    sim::RehearsalOptions options;
    options.processors = options_.processors;
    options.machine = options_.machine.get();
    options.engine.ties = options_.ties;
    return sim::cluster_options(options, chain_);
  }

  void take_over(const std::vector<Fact>& facts) {
    auto next = std::make_unique<Controller>(cluster_options(), chain_, Ports{alarm_, engine_, *this});
    for (const Fact& fact : facts) {
      if (auto taken = next->replay(fact); !taken) throw std::runtime_error(taken.error().message);
    }
    next->add_observer(*this);
    alarm_.hand_over(*next);
    controller_ = std::move(next);
    seen_ = 0;
  }
  void settle() {
    if (controller_->cycles() > seen_) alarm_.settle();
    seen_ = controller_->cycles();
  }

  // The state and what its facts fold into have the same facts.
  void look() {
    if (handover_.every == 0 || ++looks_ % handover_.looks_every != 0) return;
    const std::vector<Fact> facts = controller_->snapshot();
    Cluster fresh(cluster_options());
    for (const Fact& fact : facts) {
      const auto why = fresh.objection(fact);
      RC_ASSERT(why.value_or("") == "");
      fresh.fold(fact);
    }
    const std::string forgotten = difference(text_of_all(facts), text_of_all(Snapshot::facts_of(fresh)));
    RC_ASSERT(forgotten == "");
    ++folds;
  }

  void job_gone(JobId, const Job& job) override { jobs[job.spec.number] = text_of(job); }
  void fact_recorded(const View&, const FactRef& fact) override {
    if (const auto* closed = std::get_if<const CycleClosed*>(&fact.what)) cycles.push_back((*closed)->plan);
  }

  log::Workload workload_;
  RehearseOptions options_;
  Handover handover_;
  Chain chain_;
  WorkloadSource source_;
  sim::VirtualLoop loop_;
  OneAlarm alarm_{loop_};
  sim::SimEngine engine_;
  std::unique_ptr<Controller> controller_;
  std::int64_t seen_ = 0;  // cycles of this controller
  int looks_ = 0;
};

// Two users' places are compared though only one of them waits, whose jobs are then not sorted by what was used since.
TEST(SnapshotOfCounted, AUsersJobsWaitWhileAnothersOverrun) {
  const std::vector<Row> rows{{1, 0, 1, 2, 2, -1, 0}, {2, 0, 4, 1, 1, -1, 1}, {3, 0, 3, 1, 1, -1, 1},
                              {4, 0, 1, 2, 3, 0, 0},  {5, 0, 2, 1, 3, -1, 0}, {6, 0, 2, 1, 2, -1, 0}};
  const std::string policy = "easy-sjbf+order=fair+candidates=largest+predict=tsafrir+overrun=rb-har";
  Relay alone(rows, policy, scenario::on(8, sim::Ties::batch), {});
  alone.run();
  Relay relay(rows, policy, scenario::on(8, sim::Ties::batch), {.every = 1});
  relay.run();
  EXPECT_EQ(alone.jobs, relay.jobs);
  EXPECT_EQ(alone.cycles, relay.cycles);
}

void expect_the_same(const std::vector<Row>& rows, const std::string& policy, const RehearseOptions& options) {
  const Handover handover{*rc::gen::element(1, 2, 5, 17), *rc::gen::element(1, 3)};
  RC_LOG() << policy << ", another controller every " << handover.every << " steps\n";
  Relay alone(rows, policy, options, {});
  alone.run();
  Relay relay(rows, policy, options, handover);
  relay.run();
  RC_ASSERT(alone.jobs.size() == rows.size());
  RC_ASSERT(alone.jobs == relay.jobs);
  RC_ASSERT(alone.cycles == relay.cycles);
  if (!rows.empty() && handover.looks_every == 1) RC_ASSERT(relay.folds > 0);
}

// Everything that a chain may be on processors that are counted.
std::string any_counted_chain() {
  std::string chain = *rc::gen::element<std::string>("fcfs", "fcfs-skip", "easy", "easy-sjbf", "easy++", "easy+depth=3",
                                                     "conservative", "strict", "rb-har", "grace");
  const auto maybe = [&](const std::string& knob) {
    if (Chain::parse(fmt::format("{}+{}", chain, knob))) chain += "+" + knob;
  };
  maybe("order=" + *rc::gen::elementOf(scenario::every_order()));
  maybe("candidates=" + *rc::gen::elementOf(scenario::every_order()));
  maybe(*rc::gen::element<std::string>("predict=limit", "predict=tsafrir"));
  maybe(*rc::gen::element<std::string>("overrun=run-on", "overrun=grace", "overrun=strict", "overrun=rb-har",
                                       "overrun=rb-har-literal", "overrun=5"));
  maybe(*rc::gen::element<std::string>("preempt=none", "preempt=suspend", "preempt=requeue",
                                       "preempt=checkpoint+checkpoint=3"));
  return chain;
}

RC_GTEST_PROP(SnapshotOfCounted, AControllerThatTakesOverDecidesTheSame, ()) {
  static int runs = 0;
  if (++runs % kOneOf != 0) return;
  const auto rows = *scenario::random_rows({.processors = 8, .overruns = true, .priorities = true});
  const std::string policy = any_counted_chain();
  const ChainKnobs knobs = scenario::chain_of(policy).knobs();
  const bool as_published =
      knobs.overrun == Overrun::kill && knobs.preempt == Preemption::none && *rc::gen::arbitrary<bool>();
  expect_the_same(rows, policy, scenario::on(8, as_published ? sim::Ties::submit_first : sim::Ties::batch));
}

RC_GTEST_PROP(SnapshotOfNodes, AControllerThatTakesOverDecidesTheSame, ()) {
  static int runs = 0;
  if (++runs % kOneOf != 0) return;
  const auto rows = scenario::any_rows();
  const Machine machine = scenario::two_racks(*rc::gen::element(0, 300), *rc::gen::inRange(0, 100));
  RehearseOptions options = scenario::on(machine.processors);
  options.machine = std::make_shared<const Machine>(machine);
  expect_the_same(rows, scenario::any_chain(), options);
}

// One or two reservations of a part of a machine, for a while.
void reserve_some(Machine& machine) {
  std::int64_t from = 0;
  for (int i = *rc::gen::inRange(1, 3); i > 0; --i) {
    Reservation& r = machine.reservations.emplace_back();
    r.id = ReservationId{static_cast<std::uint32_t>(machine.reservations.size() - 1)};
    from += *rc::gen::inRange(0, 40);
    r.from = at_seconds(from * (machine.nodes.empty() ? 1 : 100));
    from += *rc::gen::inRange(1, 40);
    r.until = at_seconds(from * (machine.nodes.empty() ? 1 : 100));
    if (machine.nodes.empty()) r.processors = *rc::gen::inRange<std::int64_t>(1, machine.processors + 1);
    if (!machine.nodes.empty()) r.nodes = {NodeId{0}, NodeId{3}, NodeId{4}};
  }
}

RC_GTEST_PROP(SnapshotOfReservations, AControllerThatTakesOverDecidesTheSame, ()) {
  static int runs = 0;
  if (++runs % kOneOf != 0) return;
  const bool described = *rc::gen::arbitrary<bool>();
  const auto rows = described ? scenario::any_rows()
                              : *scenario::random_rows({.processors = 8, .overruns = true, .priorities = true});
  Machine machine = described ? scenario::two_racks(0, 1) : Machine::counted(8);
  reserve_some(machine);
  RehearseOptions options = scenario::on(machine.processors);
  options.machine = std::make_shared<const Machine>(machine);
  expect_the_same(rows,
                  *rc::gen::element<std::string>("fcfs", "fcfs-skip", "easy", "easy++", "easy+depth=3", "conservative",
                                                 "easy+overrun=run-on", "conservative+order=sjf"),
                  options);
}

RC_GTEST_PROP(SnapshotOfNodes, AControllerThatTakesOverStopsTheSameJobs, ()) {
  static int runs = 0;
  if (++runs % kOneOf != 0) return;
  const auto rows = scenario::any_rows();
  const Machine machine = scenario::two_racks(0, 1);
  RehearseOptions options = scenario::on(machine.processors);
  options.machine = std::make_shared<const Machine>(machine);
  expect_the_same(rows, any_counted_chain(), options);
}

}  // namespace
}  // namespace rota

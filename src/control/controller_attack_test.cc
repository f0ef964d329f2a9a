// Facts in any order, from a world that mostly makes sense and sometimes none at all: nothing that is said ends the
// process or breaks a plan, what is refused changes nothing, and the indexes agree with the jobs after every fact.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/random.h"
#include "control/desk_test.h"
#include "model/snapshot.h"

namespace rota {
namespace {

constexpr std::int64_t kLicences = 3;

std::shared_ptr<const Machine> racks() {
  Machine machine;
  machine.partitions.resize(2);
  machine.default_partition = PartitionId{0};
  machine.partitions[0].name = "all";
  machine.partitions[1].name = "new";
  for (std::uint32_t i = 0; i < 5; ++i) {
    Node& node = machine.nodes.emplace_back();
    node.name = "n" + std::to_string(i);
    node.processors = i < 2 ? 2 : 3;
    node.memory = i < 2 ? 8 : 0;
    node.cpu_factor = i < 2 ? 1000 : 2000;
    node.partitions = {PartitionId{0}};
    if (i >= 2) node.partitions.push_back(PartitionId{1});
    node.power.boot = seconds(20);
    node.power.shutdown = seconds(5);
    node.power.idle = 1000;
    for (const PartitionId p : node.partitions) {
      machine.partitions[p.value].nodes.push_back(NodeId{i});
      machine.partitions[p.value].processors += node.processors;
    }
    machine.processors += node.processors;
  }
  machine.licences = {{"solver", kLicences}};
  return std::make_shared<const Machine>(std::move(machine));
}

// The sums that the state keeps, reckoned from its jobs alone.
class Recount {
 public:
  explicit Recount(const View& view) : view_(view) {
    view.for_each_job([&](JobId id, const Job& job) { add(id, job); });
  }

  // What does not add up; empty: everything does.
  std::string fault() const {
    if (running_ != view_.running().processors() || runs_ != view_.running().size()) return "running jobs";
    if (waits_ != view_.waiting().size() || barred_ != view_.barred()) return "waiting jobs";
    if (promised_ != view_.promised()) return "promises";
    std::set<JobId> leaving;
    for (const Leaving& l : view_.leaving()) leaving.insert(l.job);
    if (leaving != leaving_ || leaving.size() != view_.leaving().size()) return "jobs that leave";
    if (view_.options().by_priority && can_give_way_ != view_.by_priority().held()) return "jobs by priority";
    if (!fault_.empty()) return fault_;
    return view_.nodes().counted() ? "" : fault_of_nodes();
  }

 private:
  void add(JobId id, const Job& job) {
    if (!job.gone() && (job.state == JobState::barred) != (job.bars != kNoBars)) fault_ = "bars";
    if (job.state == JobState::barred) ++barred_;
    if (job.promise != kNever && job.state != JobState::waiting) fault_ = "a promise to who does not wait";
    if (job.state == JobState::waiting) {
      ++waits_;
      if (job.promise != kNever) promised_.push_back(id);
    }
    if (job.state != JobState::running) return;
    ++runs_;
    running_ += job.spec.processors;
    if (job.leaving) leaving_.insert(id);
    if (!job.leaving && !job.stopping && !job.starting) can_give_way_[job.spec.priority] += job.spec.processors;
    if (view_.nodes().counted()) return;
    std::int64_t held = 0;
    for (const Share& s : view_.placement(id).shares) {
      held += s.processors;
      used_[s.node] += s.processors;
      memory_[s.node] += job.spec.memory;
    }
    if (held != job.spec.processors) fault_ = "shares";
    licences_ += job.spec.licences;
  }

  std::string fault_of_nodes() const {
    const Machine& machine = *view_.options().machine;
    const NodeSpace& nodes = view_.nodes();
    std::int64_t free = 0;
    std::int64_t withheld = 0;
    for (std::uint32_t i = 0; i < machine.nodes.size(); ++i) {
      const NodeId node{i};
      const auto used = used_.contains(node) ? used_.at(node) : 0;
      const auto memory = memory_.contains(node) ? memory_.at(node) : 0;
      const std::int64_t unused = machine.nodes[i].processors - used;
      if (unused != nodes.free_on(node) || nodes.idle(node) != (used == 0)) return "a node";
      if (machine.nodes[i].memory > 0 && machine.nodes[i].memory - memory != nodes.per_node_on(node).memory)
        return "memory";
      const bool usable = view_.power().state(node) == PowerState::on && view_.power().health(node) == Health::up;
      if (usable != nodes.available(node)) return "a node that is not available";
      if (used > 0 && view_.power().state(node) != PowerState::on) return "a busy node that is off";
      (usable ? free : withheld) += unused;
    }
    if (free != nodes.free() || withheld != nodes.withheld() || free != view_.free()) return "free processors";
    const LicenceId solver{0};
    if (kLicences - licences_ - view_.licences_elsewhere(solver) != nodes.licences_free(solver)) return "licences";
    return "";
  }

  const View& view_;
  std::int64_t running_ = 0;
  std::size_t runs_ = 0;
  std::size_t waits_ = 0;
  std::size_t barred_ = 0;
  std::vector<JobId> promised_;
  std::set<JobId> leaving_;
  std::map<std::int32_t, std::int64_t> can_give_way_;
  std::map<NodeId, std::int64_t> used_;
  std::map<NodeId, std::int64_t> memory_;
  std::int64_t licences_ = 0;
  std::string fault_;
};

class Attack {
 public:
  Attack(std::uint64_t seed, const std::string& policy, bool on_nodes, bool relay = false)
      : random_(seed), desk_(policy, options(on_nodes, seed)), on_nodes_(on_nodes), relay_(relay) {}

  // Empty, or what went wrong.
  std::string run(int facts) {
    for (int i = 0; i < facts; ++i) {
      pass_time();
      const bool few = desk_.view().waiting().size() + desk_.view().barred() < 15;
      std::string fault = few && chance(40) ? submit() : say(any_fact());
      const bool decides = fault.empty() && chance(50);
      if (decides) fault = decide();
      const bool hands_over = decides && chance(30);  // drawn also where no controller takes over
      if (hands_over && relay_ && fault.empty()) fault = take_over();
      if (!fault.empty()) return fmt::format("fact {}: {}", i, fault);
    }
    return decide();
  }

  std::int64_t taken = 0;
  std::int64_t refused = 0;
  std::int64_t folds = 0;

  std::int64_t cycles() { return desk_.controller().cycles(); }
  // What was decided, and what became of it.
  std::string outcome() {
    std::string text = desk_.state();
    for (const Fact& fact : desk_.log().facts) {
      if (const auto* closed = std::get_if<CycleClosed>(&fact.what)) text += text_of(*closed) + "\n";
    }
    for (const Command& c : desk_.engine().commands) text += std::to_string(c.key) + "\n";
    return text;
  }

 private:
  static DeskOptions options(bool on_nodes, std::uint64_t seed) {
    DeskOptions options;
    options.processors = 8;
    if (on_nodes) options.machine = racks();
    options.confirms_starts = seed % 2 == 0;
    return options;
  }
  bool chance(int percent) { return random_.between(0, 99) < percent; }
  std::int64_t draw(std::int64_t low, std::int64_t high) { return random_.between(low, high); }

  void pass_time() {
    if (chance(60)) return;
    now_ += draw(0, 12);
    desk_.at(chance(5) ? now_ - 5 : now_);
  }

  JobTerms any_terms(const JobSpec& spec) {
    JobTerms terms;
    terms.limit = chance(95) ? seconds(draw(1, 40)) : Duration{draw(-1, 0)};
    terms.priority = static_cast<std::int32_t>(draw(-1, 2));
    terms.partition = on_nodes_ && chance(20) ? PartitionId{static_cast<std::uint32_t>(draw(0, 2))} : spec.partition;
    if (chance(30)) terms.begin = at_seconds(now_ + draw(-10, 30));
    for (int i = 0; i < 2; ++i) {
      if (chance(20)) terms.after.push_back({any_job(), static_cast<Dependency::When>(draw(0, 3))});
    }
    if (chance(30)) terms.array = draw(1, 3), terms.throttle = static_cast<std::uint32_t>(terms.array - 1);
    return terms;
  }

  std::string submit() {
    JobSpec spec = desk_.asking(static_cast<std::uint32_t>(draw(chance(5) ? 0 : 1, 9)), draw(chance(5) ? -1 : 1, 40),
                                static_cast<std::int32_t>(draw(-1, 2)));
    spec.user = static_cast<std::uint32_t>(draw(0, 2));
    spec.restart = static_cast<Restart>(draw(0, 2));
    if (on_nodes_) {
      spec.nodes = static_cast<std::uint32_t>(draw(0, 3));
      spec.memory = draw(0, 9);
      if (chance(20)) spec.licence = LicenceId{static_cast<std::uint32_t>(draw(0, 1))}, spec.licences = 2;
      if (chance(20)) spec.partition = PartitionId{static_cast<std::uint32_t>(draw(0, 2))};
    }
    const JobId next = desk_.view().next_job();
    if (chance(50)) {
      static_cast<void>(desk_.controller().submit(spec));
    } else {
      const Bars holds = chance(20) ? kHeldByUser : kNoBars;
      const auto taken_in = desk_.controller().submit(spec, any_terms(spec), holds);
      if (!taken_in && desk_.view().next_job() != next) return "a refused submission has left something";
    }
    if (desk_.view().next_job() != next) requests_[next] = text_of(spec);
    return look();
  }

  // Mostly one that is known.
  JobId any_job() {
    const auto next = static_cast<std::int64_t>(desk_.view().next_job().value);
    if (chance(5)) return JobId{static_cast<std::uint32_t>(draw(0, next + 3))};
    std::vector<JobId> known;
    desk_.view().for_each_job([&](JobId id, const Job&) { known.push_back(id); });
    if (known.empty()) return JobId{0};
    return known[static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(known.size()) - 1))];
  }
  NodeId any_node() { return NodeId{static_cast<std::uint32_t>(draw(0, chance(3) ? 9 : 4))}; }
  Duration any_time(JobId id) {
    const View& view = desk_.view();
    if (chance(10) || !view.knows(id) || view.job(id).start == kNever) return seconds(draw(-2, 20));
    return (view.now() - view.job(id).start) * draw(0, 4) / 4;
  }

  // What could well be said of the job as it stands.
  Observed likely_fact(JobId id) {
    const Job& job = desk_.job(id);
    if (job.state == JobState::barred) return Released{id, kHeldByUser};
    if (job.state == JobState::waiting) {
      if (chance(70)) return any_fact_of_nodes();
      if (chance(30)) return any_licences(id);
      return chance(30) ? Observed(Held{id}) : Observed(any_amended(id, job.spec));
    }
    if (job.starting && chance(80)) return chance(80) ? Observed(Launched{id}) : Observed(LaunchFailed{id, chance(80)});
    if (job.leaving) return Vacated{id, any_time(id)};
    if (job.stopping) return Requeued{id, job.spec.limit};
    if (job.expected_end() <= desk_.view().now() && chance(50)) return Overdue{id};
    if (chance(10)) return CancelAsked{id};
    return Finished{id, static_cast<Outcome>(draw(0, 5))};
  }

  Observed any_fact() {
    const JobId id = any_job();
    if (chance(60) && desk_.view().knows(id)) return likely_fact(id);
    switch (draw(0, 19)) {
      case 0:
        return Overdue{id};
      case 1:
      case 2:
        return Vacated{id, any_time(id)};
      case 3:
        return Requeued{id, seconds(draw(0, 40))};
      case 4:
        return Cancelled{id};
      case 5:
        return CancelAsked{id};
      case 6:
      case 7:
        return Launched{id};
      case 8:
        return LaunchFailed{id, chance(70)};
      case 9:
        return Held{id, static_cast<Bars>(draw(0, 4))};
      case 10:
      case 11:
        return Released{id, static_cast<Bars>(draw(1, 3))};
      case 12:
        return any_amended(id, desk_.view().knows(id) ? desk_.job(id).spec : JobSpec{});
      case 13:
        return any_reservation();
      case 14:
        return any_licences(id);
      default:
        return chance(60) ? Observed(Finished{id, static_cast<Outcome>(draw(0, 5))}) : any_fact_of_nodes();
    }
  }
  Amended any_amended(JobId id, const JobSpec& spec) {
    Amended fact{id, any_terms(spec)};
    if (chance(50)) return fact;
    fact.processors = static_cast<std::uint32_t>(draw(0, chance(10) ? 9 : 4));
    if (on_nodes_) fact.nodes = static_cast<std::uint32_t>(draw(0, 3)), fact.memory = draw(0, 9);
    return fact;
  }
  Observed any_licences(JobId id) {
    if (chance(30)) return LicencesChanged{.job = id};
    return LicencesChanged{id, LicenceId{static_cast<std::uint32_t>(chance(10) ? 1 : 0)},
                           static_cast<std::uint32_t>(draw(chance(10) ? 0 : 1, 3))};
  }
  Observed any_reservation() {
    const View& view = desk_.view();
    const std::uint32_t next = view.reservations().next_id().value;
    if (chance(40)) return Unreserved{ReservationId{static_cast<std::uint32_t>(draw(0, std::int64_t{next}))}};
    Reserved r{ReservationId{chance(90) ? next : static_cast<std::uint32_t>(draw(0, 3))}};
    r.from = view.now() + seconds(draw(-5, 30));
    r.until = r.from + seconds(draw(0, 40));
    if (view.nodes().counted() != chance(5)) {
      r.processors = draw(0, view.options().processors);
    } else {
      for (std::int64_t count = draw(0, 3); count > 0; --count) r.nodes.push_back(any_node());
    }
    return r;
  }
  Observed any_fact_of_tasks() {
    const JobId job = chance(70) ? any_job() : JobId{};
    const auto processors = static_cast<std::uint32_t>(draw(0, 2));
    if (chance(30)) {
      TasksAsked asked{job, {}, static_cast<std::uint32_t>(draw(0, 3))};
      asked.tasks.count = static_cast<std::uint32_t>(draw(0, 3));
      asked.tasks.accelerator = seconds(draw(0, 5));
      return asked;
    }
    if (chance(60)) return Bound{any_node(), any_node(), job, processors};
    return Unbound{chance(80) ? any_node() : NodeId{}, any_node(), job, processors};
  }
  Observed any_fact_of_nodes() {
    switch (draw(0, 6)) {
      case 0:
        return HealthChanged{any_node(), static_cast<Health>(draw(0, 2))};
      case 1:
        return HealthChanged{any_node(), Health::up};
      case 2:
        return LicencesCounted{LicenceId{chance(5) ? 1U : 0U}, draw(-1, 4)};
      case 3:
        return Serving{any_node(), chance(50)};
      case 4:
        return any_fact_of_tasks();
      default:
        return PowerChanged{any_node(), chance(5)    ? PowerState::booting
                                        : chance(80) ? PowerState::on
                                                     : PowerState::off};
    }
  }

  std::string say(const Observed& fact) {
    const std::vector<Fact> before = desk_.controller().snapshot();
    const std::uint64_t sequence = desk_.view().sequence();
    const Instant now = desk_.view().now();
    const std::string why = desk_.tell(fact);
    if (why.empty()) {
      ++taken;
      return look();
    }
    ++refused;
    if (desk_.controller().refusals() != refused - refused_before_ || desk_.view().sequence() != sequence)
      return "not counted: " + why;
    std::vector<Fact> was = before, is = desk_.controller().snapshot();
    if (desk_.view().now() != now)  // use is reckoned as time passes, whatever is refused
      for (auto* facts : {&was, &is})
        std::erase_if(*facts, [](const Fact& f) { return std::holds_alternative<UserKept>(f.what); });
    const std::string changed = difference(text_of_all(was), text_of_all(is));
    return changed.empty() ? "" : fmt::format("a refused fact has changed the state: {}\n{}", why, changed);
  }

  std::string decide() {
    std::string why = desk_.decide();
    for (int rings = 0; why.empty() && desk_.ring(); ++rings) {
      if (rings > 10'000) return "it rings for ever";
      if (!desk_.controller().health()) why = desk_.controller().health().error().message;
    }
    if (!why.empty()) return why;
    const View& view = desk_.view();
    std::map<std::int64_t, std::uint32_t> active;
    std::string fault;
    view.for_each_job([&](JobId id, const Job& job) {
      const JobTerms* terms = view.eligibility().terms(id);
      const bool queued = job.state == JobState::waiting;
      if (!terms) return;
      if (queued && terms->begin > view.now()) fault = "it waits and its begin time has not come";
      if (queued && !terms->after.empty()) fault = "it waits and depends on another";
      if (job.state == JobState::barred && job.bars == kBeginTime && terms->begin <= view.now())
        fault = "nobody looked";
      if (queued || job.state == JobState::running) ++active[terms->array];
    });
    for (const auto& [array, count] : active) {
      if (array > 1 && count + 1 > array) fault = "too many of an array";
    }
    view.for_each_job([&](JobId id, const Job&) {
      if (text_of(view.request(id)) != requests_[id]) fault = "a request has changed";
    });
    if (!fault.empty()) return fault;
    fault = look();
    return fault.empty() && chance(20) ? fold_again() : fault;
  }

  std::string take_over() {
    refused_before_ = refused;
    return desk_.take_over();
  }

  // The state from its own facts.
  std::string fold_again() {
    const std::vector<Fact> facts = desk_.controller().snapshot();
    Cluster fresh(desk_.view().options());
    for (const Fact& fact : facts) {
      if (const auto why = fresh.objection(fact)) return "a snapshot contradicts itself: " + *why;
      fresh.fold(fact);
    }
    ++folds;
    const std::string changed = difference(text_of_all(facts), text_of_all(Snapshot::facts_of(fresh)));
    return changed.empty() ? Recount(fresh).fault() : "a snapshot forgets:\n" + changed;
  }

  std::string look() {
    const std::string fault = Recount(desk_.view()).fault();
    return fault.empty() ? fault : fault + " do not add up";
  }

  Random random_;
  Desk desk_;
  bool on_nodes_;
  bool relay_;
  std::int64_t refused_before_ = 0;  // by the controllers that were in charge before
  std::int64_t now_ = 0;
  std::map<JobId, std::string> requests_;
};

const std::vector<std::string>& policies() {
  static const std::vector<std::string> kPolicies{"fcfs",
                                                  "easy",
                                                  "easy+order=wfp3+candidates=sjf",
                                                  "conservative",
                                                  "easy++",
                                                  "easy+depth=3+overrun=grace",
                                                  "grace",
                                                  "strict",
                                                  "rb-har",
                                                  "easy+preempt=suspend",
                                                  "fcfs-skip+preempt=checkpoint+checkpoint=5",
                                                  "easy+preempt=requeue+predict=tsafrir",
                                                  "conservative+overrun=run-on+preempt=requeue",
                                                  "slurm+bf-interval=5s",
                                                  "slurm+priority=multifactor+weight-age=9+weight-fairshare=9"};
  return kPolicies;
}
const std::vector<std::string>& policies_of_nodes() {
  static const std::vector<std::string> kPolicies{
      "easy+power=demand+power-wait=0+power-idle=10",
      "conservative+power=idle-timeout+power-idle=5",
      "easy+power=load-factor+power-interval=60",
      "easy+migrate=gain+margin=0",
      "fcfs-skip+preempt=suspend+migrate=gain",
      "easy+preempt=checkpoint+checkpoint=5+power=demand+power-wait=10+power-idle=10"};
  return kPolicies;
}

using testing::Test;

void attack(const std::vector<std::string>& names, bool on_nodes) {
  std::int64_t taken = 0;
  std::int64_t refused = 0;
  std::int64_t folds = 0;
  std::int64_t cycles = 0;
  for (const std::string& policy : names) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      Attack attack(seed, policy, on_nodes);
      EXPECT_EQ(attack.run(300), "") << policy << ", seed " << seed;
      taken += attack.taken;
      refused += attack.refused;
      folds += attack.folds;
      cycles += attack.cycles();
    }
  }
  EXPECT_GT(taken, 1000);
  EXPECT_GT(refused, 1000);
  EXPECT_GT(folds, 100);
  Test::RecordProperty("taken", std::to_string(taken));
  Test::RecordProperty("refused", std::to_string(refused));
  Test::RecordProperty("cycles", std::to_string(cycles));
  Test::RecordProperty("folds", std::to_string(folds));
}

// The same facts are told to one that goes on and to others that take over from each other.
TEST(ControllerAttack, AControllerThatTakesOverDecidesTheSame) {
  for (const bool on_nodes : {false, true}) {
    for (const std::string& policy : on_nodes ? policies_of_nodes() : policies()) {
      constexpr std::uint64_t kSeed = 101;
      Attack alone(kSeed, policy, on_nodes), relay(kSeed, policy, on_nodes, true);
      EXPECT_EQ(alone.run(300), "") << policy;
      EXPECT_EQ(relay.run(300), "") << policy;
      EXPECT_EQ(difference(alone.outcome(), relay.outcome()), "") << policy;
    }
  }
}

TEST(ControllerAttack, NothingSaidOfACountedClusterBreaksIt) { attack(policies(), false); }

TEST(ControllerAttack, NothingSaidOfAClusterOfNodesBreaksIt) {
  attack(policies(), true);
  attack(policies_of_nodes(), true);
}

}  // namespace
}  // namespace rota

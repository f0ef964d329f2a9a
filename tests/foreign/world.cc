#include "foreign/world.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <type_traits>

#include "base/hash.h"
#include "control/controller.h"
#include "control/replay.h"
#include "engine/sim/rehearsal.h"
#include "foreign/account.h"
#include "foreign/foreign_engine.h"
#include "foreign/users.h"
#include "store/fact_codec.h"
#include "store/fact_json.h"
#include "swarm/kept.h"

namespace rota::foreign {
namespace {

constexpr std::array kPolicies{"fcfs",
                               "fcfs-skip",
                               "easy",
                               "conservative",
                               "easy+depth=3",
                               "easy+preempt=requeue",
                               "easy+predict=tsafrir",
                               "easy+nodes=least-loaded"};
constexpr std::int64_t kLasts = 6'000;  // seconds in which things go wrong
constexpr std::int64_t kMost = 60'000;  // seconds until all must be over
constexpr Duration kSettles = seconds(300);

// The one alarm of an engine or a controller, which comes and goes: the next one takes its place.
class Seat final : public Loop, private Alarm {
 public:
  explicit Seat(sim::VirtualLoop& loop) : loop_(loop) { loop_.set(*this, kNever); }
  Instant now() const override { return loop_.now(); }
  void set(Alarm& alarm, Instant at) override {
    taken_ = &alarm;
    loop_.set(*this, at);
  }
  void leave() {
    taken_ = nullptr;
    loop_.set(*this, kNever);
  }

 private:
  void ring() override {
    if (taken_) taken_->ring();
  }

  sim::VirtualLoop& loop_;
  Alarm* taken_ = nullptr;
};

class World final : private JobSink, private Durable, private FactObserver {
 public:
  World(std::uint64_t seed, bool tells)
      : seed_(seed),
        tells_(tells),
        chance_(seed),
        cluster_(drawn_nodes()),
        machine_(machine_of(cluster_.listing())),
        chain_(std::move(*Chain::parse(kPolicies[static_cast<std::size_t>(chance_.between(0, kPolicies.size() - 1))]))),
        faults_{seconds(chance_.between(0, 40)), chance_.chance(0.5) ? 0 : chance_.unit() * 0.2},
        poll_(seconds(chance_.between(5, 60))),
        line_(cluster_, loop_, faults_, seed ^ 0x11eU),
        kept_(swarm::kept_in_memory()) {}

  Verdict run();

 private:
  struct Crash {};
  class Script final : public Alarm {
   public:
    explicit Script(World& world) : world_(world) {}
    void ring() override { world_.happen(); }

   private:
    World& world_;
  };

  std::vector<std::string> any_partitions();
  std::string any_partition();
  std::vector<NodeRow> drawn_nodes();
  Wish any_wish();
  void happen();
  void act();
  void act_on(Number job);
  void act_on_nodes();
  void compact();
  void cancel_here();
  void heal();
  void tidy();
  void rise();
  void fall();
  void may_crash();
  void compare();
  bool done() const;
  void expect(bool holds, const std::string& what) {
    if (!holds && !failure_) failure_ = what;
  }

  void job_gone(JobId, const Job&) override {}
  Result<void> commit() override;
  void fact_recorded(const View& before, const FactRef& fact) override;

  std::uint64_t seed_;
  bool tells_;
  Random chance_;
  std::int64_t nodes_made_ = 0;
  sim::VirtualLoop loop_;
  OtherCluster cluster_;
  Machine machine_;
  Chain chain_;
  LineFaults faults_;
  Duration poll_;
  Line line_;
  std::unique_ptr<swarm::Kept> kept_;
  Script script_{*this};
  Seat engines_{loop_};
  Seat controllers_{loop_};
  std::unique_ptr<ForeignEngine> engine_;
  std::unique_ptr<Controller> controller_;
  std::uint64_t lives_ = 0;
  std::int64_t crash_in_ = -1;  // so many facts and commits; negative: not
  Instant back_at_ = kNever;
  Instant compares_at_ = kNever;  // until then nothing is done to either side: it settles
  int tries_ = 0;
  bool healed_ = false;
  std::vector<Fact> pending_;
  Tally tally_;
  Account account_{tally_};
  Users users_{seed_, tally_};
  Hash hash_;
  std::optional<std::string> failure_;
};

std::vector<std::string> World::any_partitions() {
  std::vector<std::string> some{"all"};
  if (chance_.chance(0.7)) some.emplace_back("day");
  if (chance_.chance(0.5)) some.emplace_back("night");
  return some;
}

std::string World::any_partition() {
  return std::array{"all", "all", "day", "night"}[static_cast<std::size_t>(chance_.between(0, 3))];
}

std::vector<NodeRow> World::drawn_nodes() {
  std::vector<NodeRow> nodes;
  for (std::int64_t i = chance_.between(2, 5); i > 0; --i) {
    nodes.push_back({fmt::format("n{}", ++nodes_made_), static_cast<std::uint32_t>(chance_.between(2, 8)),
                     chance_.chance(0.5) ? 0 : chance_.between(4, 16), NodeState::up, any_partitions()});
  }
  return nodes;
}

Wish World::any_wish() {
  Wish wish;
  wish.user = static_cast<std::uint32_t>(chance_.between(1, 3));
  wish.processors = static_cast<std::uint32_t>(chance_.between(1, chance_.chance(0.2) ? 16 : 5));
  wish.nodes = chance_.chance(0.3) ? static_cast<std::uint32_t>(chance_.between(1, 3)) : 0;
  wish.memory = chance_.chance(0.3) ? chance_.between(1, 6) : 0;
  wish.limit = seconds(chance_.between(10, 900));
  wish.run_time = seconds(chance_.between(1, 1000));
  wish.priority = chance_.between(0, 3);
  wish.partition = any_partition();
  wish.gated = chance_.chance(0.6);
  wish.requeue = chance_.chance(0.4);
  return wish;
}

void World::happen() {
  const Instant now = loop_.now();
  cluster_.run_to(now);
  tally_.deaf += engine_ && !engine_->health() ? 1 : 0;
  if (!controller_ && back_at_ <= now) return rise();
  if (compares_at_ != kNever) {
    if (now >= compares_at_) compare();
  } else if (!healed_) {
    act();
  } else {
    tidy();
  }
}

void World::act() {
  if (loop_.now() >= at_seconds(kLasts)) return heal();
  const std::int64_t what = chance_.between(0, 28);
  const auto& jobs = cluster_.jobs();
  if (what < 8) {
    cluster_.submit(any_wish());
    ++tally_.jobs;
  } else if (what < 14 && !jobs.empty()) {
    act_on(std::next(jobs.begin(), chance_.between(0, static_cast<std::int64_t>(jobs.size()) - 1))->first);
  } else if (what < 17) {
    act_on_nodes();
  } else if (what == 17) {
    cluster_.restart(seconds(chance_.between(1, chance_.chance(0.2) ? 500 : 60)));
  } else if (what == 18) {
    if (controller_ && crash_in_ < 0) crash_in_ = chance_.between(0, 20);
  } else if (what == 19) {
    compact();
  } else if (what == 20) {
    cancel_here();
  } else if (what > 21) {
    if (controller_) users_.act(*engine_->queue_orders(), controller_->view());
  } else if (chance_.chance(0.3)) {  // nothing is done, and nothing goes wrong, for a while
    line_.set_faults({});
    crash_in_ = -1;
    tries_ = 0;
    compares_at_ = loop_.now() + kSettles;
  }
}

void World::compact() {
  if (!controller_) return;
  const std::vector<Fact> facts = controller_->snapshot();
  const auto done = kept_->store().compact([&](const FactTaker& take) {
    for (const Fact& fact : facts) take(store::ref_of(fact));
  });
  expect(done.has_value(), "the journal cannot be compacted");
}

// A user wants a job of ours stopped, and asks for it here.
void World::cancel_here() {
  if (!controller_ || controller_->view().running().empty()) return;
  std::vector<JobId> jobs;
  controller_->view().running().for_each([&](const RunningEntry& e) {
    if (controller_->view().job(e.job).ours()) jobs.push_back(e.job);
    return true;
  });
  if (jobs.empty()) return;
  const auto which = static_cast<std::size_t>(chance_.between(0, static_cast<std::int64_t>(jobs.size()) - 1));
  static_cast<void>(controller_->record(CancelAsked{jobs[which]}));
  static_cast<void>(controller_->decide());
}

void World::act_on(Number number) {
  const JobRow job = *cluster_.find(number);
  switch (chance_.between(0, 8)) {
    case 0:
      static_cast<void>(cluster_.cancel(number));
      return;
    case 1:
      static_cast<void>(cluster_.hold(number));
      return;
    case 2:
      static_cast<void>(cluster_.release(number));
      return;
    case 3:
      static_cast<void>(cluster_.requeue(number));
      return;
    case 4:
      static_cast<void>(cluster_.set_limit(number, seconds(chance_.between(1, 900))));
      return;
    case 5:
      static_cast<void>(cluster_.set_processors(number, static_cast<std::uint32_t>(chance_.between(1, 6))));
      return;
    case 6:
      static_cast<void>(cluster_.set_priority(number, chance_.between(0, 3)));
      return;
    case 7:
      return cluster_.gate(number, chance_.chance(0.5));
    default: {  // by hand, room or no room
      const Listing all = cluster_.listing();
      const auto node = static_cast<std::size_t>(chance_.between(0, static_cast<std::int64_t>(all.nodes.size()) - 1));
      static_cast<void>(cluster_.start(number, {{all.nodes[node].name, job.asks.processors}}, true));
      return;
    }
  }
}

void World::act_on_nodes() {
  const Listing all = cluster_.listing();
  const NodeRow& node =
      all.nodes[static_cast<std::size_t>(chance_.between(0, static_cast<std::int64_t>(all.nodes.size()) - 1))];
  const auto size = static_cast<std::uint32_t>(chance_.between(1, 8));
  switch (chance_.between(0, 8)) {
    case 0:
      if (all.nodes.size() < 8)
        cluster_.add_node({fmt::format("n{}", ++nodes_made_), size, 0, NodeState::up, any_partitions()});
      return;
    case 1:
      static_cast<void>(cluster_.rename_node(node.name, fmt::format("n{}", ++nodes_made_)));
      return;
    case 2:
      static_cast<void>(cluster_.resize_node(node.name, size, chance_.chance(0.5) ? 0 : chance_.between(1, 16)));
      return;
    case 3:
      if (all.nodes.size() > 1) static_cast<void>(cluster_.drop_node(node.name));
      return;
    case 4:
      static_cast<void>(cluster_.move_node(node.name, any_partitions()));
      return;
    case 5:
    case 6:
      static_cast<void>(cluster_.set_partition(any_partition(), chance_.chance(0.6)));
      return;
    default:
      static_cast<void>(cluster_.set_node(node.name, static_cast<NodeState>(chance_.between(0, 2))));
      return;
  }
}

void World::heal() {
  healed_ = true;
  crash_in_ = -1;
  line_.set_faults({});
  for (const NodeRow& node : cluster_.listing().nodes) static_cast<void>(cluster_.set_node(node.name, NodeState::up));
  for (const PartitionRow& row : cluster_.listing().partitions)
    static_cast<void>(cluster_.set_partition(row.name, true));
  tries_ = 0;
  compares_at_ = loop_.now() + kSettles;
}

// What could never end is let go of.
void World::tidy() {
  std::vector<JobRow> waiting;
  for (const auto& [number, job] : cluster_.jobs()) {
    if (job.state == State::waiting) waiting.push_back(job);
  }
  for (const JobRow& job : waiting) {
    static_cast<void>(cluster_.release(job.number));
    if (job.submitted + seconds(15'000) < loop_.now()) static_cast<void>(cluster_.cancel(job.number));
  }
}

void World::rise() {
  back_at_ = kNever;
  engine_ = std::make_unique<ForeignEngine>(line_, engines_, poll_);
  sim::RehearsalOptions options;
  options.processors = machine_.processors;
  options.machine = &machine_;
  ClusterOptions cluster = sim::cluster_options(options, chain_);
  cluster.confirms_starts = engine_->capabilities().confirms_starts;
  cluster.shared = engine_->capabilities().shared;
  controller_ = std::make_unique<Controller>(cluster, chain_, Ports{controllers_, *engine_, *this, this});
  const auto found = kept_->open({}, seed_ + 1000 * ++lives_);
  expect(found.has_value(), "the journal cannot be opened");
  if (found && *found) {
    const auto taken = kept_->store().replay([&](const Fact& fact) { return controller_->replay(fact); });
    expect(taken.has_value(), taken ? "" : taken.error().message);
    Replay again(cluster, chain_, Replay::Check::decides_again);
    const auto same = kept_->store().replay([&](const Fact& fact) { return again.fold(fact); });
    expect(same.has_value(), same ? "" : "the journal decided again: " + same.error().message);
  }
  controller_->add_observer(*this);
  controller_->set_answer_rules({.answer_within = engine_->capabilities().answers_within});
  const auto opened = engine_->open(*controller_, {.state = [this]() -> const View& { return controller_->view(); }});
  expect(opened.has_value(), "the engine cannot be opened");
  const auto resumed = controller_->resume();
  expect(resumed.has_value(), resumed ? "" : resumed.error().message);
}

void World::fall() {
  ++tally_.crashes;
  tally_.surveys += engine_->surveys();
  crash_in_ = -1;
  pending_.clear();
  kept_->crash();
  controller_.reset();
  engine_.reset();
  users_.lose_answers();
  engines_.leave();
  controllers_.leave();
  line_.wake();
  back_at_ = loop_.now() + seconds(chance_.between(0, chance_.chance(0.2) ? 600 : 60));
}

void World::may_crash() {
  if (crash_in_ < 0) return;
  if (crash_in_-- == 0) throw Crash{};
}

Result<void> World::commit() {
  may_crash();
  auto kept = kept_->store().commit();
  for (const Fact& fact : std::exchange(pending_, {})) account_.endured(fact);
  may_crash();
  return kept;
}

void World::fact_recorded(const View& before, const FactRef& fact) {
  const std::string line = store::fact_line(fact);
  for (const char c : line) hash_.mix(static_cast<std::uint64_t>(c));
  if (tells_) std::puts(line.c_str());
  tally_.overdrawn += before.nodes().overdrawn_count() > 0 ? 1 : 0;
  kept_->store().append(fact);
  std::visit([&](const auto* what) { pending_.push_back({fact.at, fact.sequence, *what, fact.late}); }, fact.what);
  may_crash();
}

// What is so lately may be on its way: it is looked at a few times.
void World::compare() {
  if (!controller_) {
    compares_at_ = loop_.now() + kSettles;
    return;
  }
  std::string differs = difference(cluster_.listing(), controller_->view());
  if (differs.empty()) differs = users_.waiting();
  if (const auto heard = engine_->health(); differs.empty() && !heard) differs = heard.error().message;
  if (differs.empty() || tries_ == 5) {
    expect(differs.empty(), differs);
    const auto breach = users_.breach(cluster_);
    expect(!breach, breach.value_or(""));
    ++tally_.compared;
    compares_at_ = kNever;
    if (!healed_) line_.set_faults(faults_);
    return;
  }
  ++tries_;
  compares_at_ = loop_.now() + seconds(61);
}

bool World::done() const {
  if (!healed_ || compares_at_ != kNever || !controller_ || cluster_.next() != kNever) return false;
  const View& view = controller_->view();
  return view.running().empty() && view.waiting().empty() && view.barred() == 0;
}

Verdict World::run() {
  if (tells_) std::printf("policy %s\n", chain_.text().c_str());
  Instant next = kEpoch;
  back_at_ = kEpoch;
  while (!failure_ && !done() && loop_.now() < at_seconds(kMost)) {
    const bool waits_for_itself = compares_at_ != kNever || healed_ || !controller_;
    if (next <= loop_.now())
      next = loop_.now() + (waits_for_itself ? seconds(10) : Duration{chance_.between(1, 90'000)});
    loop_.set(script_, std::min(next, std::max(back_at_, loop_.now())));
    try {
      loop_.step();
    } catch (const Crash&) {
      fall();
    }
    if (controller_ && !controller_->health()) failure_ = controller_->health().error().message;
    if (account_.breach()) failure_ = account_.breach();
  }
  if (!failure_) {
    account_.look_at_ends(cluster_);
    failure_ = account_.breach();
    if (!failure_) failure_ = users_.breach(cluster_);
    tally_.repeats = cluster_.repeats();
  }
  expect(done(), "it never ends");
  if (engine_) tally_.surveys += engine_->surveys();
  if (failure_)
    *failure_ += fmt::format(" (at {} ms, policy {})", loop_.now().time_since_epoch().count(), chain_.text());
  return {failure_, hash_.value(), tally_};
}

}  // namespace

void Tally::add(const Tally& o) {
  for (const auto field :
       {&Tally::jobs,      &Tally::found,   &Tally::started,  &Tally::launch_failed, &Tally::unknown,
        &Tally::never_met, &Tally::late,    &Tally::requeued, &Tally::described,     &Tally::overdrawn,
        &Tally::crashes,   &Tally::surveys, &Tally::compared, &Tally::promises,      &Tally::deaf,
        &Tally::orders,    &Tally::done,    &Tally::refused,  &Tally::unanswered,    &Tally::repeats,
        &Tally::verified})
    this->*field += o.*field;
}

std::string Tally::text() const {
  return fmt::format(
      "{} jobs: {} starts decided, {} failed, {} runs found, {} queued again, {} ends unknown, {} never met; {} "
      "promises; "
      "{} facts late, {} with overfilled nodes, {} nodes described; {} surveys, {} crashes, {} times nothing heard, {} "
      "times all equal; {} orders of users: {} done, {} refused, {} not answered, {} came again, {} looks at what they "
      "left",
      jobs, started, launch_failed, found, requeued, unknown, never_met, promises, late, overdrawn, described, surveys,
      crashes, deaf, compared, orders, done, refused, unanswered, repeats, verified);
}

Verdict run_seed(std::uint64_t seed, bool tells) {
  World world(seed, tells);
  return world.run();
}

}  // namespace rota::foreign

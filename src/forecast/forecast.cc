#include "forecast/forecast.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "engine/sim/rehearsal.h"

namespace rota::forecast {
namespace {

// With which a user's jobs share their luck: what fails, fails alike.
constexpr double kShared = 0.5;
constexpr std::int64_t kMostSteps = 1'000'000;  // of one future

class NullSink final : public JobSink {
 public:
  void job_gone(JobId /*id*/, const Job& /*job*/) override {}
};

// Notes when those asked for start.
class StartWatch final : public FactObserver {
 public:
  StartWatch(const std::vector<JobId>& jobs, std::vector<Instant>& starts) : starts_(starts) {
    starts_.assign(jobs.size(), kNever);
    for (std::size_t i = 0; i < jobs.size(); ++i) open_[jobs[i]] = i;
  }
  std::uint64_t wants() const override { return FactKinds::bit<Started>(); }
  void fact_recorded(const View& before, const FactRef& fact) override {
    const auto job = open_.find(std::get<const Started*>(fact.what)->job);
    if (job == open_.end()) return;
    starts_[job->second] = before.now();
    open_.erase(job);
  }
  std::size_t open() const { return open_.size(); }

 private:
  std::vector<Instant>& starts_;
  std::map<JobId, std::size_t> open_;  // that have not started, with their places
};

// Looks at the nodes from time to time.
class NodeWatch final : public Alarm {
 public:
  NodeWatch(const std::vector<Duration>& at, std::vector<Look>& looks, sim::VirtualLoop& loop)
      : at_(at), looks_(looks), loop_(loop), from_(loop.now()) {}
  void open(const View& view, const sim::SimEngine& engine) {
    view_ = &view;
    engine_ = &engine;
    next();
  }
  void ring() override {
    Look look;
    look.busy = view_->running().processors();
    look.waiting = static_cast<std::int64_t>(view_->waiting().size());
    for (std::uint32_t n = 0; n < view_->nodes().size(); ++n) {
      const PowerState state = view_->power().state(NodeId{n});
      if (state == PowerState::on || state == PowerState::booting) ++look.nodes_on;
    }
    if (engine_->meter().meters()) {
      const std::int64_t energy = engine_->meter().read(loop_.now()).energy;
      const std::int64_t time = std::max<std::int64_t>((loop_.now() - since_).count(), 1);
      look.milliwatts = (energy - energy_) * 1000 / time;
      energy_ = energy;
    }
    since_ = loop_.now();
    looks_.push_back(look);
    next();
  }
  bool over() const { return looks_.size() == at_.size(); }

 private:
  void next() {
    if (!over()) loop_.set(*this, from_ + at_[looks_.size()]);
  }

  const std::vector<Duration>& at_;
  std::vector<Look>& looks_;
  sim::VirtualLoop& loop_;
  const View* view_ = nullptr;
  const sim::SimEngine* engine_ = nullptr;
  Instant from_;
  Instant since_ = from_;
  std::int64_t energy_ = 0;  // millijoules until since
};

// It depends on these four alone, so that a future is the same whatever is asked about it.
double lot_of(std::uint64_t seed, std::uint64_t future, std::uint64_t of, std::uint64_t kind) {
  Hash hash;
  for (const std::uint64_t word : {seed, future, of, kind}) hash.mix(word);
  return Random(hash.value()).unit();
}

ClusterOptions cluster_of(const Present& present, const Chain& chain) {
  ClusterOptions options;
  options.processors = present.processors;
  options.machine = present.machine;
  options.limits = present.limits.get();
  options.shared = present.shared;
  options.use.shares = present.shares.get();
  chain.ask(options);
  return options;
}

const PastJobs& no_past_jobs() {
  static const PastJobs none;
  return none;
}

// What the simulated cluster needs no answers for is as good as done.
void settle(std::vector<Fact>& facts) {
  for (Fact& fact : facts) {
    if (auto* kept = std::get_if<JobKept>(&fact.what)) kept->row.starting = false;
  }
}

}  // namespace

// A simulated cluster in the middle of the state, and what watches it.
struct Forecast::World {
  World(const Forecast& of, std::uint64_t lots)
      : arrivals(of.arrivals_, Random(lots), of.present_.now + of.question_.horizon),
        loop(of.present_.now),
        engine(of.engine_options(), arrivals, loop),
        controller(cluster_of(of.present_, *of.present_.chain), *of.present_.chain, {loop, engine, null_sink}),
        starts(of.question_.jobs, future.starts),
        nodes(of.question_.looks, future.looks, loop) {}

  Future future;
  DrawnArrivals arrivals;
  sim::VirtualLoop loop;
  sim::SimEngine engine;
  NullSink null_sink;
  Controller controller;
  StartWatch starts;
  NodeWatch nodes;
  std::int64_t steps = 0;
};

Forecast::Forecast(Present present, const PastJobs& past, Question question)
    : present_(std::move(present)),
      question_(std::move(question)),
      arrivals_(question_.as_expected || question_.none_comes ? no_past_jobs() : past, present_.now) {
  settle(present_.facts);
  if (question_.as_expected) {
    take_at_its_word();
  } else {
    draw_from(past);
  }
}

void Forecast::take_at_its_word() {
  for (const Fact& fact : present_.facts) {
    const auto* kept = std::get_if<JobKept>(&fact.what);
    if (!kept || kept->row.gone()) continue;
    const Job& job = kept->row;
    const Duration left = job.state == JobState::running
                              ? job.start + job.stood_by(present_.now, kept->suspended_at) + job.expected - present_.now
                              : job.expected - job.done;
    known_.push_back({kept->job, job.spec.user, nullptr, std::max(left, seconds(1))});
  }
}

void Forecast::draw_from(const PastJobs& past) {
  const auto elapsed = [&](const JobKept& kept) {
    const Job& job = kept.row;
    const Duration stood = job.stood_by(present_.now, kept.suspended_at);
    return job.done + (job.state == JobState::running ? present_.now - job.start - stood : Duration{0});
  };
  std::map<std::uint32_t, std::vector<RunsYet>> run_yet;  // by user
  std::vector<RunsYet> all_that_run;
  for (const Fact& fact : present_.facts) {
    const auto* kept = std::get_if<JobKept>(&fact.what);
    if (!kept || kept->row.state != JobState::running) continue;
    all_that_run.push_back({kept->row.spec, elapsed(*kept)});
    run_yet[kept->row.spec.user].push_back(all_that_run.back());
  }
  for (auto& [user, jobs] : run_yet) std::ranges::sort(jobs, {}, &RunsYet::elapsed);
  using Alike = std::tuple<std::uint32_t, Duration, std::uint32_t>;
  std::map<Alike, std::shared_ptr<const RunTimes>> of_alike;  // jobs that have not begun
  std::map<Duration, std::vector<RunTimes::Point>> of_all;    // by limit
  for (const Fact& fact : present_.facts) {
    const auto* kept = std::get_if<JobKept>(&fact.what);
    if (!kept || kept->row.gone()) continue;
    const JobSpec& spec = kept->row.spec;
    const Duration has_run = elapsed(*kept);
    std::shared_ptr<const RunTimes> run_times;
    auto& alike = has_run == Duration{0} ? of_alike[{spec.user, spec.limit, spec.processors}] : run_times;
    if (!alike) {
      const auto [others, is_new] = of_all.try_emplace(spec.limit);
      if (is_new) others->second = RunTimes::of_all_users(past, all_that_run, spec.limit);
      alike = std::make_shared<const RunTimes>(RunTimes::of(past, run_yet[spec.user], others->second, spec, has_run));
    }
    known_.push_back({kept->job, spec.user, alike, Duration{0}});
  }
}

Duration Forecast::draw(const Known& job, std::uint64_t number) const {
  if (!job.run_times) return job.expected;
  const bool shares = lot_of(question_.seed, number, job.id.value, 1) < kShared;
  const std::uint64_t whose = shares ? job.user : job.id.value;
  return job.run_times->left(lot_of(question_.seed, number, whose, shares ? 2 : 3));
}

Forecast::~Forecast() = default;

// Nodes that an operator switches by hand come and go without a power rule too.
bool Forecast::switches() const {
  const auto switched = [](const Fact& fact) {
    const auto* kept = std::get_if<NodeKept>(&fact.what);
    return kept != nullptr && kept->power.state != PowerState::on;
  };
  return present_.chain->knobs().power.switches() || std::ranges::any_of(present_.facts, switched);
}

sim::EngineOptions Forecast::engine_options() const {
  const Machine* machine = present_.machine;
  const ChainKnobs& knobs = present_.chain->knobs();
  sim::EngineOptions how;
  how.checkpoint = knobs.checkpoint;
  how.metered = machine && (switches() || machine->tells_watts()) ? machine : nullptr;
  how.metered_from = present_.now;
  how.shared = present_.shared;
  return how;
}

Result<void> Forecast::begin() {
  const auto number = static_cast<std::uint64_t>(futures_.size());
  Hash lots;
  for (const std::uint64_t word : {question_.seed, number, std::uint64_t{4}}) lots.mix(word);
  world_ = std::make_unique<World>(*this, lots.value());
  World& world = *world_;
  for (const Fact& fact : present_.facts) {
    if (auto taken = world.controller.replay(fact); !taken) return taken;
  }
  if (present_.another_decided) world.controller.under_other_rules(true);
  for (const Known& job : known_) world.engine.take_over(job.id, draw(job, number));
  world.engine.open(world.controller);
  const View& view = world.controller.view();
  for (std::uint32_t n = 0; n < view.nodes().size(); ++n) {
    const NodePowerRow& row = view.power().row(NodeId{n});
    world.engine.take_over(NodeId{n}, row.state, row.until);
  }
  world.controller.add_observer(world.starts);
  world.nodes.open(view, world.engine);
  return world.controller.resume();
}

Result<void> Forecast::go_on(std::int64_t events) {
  if (!world_) {
    if (auto begun = begin(); !begun) return begun;
  }
  World& world = *world_;
  const Instant until = present_.now + question_.horizon;
  for (std::int64_t left = events; world.starts.open() > 0 || !world.nodes.over(); --left) {
    if (left == 0) return {};
    // What comes in one leap behind the horizon is no part of the future either.
    if (world.loop.next() > until || ++world.steps > kMostSteps || !world.loop.step()) break;
    if (!world.engine.health()) return world.engine.health();
    if (!world.controller.health()) return world.controller.health();
  }
  world.future.looks.resize(question_.looks.size());
  futures_.push_back(std::move(world.future));
  world_.reset();
  return {};
}

Result<void> Forecast::rehearse_one() {
  for (const std::size_t before = futures_.size(); futures_.size() == before;) {
    if (auto done = go_on(kMostSteps); !done) return done;
  }
  return {};
}

std::vector<Instant> Forecast::starts_of(std::size_t job) const {
  std::vector<Instant> starts;
  starts.reserve(futures_.size());
  for (const Future& future : futures_) starts.push_back(future.starts[job]);
  std::ranges::sort(starts);
  return starts;
}

std::vector<Instant> Forecast::starts_so_far() const { return world_ ? world_->future.starts : std::vector<Instant>(); }

Instant by_limits(const Present& present, JobId job) {
  auto chain = Chain::parse("conservative");
  if (!chain) return kNever;
  Cluster cluster(cluster_of(present, *chain));
  for (const Fact& fact : present.facts) {
    if (const auto* kept = std::get_if<JobKept>(&fact.what); kept && kept->row.expected != kept->row.spec.limit) {
      JobKept at_its_word = *kept;
      at_its_word.row.expected = std::max(kept->row.expected, kept->row.spec.limit - kept->row.done);
      cluster.fold(Fact{fact.at, fact.sequence, std::move(at_its_word)});
    } else {
      cluster.fold(fact);
    }
  }
  cluster.open_cycle(std::max(present.now, cluster.now()));
  Plan plan;
  plan.open(cluster);
  chain->decide(cluster, plan);
  if (plan.starts(job)) return cluster.now();
  for (const Promise& promise : plan.promises()) {
    if (promise.job == job) return promise.start;
  }
  return cluster.job(job).promise;
}

}  // namespace rota::forecast

#include "serve/policy_rehearsal.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "engine/sim/rehearsal.h"

namespace rota::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Duration kHorizon = seconds(28 * 86'400LL);
constexpr std::chrono::milliseconds kPatience{1500};  // of one policy; nobody is answered meanwhile
constexpr int kLook = 64;                             // at the clock, after so many steps

class Nobody final : public sim::Source {
 public:
  bool next(sim::Arrival& /*arrival*/) override { return false; }
};

class NoSink final : public JobSink {
 public:
  void left(JobId /*id*/, const Job& /*job*/) override {}
};

// The first start of each job that waits.
class Starts final : public FactObserver {
 public:
  explicit Starts(std::map<JobId, Instant> waiting) : starts_(std::move(waiting)), open_(starts_.size()) {}
  std::uint64_t wants() const override { return FactKinds::bit<Started>(); }
  void saw(const View& before, const FactRef& fact) override {
    const auto found = starts_.find(std::get<const Started*>(fact.what)->job);
    if (found == starts_.end() || found->second != kNever) return;
    found->second = before.now();
    --open_;
  }
  std::size_t open() const { return open_; }
  const std::map<JobId, Instant>& all() const { return starts_; }

 private:
  std::map<JobId, Instant> starts_;
  std::size_t open_;
};

struct JobLeft {
  JobId id;
  Duration run_time;
};

struct World {
  std::vector<Fact> facts;  // of a cluster that confirms nothing
  std::vector<JobLeft> jobs;
  std::map<JobId, Instant> waiting;
};

World world_of(const RehearsedState& state) {
  World world{state.facts, {}, {}};
  for (Fact& fact : world.facts) {
    auto* kept = std::get_if<JobKept>(&fact.what);
    if (kept == nullptr || kept->row.gone()) continue;
    Job& job = kept->row;
    job.starting = false;
    const bool runs = job.state == JobState::running;
    const Instant starts = job.start + job.stood_by(state.now, kept->suspended_at);  // as if it had never stood still
    const Duration left = runs ? starts + job.expected - state.now : job.expected - job.done;
    world.jobs.push_back({kept->job, std::max(left, seconds(1))});
    if (!runs && (job.bars & (kHolds | kNeverAgain)) == 0) world.waiting.emplace(kept->job, kNever);
  }
  return world;
}

// False: cut off.
Result<bool> rehearse(const RehearsedState& state, const World& world, const Chain& chain, Starts& starts) {
  sim::VirtualLoop loop(state.now);
  Nobody nobody;
  NoSink sink;
  const Machine* const machine = state.options.machine;
  sim::EngineOptions how;
  how.checkpoint = chain.knobs().checkpoint;
  how.metered = machine != nullptr && chain.knobs().power.rule != Power::none ? machine : nullptr;
  how.metered_from = state.now;
  sim::SimEngine engine(how, nobody, loop);
  ClusterOptions options = state.options;
  options.confirms_starts = false;
  chain.ask(options);
  Controller controller(options, chain, {loop, engine, sink});
  for (const Fact& fact : world.facts) {
    if (auto taken = controller.replay(fact); !taken) return std::unexpected(taken.error());
  }
  for (const JobLeft& job : world.jobs) engine.take_over(job.id, job.run_time);
  engine.open(controller);
  for (std::uint32_t n = 0; n < controller.view().nodes().size(); ++n) {
    const NodePowerRow& row = controller.view().power().row(NodeId{n});
    engine.take_over(NodeId{n}, row.state, row.until);
  }
  controller.add_observer(starts);
  if (auto resumed = controller.resume(); !resumed) return std::unexpected(resumed.error());
  const Clock::time_point late = Clock::now() + kPatience;
  for (int step = 1; starts.open() > 0 && loop.now() <= state.now + kHorizon && loop.step(); ++step) {
    if (!engine.failure()) return std::unexpected(engine.failure().error());
    if (!controller.failure()) return std::unexpected(controller.failure().error());
    if (step % kLook == 0 && Clock::now() > late) return false;
  }
  return true;
}

}  // namespace

Result<PolicyRehearsal> rehearse_policies(const RehearsedState& state, const Chain& present, const Chain& proposed) {
  const World world = world_of(state);
  PolicyRehearsal out;
  out.waiting = static_cast<std::int64_t>(world.waiting.size());
  out.present.policy = present.text();
  out.proposed.policy = proposed.text();
  Starts before(world.waiting);
  Starts after(world.waiting);
  for (const auto& [chain, starts] : {std::pair{&present, &before}, std::pair{&proposed, &after}}) {
    const auto whole = rehearse(state, world, *chain, *starts);
    if (!whole) return std::unexpected(whole.error());
    out.cut = out.cut || !*whole;
  }
  Duration sum_before{0};
  Duration sum_after{0};
  std::int64_t both = 0;
  for (auto a = before.all().begin(), b = after.all().begin(); a != before.all().end(); ++a, ++b) {
    out.present.started += a->second != kNever;
    out.proposed.started += b->second != kNever;
    if (a->second != b->second) out.changes.push_back({a->first, a->second, b->second});
    if (a->second == kNever || b->second == kNever) continue;
    ++both;
    sum_before += a->second - state.now;
    sum_after += b->second - state.now;
  }
  if (both > 0) {
    out.present.mean_wait = sum_before / both;
    out.proposed.mean_wait = sum_after / both;
  }
  std::ranges::stable_sort(out.changes, {},
                           [](const PolicyRehearsal::Change& c) { return std::min(c.present, c.proposed); });
  return out;
}

}  // namespace rota::serve

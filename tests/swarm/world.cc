#include "swarm/world.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace rota::swarm {
namespace {

constexpr std::int64_t kMostSteps = 20'000;
constexpr std::int64_t kMostTime = 400'000;  // seconds, all in all
constexpr std::int64_t kRetry = 30;          // seconds until it is tried again

sim::EngineOptions engine_options(const Case& drawn, const Chain& chain) {
  sim::EngineOptions options;
  options.checkpoint = chain.knobs().checkpoint;
  if (!drawn.counted) options.metered = &drawn.machine;
  options.faults = drawn.engine;
  options.ties = drawn.ties;
  options.confirms_starts = drawn.confirms_starts;
  options.moves = chain.knobs().migrate.how != Migration::none;
  return options;
}

// At times it starts everything that waits.
class BadLink final : public Policy {
 public:
  explicit BadLink(const Case& drawn) : drawn_(drawn) {}
  void decide(const View& view, Plan& plan) const override {
    if (!view.nodes().counted() || !is_bad_at(drawn_, view.now())) return;
    view.for_each_job([&](JobId id, const Job& job) {
      if (job.state == JobState::waiting && !plan.starts(id)) plan.start(id, {}, false);
    });
  }

 private:
  const Case& drawn_;
};

Chain chain_of(const Case& drawn) {
  Chain chain = std::move(*Chain::parse(drawn.policy));
  if (!drawn.bad_policies.empty()) chain.append(std::make_unique<BadLink>(drawn));
  return chain;
}

}  // namespace

World::World(const Case& drawn, sim::VirtualLoop& loop)
    : drawn_(drawn),
      chain_(chain_of(drawn)),
      loop_(loop),
      safety_(drawn),
      engine_(engine_options(drawn, chain_), nothing_, loop_),
      link_(engine_, loop_, drawn.link, drawn.seed ^ 0x5eedU),
      site_(drawn, chain_, safety_, loop_) {
  site_.wire(link_, engine_);
}

void World::plan() {
  const auto at = [&](std::int64_t when, Kind kind, std::size_t which) {
    script_.emplace(at_seconds(when), Due{kind, which});
  };
  for (std::size_t i = 0; i < drawn_.jobs.size(); ++i)
    script_.emplace(drawn_.jobs[i].spec.submit, Due{Kind::submit, i});
  for (std::size_t i = 0; i < drawn_.acts.size(); ++i) at(drawn_.acts[i].at, Kind::act, i);
  for (std::size_t i = 0; i < drawn_.troubles.size(); ++i) at(drawn_.troubles[i].at, Kind::trouble, i);
  for (std::size_t i = 0; i < drawn_.jumps.size(); ++i) at(drawn_.jumps[i].at, Kind::jump, i);
  for (std::size_t i = 0; i < drawn_.compactions.size(); ++i) at(drawn_.compactions[i], Kind::compact, i);
  for (std::size_t i = 0; i < drawn_.licences.size(); ++i) at(drawn_.licences[i].at, Kind::licences, i);
  for (std::size_t i = 0; i < drawn_.reservations.size(); ++i) at(drawn_.reservations[i].at, Kind::reserve, i);
  for (const std::int64_t when : drawn_.looks) at(when, Kind::look, 0);
  at(drawn_.heals_at, Kind::heal, 0);
  loop_.set(*this, script_.begin()->first);
}

void World::ring() {
  if (!site_.up() && site_.back_at() <= loop_.now() && !site_.failure()) site_.rise();
  while (!script_.empty() && script_.begin()->first <= loop_.now()) {
    const Due due = script_.begin()->second;
    script_.erase(script_.begin());
    carry_out(due);
  }
}

void World::carry_out(const Due& due) {
  switch (due.kind) {
    case Kind::submit:
      if (safety_.id_of(drawn_.jobs[due.which].spec.number).valid()) return;  // it had come through
      submit(drawn_.jobs[due.which]);
      if (!safety_.id_of(drawn_.jobs[due.which].spec.number).valid()) again(due);
      return;
    case Kind::act:
      return act(drawn_.acts[due.which]);
    case Kind::trouble:
      return trouble(drawn_.troubles[due.which]);
    case Kind::jump:
      return site_.jump(seconds(drawn_.jumps[due.which].by));
    case Kind::compact:
      return site_.compact();
    case Kind::licences:
      return count_licences(drawn_.licences[due.which].elsewhere);
    case Kind::reserve:
      return reserve(due);
    case Kind::take_back:
      return take_back(due);
    case Kind::look:
      return operator_looks();
    case Kind::heal:
      return heal();
    case Kind::tidy:
      tidy();
      return again(due);
  }
}

std::vector<Dependency> World::dependencies(const CaseJob& job) const {
  std::vector<Dependency> after;
  for (const auto& [number, when] : job.after) {
    const JobId on = safety_.id_of(number);
    if (!on.valid() || safety_.ended(on)) continue;
    const auto same = [&](const Dependency& d) { return d.on == on; };
    if (std::none_of(after.begin(), after.end(), same)) after.push_back({on, when});
  }
  return after;
}

void World::submit(const CaseJob& job) {
  site_.attempt([&](Controller& controller) -> Result<void> {
    const JobId expected = controller.view().next_job();
    JobSpec spec = job.spec;
    spec.submit = site_.clock();
    if (spec.node_wish && spec.node_wish->reservation.valid() &&
        !(spec.node_wish->reservation < controller.view().reservations().next_id()))
      run_within(spec, {});  // it is not made yet
    const std::vector<Dependency> after = dependencies(job);
    safety_.submits(spec.number, expected, after);
    engine_.will_run(expected, job.run_time);
    if (!job.has_terms) {
      controller.submit(spec);
      return controller.decide();
    }
    const JobTerms terms{spec.limit, spec.priority, spec.partition, at_seconds(job.begin),
                         after,      false,         job.array,      job.throttle};
    TRY(controller.submit(spec, terms, job.holds));
    return controller.decide();
  });
}

void World::again(const Due& due) { script_.emplace(loop_.now() + seconds(kRetry), due); }

Result<void> World::decided(const Observed& fact, bool& taken) {
  taken = site_.controller().record(fact).has_value();
  return site_.controller().decide();
}

void World::act(const UserAct& act) {
  const JobId id = safety_.id_of(act.job);
  if (!site_.up() || !id.valid() || !site_.controller().view().knows(id)) return;
  const Job job = site_.controller().view().job(id);
  const bool waits = job.state == JobState::waiting || job.state == JobState::barred;
  bool taken = false;
  const auto say = [&](const Observed& fact) {
    return site_.attempt([&](Controller&) { return decided(fact, taken); }) && taken;
  };
  switch (act.kind) {
    case UserAct::Kind::hold:
      if (say(Held{id, kHeldByUser})) safety_.held(act.job);
      return;
    case UserAct::Kind::release:
      safety_.may_run(act.job);
      say(Released{id, kHolds});
      return;
    case UserAct::Kind::amend:
      if (waits) amend(act, id, job);
      return;
    case UserAct::Kind::cancel:
      if (job.state == JobState::running) say(CancelAsked{id});
      if (waits) say(Cancelled{id});
      return;
    case UserAct::Kind::suspend:
      if (job.settled() && !job.suspended()) say(Suspended{id, act.priority > 0 ? kHeldByOperator : kHeldByUser});
      return;
    case UserAct::Kind::resume:
      if (job.suspended() && job.settled()) say(Resumed{id, job.suspended_by});
      return;
    case UserAct::Kind::limit:
      if (job.settled()) say(LimitChanged{id, seconds(act.limit)});
      return;
  }
}

void World::amend(const UserAct& act, JobId id, const Job& job) {
  const JobTerms* own = site_.controller().view().eligibility().terms(id);
  JobTerms terms = own ? *own : JobTerms{job.spec.limit, job.spec.priority, job.spec.partition};
  terms.limit = seconds(act.limit);
  terms.priority = act.priority;
  terms.begin = at_seconds(act.begin);
  if (terms.array != 0 && act.throttle != 0) {
    terms.throttle = act.throttle;
    safety_.amends_throttle(terms.array, act.throttle);
  }
  safety_.amends(act.job, terms.begin);
  bool taken = false;
  const bool done = site_.attempt([&](Controller&) { return decided(Amended{id, terms}, taken); });
  if (done && taken) safety_.amended(act.job, terms.begin);
}

// As the command that counts them reports, again and again.
void World::count_licences(std::int64_t elsewhere) {
  bool taken = false;
  if (!site_.up() || site_.controller().view().licences_elsewhere(LicenceId{0}) == elsewhere) return;
  site_.attempt([&](Controller&) { return decided(LicencesCounted{LicenceId{0}, elsewhere}, taken); });
}

// Asked for until it is made for good, or refused.
void World::reserve(const Due& due) {
  const Bookings& bookings = safety_.bookings();
  if (!bookings.made(due.which)) {
    const bool answered = site_.attempt(
        [&](Controller& controller) { return ask_for(drawn_.reservations[due.which], due.which, controller); });
    if (!answered) return again(due);
    if (!bookings.made(due.which)) return;
  }
  const std::int64_t kept = drawn_.reservations[due.which].kept;
  if (kept > 0) script_.emplace(loop_.now() + seconds(kept), Due{Kind::take_back, due.which});
}

// Refused is what has no room, and what the policy does not keep.
Result<void> World::ask_for(const CaseReservation& wanted, std::size_t which, const Controller& controller) {
  Bookings& bookings = safety_.bookings();
  const Instant now = std::max(site_.clock(), controller.view().now());
  Reservation r{controller.view().reservations().next_id(), now + seconds(wanted.ahead), kNever, wanted.nodes,
                wanted.processors};
  r.until = r.from + seconds(wanted.length);
  const bool can_be = chain_.keeps_reservations().has_value() && bookings.has_room(r, now);
  bookings.asks(r.id, which);
  bool made = false;
  auto done = decided(Reserved{r.id, r.from, r.until, r.nodes, r.processors}, made);
  safety_.expect(made == can_be, made ? "what is reserved already is reserved again" : "a reservation is refused");
  refused_reservations_ += made ? 0 : 1;
  return done;
}

// It may be over by then.
void World::take_back(const Due& due) {
  const ReservationId id = safety_.bookings().id_of(due.which);
  if (!site_.up()) return again(due);
  bool taken = false;
  const bool stands = safety_.bookings().find(id, std::max(site_.clock(), site_.controller().view().now())) != nullptr;
  const bool up = site_.attempt([&](Controller&) { return decided(Unreserved{id}, taken); });
  if (!up) return again(due);
  safety_.expect(taken || !stands, "a reservation is not given back");
}

void World::operator_looks() {
  site_.attempt([](Controller& controller) {
    controller.leave_plain_mode();
    return controller.decide();
  });
}

void World::trouble(const NodeTrouble& trouble) {
  switch (trouble.kind) {
    case NodeTrouble::Kind::dies:
      return engine_.node_dies(trouble.node);
    case NodeTrouble::Kind::drains:
      return engine_.node_drains(trouble.node);
    case NodeTrouble::Kind::recovers:
      return engine_.node_recovers(trouble.node);
  }
}

// Nothing goes wrong from here on. Where the store could fail, the controller comes back with one that works; elsewhere
// it has to find its way without that.
void World::heal() {
  healed_ = true;
  engine_.heal();
  link_.heal();
  site_.heal();
  for (std::uint32_t i = 0; !drawn_.counted && i < drawn_.machine.nodes.size(); ++i) engine_.node_recovers(NodeId{i});
  if (site_.up() && drawn_.store.commit_fails > 0) site_.fall(0);
  script_.emplace(loop_.now() + seconds(kRetry), Due{Kind::tidy, 0});
}

// Users and operators let go of what is held, and take back what can never run.
void World::tidy() {
  if (!drawn_.licences.empty()) count_licences(0);
  if (!drawn_.bad_policies.empty()) operator_looks();
  if (!site_.up()) return;
  std::vector<std::pair<JobId, Bars>> barred;
  std::vector<std::pair<JobId, Bars>> suspended;
  site_.controller().view().for_each_job([&](JobId id, const Job& job) {
    if (job.state == JobState::barred) barred.emplace_back(id, job.bars);
    if (job.suspended() && job.settled()) suspended.emplace_back(id, job.suspended_by);
  });
  for (const auto& [id, by] : suspended) {
    bool taken = false;
    site_.attempt([&](Controller&) { return decided(Resumed{id, by}, taken); });
  }
  for (const auto& [id, bars] : barred) {
    bool taken = false;
    if ((bars & kHolds) != 0) {
      safety_.may_run(site_.controller().view().job(id).spec.number);
      site_.attempt([&](Controller&) { return decided(Released{id, kHolds}, taken); });
    } else if ((bars & kNeverAgain) != 0) {
      site_.attempt([&](Controller&) { return decided(Cancelled{id}, taken); });
    }
  }
}

bool World::done() const {
  if (!healed_ || !site_.up() || !safety_.all_ended() || !link_.idle()) return false;
  const auto runs = [](const auto& row) { return row.second.runs; };
  const auto& all = engine_.ledger()->all();
  return std::none_of(all.begin(), all.end(), runs) && what_is_left().empty();
}

std::string World::what_is_left() const {
  const View& view = const_cast<Site&>(site_).controller().view();
  std::string left;
  if (!view.running().empty()) left += fmt::format(" {} running jobs", view.running().size());
  if (!view.waiting().empty()) left += fmt::format(" {} waiting jobs", view.waiting().size());
  if (view.barred() > 0) left += fmt::format(" {} barred jobs", view.barred());
  if (!view.leaving().empty()) left += " jobs that leave";
  if (!view.promised().empty()) left += " promises";
  if (!view.eligibility().empty()) left += " terms";
  if (!view.reservations().empty()) left += " reservations";
  if (view.plain()) left += " the plain mode";
  const NodePower& power = view.power();
  if (power.count(PowerState::booting) > 0) left += " booting nodes";
  if (power.count(PowerState::shutting_down) > 0) left += " nodes that shut down";
  for (std::uint32_t i = 0; i < view.nodes().size(); ++i) {
    if (power.health(NodeId{i}) != Health::up) left += " a node that is not up";
  }
  return left;
}

void World::begin() {
  engine_.open(link_);
  plan();
  site_.rise();
}

void World::wake_in_time() {
  if (!script_.empty()) loop_.set(*this, script_.begin()->first);
  if (!site_.up())
    loop_.set(*this, script_.empty() ? site_.back_at() : std::min(site_.back_at(), script_.begin()->first));
}

void World::look() {
  if (!failure_ && !engine_.health()) failure_ = engine_.health().error().message;
  safety_.look(*engine_.ledger(), drawn_.machine.processors);
  if (site_.up()) look_at_reservations();
  if (site_.failure()) failure_ = site_.failure();
  if (safety_.breach()) failure_ = safety_.breach();
}

// All that stand are known, and the controller does not sleep when one begins or ends.
void World::look_at_reservations() {
  const View& view = site_.controller().view();
  const std::string differs = safety_.bookings().difference(view);
  safety_.expect(differs.empty(), differs);
  const bool wakes = site_.wakes_at() <= safety_.bookings().next_change(view.now());
  safety_.expect(wakes, "the controller sleeps when a reservation begins or ends");
}

void World::look_back() {
  if (site_.up()) site_.decide_again();
  look();
}

std::string World::what_is_missing() const {
  return fmt::format("jobs{}; left are{}", safety_.missing(), site_.up() ? what_is_left() : " no controller");
}

void World::take_stock(RunOutcome& outcome) {
  if (site_.up()) site_.take_stock();
  Hash hash;
  hash.mix(outcome.hash);
  hash.mix(site_.hash());
  outcome.hash = hash.value();
  Counts counts;
  counts.site = site_.totals();
  counts.site.refused_reservations = refused_reservations_;
  counts.link = link_.counts();
  counts.engine = engine_.fault_counts();
  counts.ledger = engine_.ledger()->commands().counts();
  counts.jobs = static_cast<std::int64_t>(drawn_.jobs.size());
  outcome.counts.add(counts);
}

bool steps(sim::VirtualLoop& loop, RunOutcome& outcome, std::int64_t most) {
  return ++outcome.counts.steps <= most && loop.now() <= at_seconds(kMostTime) && loop.step();
}

std::string when(const sim::VirtualLoop& loop, const RunOutcome& outcome) {
  return fmt::format(" (at {} ms, after {} steps)", loop.now().time_since_epoch().count(), outcome.counts.steps);
}

RunOutcome run_case(const Case& drawn) {
  sim::VirtualLoop loop;
  World world(drawn, loop);
  world.begin();
  RunOutcome outcome;
  while (!world.done() && !world.failure()) {
    world.wake_in_time();
    if (!steps(loop, outcome, kMostSteps)) {
      outcome.failure = fmt::format("it never ends: {}{}", world.what_is_missing(), when(loop, outcome));
      break;
    }
    world.look();
  }
  if (!world.failure()) world.look_back();
  if (world.failure()) outcome.failure = *world.failure() + when(loop, outcome);
  world.take_stock(outcome);
  return outcome;
}

}  // namespace rota::swarm

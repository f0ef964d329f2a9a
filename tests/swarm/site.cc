#include "swarm/site.h"

#include <fmt/core.h>

#include <cstdio>
#include <utility>

#include "engine/sim/rehearsal.h"
#include "model/snapshot.h"
#include "store/fact_json.h"

namespace rota::swarm {
namespace {

Fact copy_of(const FactRef& ref) {
  return std::visit([&](const auto* what) { return Fact{ref.at, ref.sequence, *what, ref.late}; }, ref.what);
}

}  // namespace

Site::Site(const Case& drawn, const Chain& chain, Safety& safety, sim::VirtualLoop& loop)
    : drawn_(drawn),
      chain_(chain),
      safety_(safety),
      loop_(loop),
      kept_(drawn.sqlite ? kept_in_sqlite() : kept_in_memory()) {}

void Site::wire(sim::FaultyLink& link, const sim::SimEngine& engine) {
  link_ = &link;
  engine_ = &engine;
}

ClusterOptions Site::cluster_options() const {
  sim::RehearsalOptions options;
  options.processors = drawn_.machine.processors;
  options.machine = drawn_.counted ? nullptr : &drawn_.machine;
  ClusterOptions cluster = sim::cluster_options(options, chain_);
  cluster.confirms_starts = drawn_.confirms_starts;
  return cluster;
}

void Site::rise() {
  back_at_ = kNever;
  const store::StoreFaults faults = healed_ ? store::StoreFaults{} : drawn_.store;
  const std::uint64_t seed = drawn_.seed + 1000 * ++lives_;
  const auto breach = drawn_.bad_policies.empty() ? Controller::Breach::ends_the_run : Controller::Breach::goes_plain;
  controller_ = std::make_unique<Controller>(cluster_options(), chain_, Ports{*this, *this, *this, this}, breach);
  const auto found = kept_->open(faults, seed);
  if (!found) return broken(found.error());
  if (*found) {
    ++totals_.recoveries;
    if (auto replayed = replay(); !replayed) return broken(replayed.error());
  }
  commit_failed_ = false;
  controller_->add_observer(*this);
  controller_->set_answer_rules(drawn_.answers);
  link_->connect(this);
  if (companion_) companion_->rises();
  if (attempt([](Controller& controller) { return controller.resume(); }) && companion_) companion_->acts();
}

Result<void> Site::replay() {
  const auto taken = kept_->store().replay([&](const Fact& fact) {
    ++totals_.replayed;
    return controller_->replay(fact);
  });
  if (!taken) return taken;
  decide_again();
  settle_pending(controller_->view().sequence());
  safety_.recovered();
  for (const auto& [number, id] : safety_.ids()) {
    const bool there = controller_->view().knows(id) || safety_.ended(id);
    safety_.expect(there, fmt::format("job {} was acknowledged and is lost", number));
  }
  const std::string booked = safety_.bookings().difference(controller_->view());
  safety_.expect(booked.empty(), "after a crash " + booked);
  const std::string differs = as_it_was_.empty() ? "" : difference(as_it_was_);
  safety_.expect(differs.empty(), "what was recovered is not the state that crashed: " + differs);
  as_it_was_.clear();
  return {};
}

// A replay that has nothing but the journal comes to the decisions that it tells of.
void Site::decide_again() {
  Replay again(cluster_options(), chain_, Replay::Check::decides_again);
  const auto same = kept_->store().replay([&](const Fact& fact) { return again.fold(fact); });
  totals_.decided_again += again.decisions();
  safety_.expect(same.has_value(), same ? "" : "the journal decided again: " + same.error().message);
}

// The first fact in which they differ, as it was and as it is; empty: they do not.
std::string Site::difference(const std::vector<Fact>& as_it_was) const {
  Cluster then(cluster_options());
  for (const Fact& fact : controller_->snapshot()) then.fold(fact);
  then.advance(as_it_was.front().at);  // that time has passed is no fact
  const std::vector<Fact> as_it_is = Snapshot::facts_of(then);
  for (std::size_t i = 0; i < std::max(as_it_was.size(), as_it_is.size()); ++i) {
    const std::string was = i < as_it_was.size() ? store::fact_line(store::ref_of(as_it_was[i])) : "nothing";
    const std::string is = i < as_it_is.size() ? store::fact_line(store::ref_of(as_it_is[i])) : "nothing";
    if (was != is) return fmt::format("it was {} and is {}", was, is);
  }
  return {};
}

void Site::fall(std::int64_t away) {
  ++totals_.crashes;
  kept_->crash();
  take_stock();
  link_->connect(nullptr);
  if (companion_) companion_->falls();
  controller_.reset();
  alarm_ = nullptr;
  back_at_ = loop_.now() + seconds(away);
}

void Site::take_stock() {
  totals_.failed_commits += kept_->counts().failed_commits;
  totals_.torn += kept_->counts().torn;
  totals_.lost_tails += kept_->counts().lost;
  totals_.resent += controller_->resent();
  totals_.refused += controller_->refusals();
}

// A store that fails ends the controller, as it ends a process; anything else is a defect.
void Site::broken(const Error& error) {
  if (commit_failed_) return fall(60);
  if (!failure_) failure_ = error.message;
}

// Only a policy that is bad on purpose has its plans refused.
void Site::refused(const View& view, const Error& why) {
  if (!why.message.starts_with("the referee refuses")) return;
  ++totals_.refused_plans;
  safety_.expect(is_bad_at(drawn_, view.now()), why.message);
}

void Site::count(CrashPoint::Where where) {
  const std::int64_t count = ++counted_[static_cast<std::size_t>(where)];
  if (healed_) return;
  for (const CrashPoint& point : drawn_.crashes) {
    if (point.where != where || point.count != count) continue;
    totals_.crashes_in_batch += where == CrashPoint::Where::dispatch ? 1 : 0;
    totals_.after_commit += where == CrashPoint::Where::after_commit ? 1 : 0;
    throw Crash{point.away};
  }
}

// When a dispatch was decided. What never began is over by being queued again, and has not come to an end.
void Site::look_at_run(const View& before, const FactRef& fact) {
  const auto began = [&](JobId id) {
    const auto row = engine_->ledger()->all().find(id);
    return row != engine_->ledger()->all().end() && row->second.dispatch == before.job(id).dispatch;
  };
  if (const auto* const* started = std::get_if<const Started*>(&fact.what)) {
    const JobId id = (*started)->job;
    safety_.bookings().decided(id, fact.at, before.job(id).spec);
  } else if (const auto* const* leaving = std::get_if<const Preempted*>(&fact.what)) {
    safety_.bookings().leaves((*leaving)->job, (*leaving)->until);
  } else if (const auto* const* finished = std::get_if<const Finished*>(&fact.what)) {
    const JobId id = (*finished)->job;
    safety_.expect(began(id), fmt::format("job {} has ended, and never began", before.job(id).spec.number));
  } else if (const auto* const* requeued = std::get_if<const Requeued*>(&fact.what)) {
    totals_.never_began += began((*requeued)->job) ? 0 : 1;
  } else if (const auto* const* vacated = std::get_if<const Vacated*>(&fact.what)) {
    totals_.never_began += began((*vacated)->job) ? 0 : 1;
  } else {
    totals_.reservations += std::holds_alternative<const Reserved*>(fact.what) ? 1 : 0;
    totals_.taken_back += std::holds_alternative<const Unreserved*>(fact.what) ? 1 : 0;
  }
}

void Site::fact_recorded(const View& before, const FactRef& fact) {
  ++totals_.facts;
  look_at_run(before, fact);
  if (drawn_.tells) std::puts(store::fact_line(fact).c_str());
  encoder_.clear();
  encoder_.append(fact);
  for (const std::byte b : encoder_.bytes()) hash_.mix(std::to_integer<std::uint64_t>(b));
  kept_->store().append(fact);
  pending_.push_back(copy_of(fact));
  count(CrashPoint::Where::record);
}

Result<void> Site::keep() {
  count(CrashPoint::Where::before_commit);
  if (auto kept = kept_->store().commit(); !kept) {
    commit_failed_ = true;
    return kept;
  }
  settle_pending(UINT64_MAX);
  as_it_was_ = controller_->snapshot();
  count(CrashPoint::Where::after_commit);
  as_it_was_.clear();
  return {};
}

void Site::settle_pending(std::uint64_t sequence) {
  for (const Fact& fact : pending_) {
    if (fact.sequence > sequence) continue;
    if (companion_) companion_->endured(fact);
    safety_.endured(fact);
  }
  pending_.clear();
}

void Site::dispatch(const Command& command) {
  count(CrashPoint::Where::dispatch);
  totals_.moves += command.kind == Command::Kind::migrate ? 1 : 0;
  safety_.bookings().expects(command);
  hash_.mix(command.key);
  hash_.mix(std::uint64_t{command.job.value} << 8U | static_cast<std::uint64_t>(command.kind));
  if (command.kind == Command::Kind::start) {
    const Instant at = std::max(now(), controller_->view().now());
    totals_.starts_within += safety_.bookings().within_any(command, at) ? 1 : 0;
    totals_.starts_beside += safety_.bookings().beside_any(command, at) ? 1 : 0;
    safety_.issued(command, at, *engine_->ledger());
  }
  outlet().dispatch(command);
}

void Site::compact() {
  if (!controller_ || failure_) return;
  const std::vector<Fact> facts = controller_->snapshot();
  attempt([&](Controller& /*controller*/) -> Result<void> {
    auto done = kept_->store().compact([&](const FactTaker& take) {
      for (const Fact& fact : facts) take(store::ref_of(fact));
    });
    if (!done) {
      commit_failed_ = true;
      return done;
    }
    ++totals_.compactions;
    count(CrashPoint::Where::compact);
    return {};
  });
}

Result<void> Site::record(const Observed& fact, Instant happened) {
  attempt([&](Controller& controller) -> Result<void> {
    static_cast<void>(controller.record(fact, happened));
    return {};
  });
  return {};
}

Result<void> Site::decide() {
  attempt([](Controller& controller) { return controller.decide(); });
  return {};
}

void Site::set(Alarm& alarm, Instant at) {
  alarm_ = &alarm;
  wanted_ = at;
  loop_.set(*this, at == kNever ? kNever : at - offset_);
}

void Site::ring() {
  if (!alarm_) return;
  attempt([](Controller& controller) {
    controller.ring();
    return controller.health();
  });
}

void Site::jump(Duration by) {
  offset_ += by;
  if (alarm_ && wanted_ != kNever) loop_.set(*this, wanted_ - offset_);
}

}  // namespace rota::swarm

#include "swarm/member.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace rota::swarm {

Member::Member(SiteId self, const Parts& parts) : self_(self), parts_(parts) {
  for (const GlobalJob& job : parts_.drawn.jobs) parts_.world.safety().expects(job.job);
  parts_.world.site().accompany(*this);
}

bool Member::submit(const GlobalJob& job) {
  if (!parts_.world.site().up()) return false;
  submitted_.push_back(parts_.account.takes_in(job, parts_.loop.now()));
  dispatcher_->offer(submitted_.back());
  return true;
}

void Member::cancel(std::int64_t number) {
  if (!parts_.world.site().up()) return;
  const JobId id = find(number);
  if (!id.valid() || !parts_.world.engine().ledger()->runs(id)) return;
  ++parts_.account.travels().cancelled;
  say(CancelAsked{id});
}

void Member::expect_copy(const Offer& offer) {
  copies_.push_back(offer);
  if (!parts_.world.site().up() || !asked_here(offer)) return;
  dispatcher_->stands_by(offer);
  take(offer);
}

bool Member::at_rest() const { return dispatcher_ && dispatcher_->idle() && coming_.empty() && lost_.empty(); }

// Nobody knows what was asked at the exchange: whatever the site has in its queue is claimed again before it starts.
void Member::rises() {
  ++lives_;
  GateKeeper& keeper = *this;
  rota::Site& site = *this;
  Exchange& exchange = *this;
  gate_.emplace(parts_.world.link(), keeper, parts_.loop);
  dispatcher_.emplace(self_, parts_.drawn.rules, site, exchange, parts_.loop);
  view().for_each_job([&](JobId id, const Job& job) {
    const Offer* offer = parts_.account.offer(job.spec.number);
    if (!offer || job.gone()) return;
    gate_->expect(id, job.spec.number);
    dispatcher_->stands_by(*offer);
  });
  for (const Offer& copy : copies_) {
    const std::int64_t number = copy.spec.number;
    if (has(number) || gone_.contains(number) || !asked_here(copy)) continue;
    dispatcher_->stands_by(copy);
    take(copy);
  }
}

// Its epoch names this life, and is durable now.
void Member::acts() {
  was_there_ = true;
  dispatcher_->open(parts_.loop.now(), view().epoch());
  for (const std::int64_t number : ended_) dispatcher_->ended(number);
  for (const Offer& offer : submitted_) dispatcher_->offer(offer);
}

void Member::falls() {
  dispatcher_.reset();
  gate_.reset();
  coming_.clear();
  lost_.clear();
  falls_for_.reset();
  parts_.loop.set(*this, kNever);
}

void Member::endured(const Fact& fact) {
  std::visit(
      [&](const auto& what) {
        using Kind = std::remove_cvref_t<decltype(what)>;
        constexpr bool kEnds = std::is_same_v<Kind, Finished> || std::is_same_v<Kind, Cancelled>;
        if constexpr (kEnds || std::is_same_v<Kind, LaunchFailed>) {
          if constexpr (std::is_same_v<Kind, LaunchFailed>) {
            if (what.again) return;
          }
          const std::int64_t number = parts_.world.safety().number_of(what.job);
          if (!parts_.account.find(number)) return;
          if (parts_.world.safety().is_going(what.job)) {
            gone_.insert(number);
            return;
          }
          ended_.insert(number);
          parts_.account.ended(number, self_);
          if (dispatcher_) dispatcher_->ended(number);
        }
      },
      fact.what);
}

std::optional<JobSpec> Member::asked_here(const Offer& offer) const {
  return fits(parts_.drawn.sites[self_.value], offer.spec) ? std::optional(offer.spec) : std::nullopt;
}

Haul Member::haul(const Offer& offer) const {
  return {offer.data == self_ ? Duration{0} : parts_.drawn.transfer, parts_.drawn.transfer, Duration{0}};
}

std::vector<Coming> Member::coming() const {
  std::vector<Coming> all;
  for (const auto& [at, number] : coming_) {
    const JobSpec& spec = parts_.account.offer(number)->spec;
    all.push_back({at, spec.processors, spec.limit});
  }
  return all;
}

// As if it could start wherever it fits as soon as its input is there.
std::vector<Duration> Member::soonest(const Offer& offer) const {
  std::vector<Duration> all(parts_.drawn.sites.size(), parts_.drawn.transfer);
  all[offer.data.value] = Duration{0};
  for (std::size_t s = 0; s < all.size(); ++s) {
    if (!fits(parts_.drawn.sites[s], offer.spec)) all[s] = kLongest;
  }
  return all;
}

JobId Member::find(std::int64_t number) const {
  JobId found;
  view().for_each_job([&](JobId id, const Job& job) {
    if (job.spec.number == number && !job.gone()) found = id;
  });
  return found;
}

bool Member::has(std::int64_t job) const {
  if (lost_.contains(job)) return false;
  const bool comes = std::any_of(coming_.begin(), coming_.end(), [&](const auto& c) { return c.second == job; });
  return comes || ended_.contains(job) || find(job).valid();
}

void Member::take(const Offer& offer) {
  const bool at_once = offer.data == self_ || parts_.drawn.rules.race;
  if (!parts_.drawn.rules.race) ++parts_.account.travels().taken;
  coming_.emplace(parts_.loop.now() + (at_once ? Duration{0} : parts_.drawn.transfer), offer.spec.number);
  set_alarm();
}

void Member::give_up(std::int64_t job) {
  if (std::erase_if(coming_, [&](const auto& c) { return c.second == job; }) > 0) return;
  lost_.insert(job);
  set_alarm();
}

StartAnswer Member::claim_to_start(std::int64_t job) {
  const StartAnswer answer = dispatcher_->claim(job);
  if (answer != StartAnswer::pending) return answer;
  ++parts_.account.travels().held;
  if (lives_ > 1) ++parts_.account.travels().held_again;
  return answer;
}

StartAnswer Member::claim_to_make_room(std::int64_t job) {
  return parts_.drawn.rules.race ? StartAnswer::ours : dispatcher_->claim(job);
}

void Member::not_started(const Command& give_way) {
  ++parts_.account.travels().not_started;
  parts_.world.link().dispatch(give_way);
}

void Member::lost(JobId id) {
  lost_.insert(parts_.world.safety().number_of(id));
  set_alarm();
}

void Member::send(const Request& request) {
  parts_.exchange.send(request);
  ++requests_;
  if (parts_.loop.now() >= at_seconds(parts_.drawn.heals_at)) return;
  for (const CrashPoint& point : parts_.drawn.sites[self_.value].crashes) {
    if (point.where != CrashPoint::Where::request || point.count != requests_) continue;
    falls_for_ = point.away;
    set_alarm();
  }
}

// The controller is told of nothing while it, or the dispatcher, is at work.
void Member::set_alarm() {
  Instant next = coming_.empty() ? kNever : coming_.begin()->first;
  if (!lost_.empty() || falls_for_) next = parts_.loop.now();
  parts_.loop.set(*this, next);
}

void Member::ring() {
  if (!parts_.world.site().up()) return;
  if (falls_for_) return parts_.world.site().fall(*falls_for_);
  while (!lost_.empty()) let_go(lost_.extract(lost_.begin()).value());
  while (!coming_.empty() && coming_.begin()->first <= parts_.loop.now()) {
    queue(coming_.extract(coming_.begin()).mapped());
  }
  set_alarm();
}

void Member::say(const Observed& fact) {
  parts_.world.site().attempt([&](Controller& controller) -> Result<void> {
    static_cast<void>(controller.record(fact));
    return controller.decide();
  });
}

void Member::let_go(std::int64_t number) {
  const JobId id = find(number);
  if (!id.valid()) return;
  parts_.account.given_up(number, *parts_.world.engine().ledger(), id);
  gate_->revoked(id);
  parts_.world.safety().goes(id);
  say(Cancelled{id});
}

// Before the controller can start it, the dispatcher knows that it is here.
void Member::queue(std::int64_t number) {
  if (!dispatcher_->queued(number)) return;
  const GlobalJob& job = *parts_.account.find(number);
  parts_.world.site().attempt([&](Controller& controller) -> Result<void> {
    const JobId expected = controller.view().next_job();
    JobSpec spec = job.job.spec;
    spec.submit = parts_.world.site().clock();
    parts_.world.safety().submits(number, expected, {});
    parts_.world.engine().will_run(expected, job.job.run_time);
    gate_->expect(expected, number);
    if (parts_.drawn.ahead) {
      const JobTerms terms{.limit = spec.limit, .priority = spec.priority, .partition = spec.partition};
      static_cast<void>(controller.submit(spec, terms, kNoBars, true));
    } else {
      controller.submit(spec);
    }
    return controller.decide();
  });
}

}  // namespace rota::swarm

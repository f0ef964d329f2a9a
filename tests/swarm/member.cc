#include "swarm/member.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace rota::swarm {

Member::Member(SiteId self, const Parts& parts) : self_(self), parts_(parts) {
  for (const GlobalJob& job : parts_.drawn.jobs) parts_.world.safety().expects(job.job);
  parts_.world.site().accompany(*this);
}

// That is acknowledged once it is durable.
bool Member::submit(const GlobalJob& job) {
  const bool came_through = parts_.account.offer(job.job.spec.number) != nullptr;
  if (came_through || !parts_.world.site().up()) return came_through;
  const Offer offer = member_->next_offer(job.job.spec, SiteId{job.home});
  say(Offered{offer});
  return parts_.account.offer(offer.spec.number) != nullptr;
}

void Member::cancel(std::int64_t number) {
  if (!parts_.world.site().up()) return;
  const JobId id = find(number);
  if (!id.valid() || !parts_.world.engine().ledger()->runs(id)) return;
  ++parts_.account.travels().cancelled;
  say(CancelAsked{id});
}

void Member::expect_copy(const Offer& offer) {
  copies_[offer.spec.number] = offer;
  parts_.world.site().guard([&] { member_->take_copy(offer); });
}

bool Member::at_rest() const {
  return member_ && member_->idle() && coming_.empty() && posted_.empty() && reports_.empty();
}

void Member::rises() {
  ++lives_;
  const MemberRules rules{parts_.drawn.rules, Fetch::before, parts_.drawn.ahead};
  LocalQueue& queue = *this;
  Durable& journal = *this;
  member_.emplace(self_, rules, rota::Member::Ports{queue, parts_.world.link(), *this, *this, *this, *this, &journal});
  parts_.world.site().controller().add_observer(member_->observer());
  member_->take_over();
  for (const auto& [number, copy] : copies_) member_->take_copy(copy);
}

// Its epoch names this life, and is durable now.
void Member::acts() {
  was_there_ = true;
  parts_.world.site().guard([&] { member_->open(parts_.loop.now(), view().epoch()); });
}

void Member::falls() {
  Travels& travels = parts_.account.travels();
  const std::int64_t held = member_->gate().held_starts();
  travels.held += held;
  if (lives_ > 1) travels.held_again += held;
  member_.reset();
  coming_.clear();
  posted_.clear();
  reports_.clear();
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
          if (parts_.world.safety().is_going(what.job)) return;
          parts_.account.ended(number, self_);
        } else if constexpr (std::is_same_v<Kind, Offered>) {
          parts_.account.takes_in(what.offer);
        } else if constexpr (std::is_same_v<Kind, Traded>) {
          if (what.trade == Trade::won) copies_.erase(what.offer.spec.number);
        }
      },
      fact.what);
}

std::optional<JobSpec> Member::asked_at(SiteId site, const Offer& offer) const {
  return fits(parts_.drawn.sites[site.value], offer.spec) ? std::optional(offer.spec) : std::nullopt;
}

std::vector<Coming> Member::coming() const {
  std::vector<Coming> all;
  for (const auto& [at, number] : coming_) {
    const JobSpec& spec = parts_.account.offer(number)->spec;
    all.push_back({at, spec.processors, spec.limit});
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

void Member::bring(const Offer& offer) {
  const bool race = parts_.drawn.rules.race;
  if (!race) ++parts_.account.travels().taken;
  coming_.emplace(parts_.loop.now() + (race ? Duration{0} : haul(offer, self_)), offer.spec.number);
  set_alarm();
}

void Member::leave(std::int64_t job) {
  std::erase_if(coming_, [&](const auto& c) { return c.second == job; });
}

void Member::submit(const Offer& /*offer*/, const JobSpec& spec, Instant /*input*/, bool ahead) {
  posted_.emplace_back(Submission{spec, ahead});
  set_alarm();
}

void Member::tell(const Observed& fact) {
  posted_.emplace_back(fact);
  set_alarm();
}

void Member::take_back(std::int64_t job, JobId id) {
  if (id.valid()) return tell(Cancelled{id});
  std::erase_if(posted_, [&](const auto& posted) {
    const auto* submission = std::get_if<Submission>(&posted);
    return submission && submission->spec.number == job;
  });
}

void Member::not_started(const Command& give_way) {
  ++parts_.account.travels().not_started;
  parts_.world.link().dispatch(give_way);
}

std::string Member::report_for(std::int64_t number) const {
  const Offer* offer = parts_.account.offer(number);
  return offer == nullptr || offer->home == self_ ? "" : "ended";
}

void Member::reported(std::int64_t job, SiteId /*site*/, const std::string& /*report*/) {
  ++parts_.account.travels().reported;
  reports_.push_back(job);
  set_alarm();
}

void Member::send(const Request& request) {
  parts_.world.site().reach(CrashPoint::Where::before_request);
  parts_.exchange.send(request);
  parts_.world.site().reach(CrashPoint::Where::request);
}

void Member::watch(SiteId site, Watcher& watcher, Revision seen) {
  hears_ = &watcher;
  parts_.exchange.watch(site, *this, seen);
}

void Member::stop(Watcher& /*watcher*/) {
  parts_.exchange.stop(*this);
  hears_ = nullptr;
}

void Member::hear(const Change& change) {
  parts_.world.site().guard([&] { hears_->hear(change); });
}

void Member::set(Alarm& alarm, Instant at) {
  parts_.loop.set(alarms_.try_emplace(&alarm, parts_.world, alarm).first->second, at);
}

// The controller is told of nothing while it, or the member, is at work.
void Member::set_alarm() {
  const Instant next = coming_.empty() ? kNever : coming_.begin()->first;
  parts_.loop.set(*this, posted_.empty() && reports_.empty() ? next : parts_.loop.now());
}

void Member::ring() {
  if (!parts_.world.site().up()) return;
  while (!coming_.empty() && coming_.begin()->first <= parts_.loop.now()) {
    const std::int64_t number = coming_.extract(coming_.begin()).mapped();
    parts_.world.site().guard([&] { member_->arrived(number); });
  }
  if (!posted_.empty()) {
    parts_.world.site().attempt([&](Controller& controller) {
      while (!posted_.empty()) {
        const auto next = posted_.front();
        posted_.pop_front();
        std::visit([&](const auto& what) { carry_out(what, controller); }, next);
      }
      return controller.decide();
    });
  }
  while (parts_.world.site().up() && !reports_.empty()) {
    const std::int64_t number = reports_.front();
    reports_.pop_front();
    parts_.world.site().guard([&] { member_->noted(number); });
  }
  if (parts_.world.site().up()) set_alarm();
}

void Member::say(const Observed& fact) {
  parts_.world.site().attempt([&](Controller& controller) -> Result<void> {
    static_cast<void>(controller.record(fact));
    return controller.decide();
  });
}

void Member::carry_out(const Observed& fact, Controller& controller) {
  if (const auto* cancelled = std::get_if<Cancelled>(&fact)) {
    const JobId id = cancelled->job;
    if (!view().knows(id) || view().job(id).gone()) return;
    parts_.account.given_up(view().job(id).spec.number, *parts_.world.engine().ledger(), id);
    parts_.world.safety().goes(id);
  }
  const auto taken = controller.record(fact);
  parts_.account.expect(taken.has_value(), taken ? "" : "what the member says is refused: " + taken.error().message);
}

void Member::carry_out(const Submission& submission, Controller& controller) {
  const std::int64_t number = submission.spec.number;
  const JobId expected = controller.view().next_job();
  JobSpec spec = submission.spec;
  spec.submit = parts_.world.site().clock();
  parts_.world.safety().submits(number, expected, {});
  parts_.world.engine().will_run(expected, parts_.account.find(number)->job.run_time);
  JobId id;
  if (submission.ahead) {
    const JobTerms terms{.limit = spec.limit, .priority = spec.priority, .partition = spec.partition};
    id = controller.submit(spec, terms, kNoBars, true).value_or(JobId{});
  } else {
    id = controller.submit(spec);
  }
  member_->queued(number, id);
}

}  // namespace rota::swarm

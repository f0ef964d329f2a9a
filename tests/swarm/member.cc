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
  const Offer offer = member_->next_offer(job.job.spec, SiteId{job.home});
  parts_.account.takes_in(offer);
  submitted_.push_back(offer);
  parts_.world.site().guard([&] { member_->offer(offer); });
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
  parts_.world.site().guard([&] { member_->take_copy(offer); });
}

bool Member::at_rest() const {
  return member_ && member_->idle() && coming_.empty() && lost_.empty() && submissions_.empty();
}

void Member::rises() {
  ++lives_;
  rota::Member::Left left;
  left.serial = static_cast<std::int64_t>(submitted_.size());
  left.offered = submitted_;
  left.ended.assign(ended_.begin(), ended_.end());
  std::set<std::int64_t> here(ended_);
  view().for_each_job([&](JobId id, const Job& job) {
    const Offer* offer = parts_.account.offer(job.spec.number);
    if (!offer || job.gone()) return;
    left.queued.emplace_back(id, *offer);
    here.insert(job.spec.number);
  });
  for (const Offer& copy : copies_) {
    const std::int64_t number = copy.spec.number;
    if (!here.contains(number) && !gone_.contains(number)) left.copies.push_back(copy);
  }
  const MemberRules rules{parts_.drawn.rules, Fetch::before, parts_.drawn.ahead};
  LocalQueue& queue = *this;
  Durable& journal = *this;
  member_.emplace(self_, rules, rota::Member::Ports{queue, parts_.world.link(), *this, *this, *this, *this, &journal});
  parts_.world.site().controller().add_observer(member_->observer());
  member_->take_over(left);
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
  lost_.clear();
  submissions_.clear();
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
        }
      },
      fact.what);
}

std::optional<JobSpec> Member::asked_at(SiteId site, const JobSpec& job) const {
  return fits(parts_.drawn.sites[site.value], job) ? std::optional(job) : std::nullopt;
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

void Member::submit(const JobSpec& spec, Instant /*input*/, bool ahead) {
  submissions_.push_back({spec, ahead});
  set_alarm();
}

void Member::take_back(std::int64_t job, JobId id) {
  if (id.valid()) {
    lost_.push_back(id);
  } else {
    std::erase_if(submissions_, [&](const Submission& s) { return s.spec.number == job; });
  }
  set_alarm();
}

void Member::not_started(const Command& give_way) {
  ++parts_.account.travels().not_started;
  parts_.world.link().dispatch(give_way);
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
  const bool at_once = !lost_.empty() || !submissions_.empty();
  const Instant next = coming_.empty() ? kNever : coming_.begin()->first;
  parts_.loop.set(*this, at_once ? parts_.loop.now() : next);
}

void Member::ring() {
  if (!parts_.world.site().up()) return;
  while (!lost_.empty()) {
    const JobId id = lost_.front();
    lost_.pop_front();
    let_go(id);
  }
  while (!coming_.empty() && coming_.begin()->first <= parts_.loop.now()) {
    const std::int64_t number = coming_.extract(coming_.begin()).mapped();
    parts_.world.site().guard([&] { member_->arrived(number); });
  }
  while (!submissions_.empty()) {
    const Submission submission = submissions_.front();
    submissions_.pop_front();
    queue(submission);
  }
  if (parts_.world.site().up()) set_alarm();
}

void Member::say(const Observed& fact) {
  parts_.world.site().attempt([&](Controller& controller) -> Result<void> {
    static_cast<void>(controller.record(fact));
    return controller.decide();
  });
}

void Member::let_go(JobId id) {
  if (!view().knows(id) || view().job(id).gone()) return;
  parts_.account.given_up(view().job(id).spec.number, *parts_.world.engine().ledger(), id);
  parts_.world.safety().goes(id);
  say(Cancelled{id});
}

void Member::queue(const Submission& submission) {
  const GlobalJob& job = *parts_.account.find(submission.spec.number);
  parts_.world.site().attempt([&](Controller& controller) -> Result<void> {
    const std::int64_t number = submission.spec.number;
    const JobId expected = controller.view().next_job();
    JobSpec spec = submission.spec;
    spec.submit = parts_.world.site().clock();
    parts_.world.safety().submits(number, expected, {});
    parts_.world.engine().will_run(expected, job.job.run_time);
    JobId id;
    if (submission.ahead) {
      const JobTerms terms{.limit = spec.limit, .priority = spec.priority, .partition = spec.partition};
      id = controller.submit(spec, terms, kNoBars, true).value_or(JobId{});
    } else {
      id = controller.submit(spec);
    }
    member_->queued(number, id);
    return controller.decide();
  });
}

}  // namespace rota::swarm

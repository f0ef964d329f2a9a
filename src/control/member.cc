#include "control/member.h"

#include <algorithm>
#include <utility>

namespace rota {

DispatchRules dispatch_rules(const AuctionKnobs& knobs, const std::vector<Partition>& partitions) {
  DispatchRules rules;
  rules.auction = {knobs.round, knobs.close, knobs.patience};
  rules.auction.minimum = knobs.minimum;
  rules.auction.buyers = static_cast<std::size_t>(knobs.buyers);
  rules.join = knobs.join;
  rules.bid.valuation = knobs.bid;
  rules.bid.mean_run_time = knobs.mean_run_time;
  rules.bid.spare = knobs.spare;
  rules.second_thoughts = knobs.second_thoughts > Duration{0};
  rules.bids_again = knobs.second_thoughts;
  if (rules.second_thoughts) rules.auction.margin = knobs.margin.count();
  for (const Partition& p : partitions) rules.bid.priorities = std::max(rules.bid.priorities, p.priority);
  if (knobs.siting == Siting::english) rules.look = knobs.look;
  return rules;
}

Member::Member(SiteId self, const MemberRules& rules, const Ports& ports)
    : self_(self),
      rules_(rules),
      queue_(ports.queue),
      carrier_(ports.carrier),
      directory_(ports.directory),
      loop_(ports.loop),
      keeps_(ports.journal != nullptr),
      outbox_(ports.exchange, ports.journal, ports.loop),
      gate_(ports.engine, *this, ports.loop),
      dispatcher_(self, rules.dispatch, *this, outbox_, ports.loop) {}

// What was asked at the exchange is not known: all that the site has in its queue is claimed again before it starts.
// One that has ended and is yet to leave the state has no record of its end yet, and is reported as it leaves.
void Member::take_over() {
  const Trades& trades = view().trades();
  for (const auto& [job, left] : trades.guests()) {
    if (left.stage == Trades::Guest::Stage::over) {
      if (left.id.valid() && view().knows(left.id)) {
        guests_[job] = {left.offer, Guest::Stage::queued, left.id};
      } else {
        dispatcher_.ended(job, queue_.report_on(left));
      }
      continue;
    }
    dispatcher_.stands_by(left.offer);
    if (left.stage == Trades::Guest::Stage::coming) {
      fetch(left.offer);
      continue;
    }
    guests_[job] = {left.offer, Guest::Stage::queued, left.id};
    gate_.expect(left.id, job);
    const bool waits = view().job(left.id).state != JobState::running;
    if (rules_.fetch == Fetch::queued && waits) carrier_.bring(left.offer);
  }
  for (const auto& [serial, offer] : trades.offered()) dispatcher_.home().offer(offer);
}

Offer Member::next_offer(const JobSpec& spec, SiteId data) const {
  return {spec, self_, data, loop_.now(), view().trades().last_serial() + 1};
}

// The outbox has heard of the fact before the dispatcher asks for anything.
void Member::fact_recorded(const View& /*before*/, const FactRef& fact) {
  outbox_.written();
  if (const auto* const* offered = std::get_if<const Offered*>(&fact.what)) dispatcher_.home().offer((*offered)->offer);
  std::visit([this](const auto* what) { news_of_load_ |= !kBesidePlans<std::remove_cvref_t<decltype(*what)>>; },
             fact.what);
}

void Member::tell(std::int64_t job, Trade trade) {
  Traded fact;
  fact.offer.spec.number = job;
  fact.trade = trade;
  queue_.tell(fact);
}

void Member::take_copy(const Offer& offer) {
  if (!asked_here(offer)) return;
  dispatcher_.stands_by(offer);
  take_won(offer);
}

std::optional<JobSpec> Member::asked_here(const Offer& offer) const { return directory_.asked_at(self_, offer); }

Haul Member::haul(const Offer& offer) const {
  const Duration margin = offer.data == self_ ? Duration{0} : rules_.margin;
  return {carrier_.haul(offer, self_), carrier_.longest_haul(offer), margin};
}

// As if it could start wherever it can run as soon as its input is there.
std::vector<Duration> Member::soonest(const Offer& offer) const {
  std::vector<Duration> all(directory_.sites(), kLongest);
  for (std::uint32_t s = 0; s < all.size(); ++s) {
    if (directory_.asked_at(SiteId{s}, offer)) all[s] = carrier_.haul(offer, SiteId{s});
  }
  return all;
}

void Member::take_won(const Offer& offer) {
  queue_.tell(Traded{offer, Trade::won});
  fetch(offer);
}

void Member::fetch(const Offer& offer) {
  Guest& guest = guests_[offer.spec.number] = {offer};
  if (rules_.fetch == Fetch::queued) submit(guest, loop_.now() + carrier_.haul(offer, self_));
  carrier_.bring(offer);
}

void Member::arrived(std::int64_t job) {
  const auto guest = guests_.find(job);
  if (guest == guests_.end()) return;
  if (guest->second.stage == Guest::Stage::coming) return submit(guest->second, kEpoch);
  dispatcher_.queued(job);  // it had its place already
}

void Member::submit(Guest& guest, Instant input) {
  guest.stage = Guest::Stage::submitted;
  JobSpec spec = asked_here(guest.offer).value_or(guest.offer.spec);  // else the home has taken it from sale
  if (rules_.fetch == Fetch::started) spec.limit = std::min(spec.limit + carrier_.haul(guest.offer, self_), kLongest);
  queue_.submit(guest.offer, spec, input, rules_.ahead && !rules_.dispatch.race);
}

void Member::queued(std::int64_t job, JobId id, const std::string& report) {
  const auto guest = guests_.find(job);
  if (guest == guests_.end() || guest->second.stage != Guest::Stage::submitted) return;
  if (!id.valid()) {
    guests_.erase(guest);
    return dispatcher_.ended(job, report);
  }
  guest->second.stage = Guest::Stage::queued;
  guest->second.id = id;
  gate_.expect(id, job);
  if (guest->second.cancelled) return queue_.cancel_guest(job, id);
  if (rules_.fetch != Fetch::queued) dispatcher_.queued(job);
}

// A job that was taken back is no guest any more, and may be one again by another id.
void Member::job_gone(JobId id, std::int64_t job, const std::string& report) {
  gate_.job_gone(id);
  const auto guest = guests_.find(job);
  if (guest == guests_.end() || guest->second.id != id) return;
  guests_.erase(guest);
  dispatcher_.ended(job, report);
}

void Member::give_up(std::int64_t job) {
  const auto found = guests_.find(job);
  if (found == guests_.end()) return;
  const Guest guest = found->second;
  const bool runs = guest.stage == Guest::Stage::queued && view().job(guest.id).state == JobState::running;
  if (runs && guest.offer.home == self_) return;  // a restored exchange has forgotten it; its end counts here
  guests_.erase(found);
  carrier_.leave(job);
  tell(job, Trade::lost);
  if (runs) {
    gate_.job_gone(guest.id);  // its end needs no claim
    return queue_.cancel_guest(job, guest.id);
  }
  if (guest.stage == Guest::Stage::queued) gate_.revoked(guest.id);
  if (guest.stage != Guest::Stage::coming) queue_.take_back(job, guest.id);
}

void Member::cancelled(std::int64_t job) {
  const auto found = guests_.find(job);
  if (found == guests_.end()) return;
  Guest& guest = found->second;
  switch (guest.stage) {
    case Guest::Stage::coming:
      carrier_.leave(job);
      guest.stage = Guest::Stage::submitted;
      return queue_.cancel_guest(job, {});
    case Guest::Stage::submitted:
      guest.cancelled = true;
      return;
    case Guest::Stage::queued:
      return queue_.cancel_guest(job, guest.id);
  }
}

// The gate knows already.
void Member::lost(JobId id) {
  const auto is_it = [&](const auto& guest) { return guest.second.id == id; };
  const auto guest = std::find_if(guests_.begin(), guests_.end(), is_it);
  if (guest == guests_.end()) return;
  const std::int64_t job = guest->first;
  guests_.erase(guest);
  carrier_.leave(job);
  tell(job, Trade::lost);
  queue_.take_back(job, id);
}

// A site that makes room for a job that is still on offer claims it before, so that nothing gives way in vain; not in a
// race, whose sites know nothing of each other before one of them starts it.
StartAnswer Member::claim_to_make_room(std::int64_t job) {
  return rules_.dispatch.race ? StartAnswer::ours : dispatcher_.claim(job);
}

}  // namespace rota

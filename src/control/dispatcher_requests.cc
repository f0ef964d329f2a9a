// The half of the dispatcher that deals with the exchange: what it hears, what it asks for until it knows, its lease,
// and which site may start which job.
#include <utility>

#include "control/dispatcher.h"

namespace rota {

using About = OpenRequests::About;

// What the change says is known from here on, whatever else is still to be read; what is waited for goes on at once.
void Dispatcher::hear(const Change& change) {
  if (!queue_.fold(change) || !queue_.complete()) return;
  switch (change.kind) {
    case Change::Kind::joined:
      if (change.site == self_ && epoch() != 0) renewal_ = loop_.now() + rules_.lease / 3;
      follow_up_all();
      break;
    case Change::Kind::gone:
      follow_up_all();
      break;
    case Change::Kind::resynced:
      follow_up_all();
      home_.all_changed();
      break;
    default:
      if (change.kind == Change::Kind::claimed && !change.auction.empty()) {
        const GlobalQueue::Lot* lot = queue_.find(change.job);
        const bool concerns = lot && (lot->offer->home == self_ || change.site == self_);
        if (concerns) site_.auctioned(*lot->offer, change.site, change.auction);
      }
      requests_.conclude(queue_, change.job);
      if (change.kind == Change::Kind::forfeited && change.site == self_ && here_.contains(change.job))
        lose(change.job);
      follow_up(change.job);
      home_.changed(change);
      if (change.kind == Change::Kind::cancelled) obey(change.job);
  }
  note(change);
}

// What is to be acted on in the site's turn.
void Dispatcher::note(const Change& change) {
  switch (change.kind) {
    case Change::Kind::withdrawn:
    case Change::Kind::ended:
    case Change::Kind::cancelled:
    case Change::Kind::noted:
      return;
    case Change::Kind::settled:
      if (rules_.race && change.site != self_) {  // copies are revoked at once
        if (const auto here = here_.find(change.job); here != here_.end() && !here->second.ours) lose(change.job);
        return;
      }
      break;
    default:
      break;
  }
  if (!rules_.race) news_.push_back({change.kind, change.job, change.site});
  if (!rules_.race || epoch() == 0) loop_.set(*this, loop_.now());
}

// What is to be done about a job as things are, if nothing about it is out.
void Dispatcher::follow_up(std::int64_t job) {
  if (here_.contains(job)) pursue(job);
  if (!over_.empty() && over_.contains(job)) finish(job);
  if (queue_.own_bid(job) != 0 && !queue_.find(job)) withdraw(job);
  if (!wishes_.empty() && !requests_.out(About::bid, job)) {
    if (const auto wish = wishes_.extract(job)) bid(job, wish.mapped());
  }
  const auto sale = auctions_.find(job);
  if (sale != auctions_.end() && sale->second.auctioneer.over()) loop_.set(*this, loop_.now());
  home_.follow_up(job);
}

void Dispatcher::follow_up_all() {
  requests_.conclude_all(queue_);
  std::set<std::int64_t> jobs;
  for (const auto& [job, report] : over_) jobs.insert(job);
  for (const auto& [job, here] : here_) jobs.insert(job);
  for (const auto& [job, wish] : wishes_) jobs.insert(job);
  for (const auto& [job, bids] : queue_.bids()) {
    if (bids.contains(self_)) jobs.insert(job);
  }
  for (const std::int64_t job : jobs) {
    const auto here = here_.find(job);
    if (here != here_.end() && gone(job, here->second)) {
      lose(job);
    } else {
      follow_up(job);
    }
  }
  home_.follow_up_all();
}

void Dispatcher::keep_lease(Instant now) {
  if (epoch() == 0) {
    renewal_ = kNever;  // until it has joined
    if (requests_.out(About::site)) return;
    Request request{.kind = Request::Kind::join, .token = {}, .site = self_};
    request.epoch = queue_.latest_epoch_of(self_);
    request.ttl = rules_.lease;
    requests_.send(request);
  } else if (renewal_ <= now) {
    renewal_ = now + rules_.lease / 3;
    Request request{.kind = Request::Kind::renew, .token = requests_.token(), .site = self_, .epoch = epoch()};
    request.ttl = rules_.lease;
    exchange_.send(request);  // in vain, if it must be: that the lease has run out is a change
  }
}

void Dispatcher::stands_by(const Offer& offer) { here_[offer.spec.number] = {offer.home, offer.serial}; }

bool Dispatcher::queued(std::int64_t job) {
  const auto here = here_.find(job);
  if (here == here_.end()) return false;
  const GlobalQueue::Win* win = queue_.won(job);
  const bool started = here->second.ours;  // the moment its input was there
  if (!rules_.second_thoughts || started || !win || epoch() == 0 || requests_.out(About::job, job)) return true;
  Request request{.kind = Request::Kind::put_back, .token = {}, .site = self_, .epoch = epoch(), .job = job};
  request.own_seen = win->revision;
  requests_.send(request);
  return true;
}

void Dispatcher::ended(std::int64_t job, const std::string& report) {
  here_.erase(job);
  if (const GlobalQueue::Lot* lot = queue_.find(job); lot && lot->offer->home == self_) home_.recall(job);
  over_[job] = report;
  finish(job);
}

void Dispatcher::finish(std::int64_t job) {
  if (!queue_.complete() || epoch() == 0 || requests_.out(About::job, job)) return;
  const GlobalQueue::Win* win = queue_.won(job);
  const GlobalQueue::Lot* lot = queue_.find(job);
  if (lot && queue_.holder(*lot) == self_) {  // it waited here, and was on offer again
    if (!queue_.claimed(*lot)) requests_.claim(queue_, *lot, self_);
    return;
  }
  if (!win) {
    if (over_.erase(job) > 0) site_.closed(job);
    return;
  }
  Request request{.kind = Request::Kind::end, .token = {}, .site = self_, .epoch = epoch(), .job = job};
  request.own_seen = win->revision;
  if (win->offer->home != self_) request.report = over_.at(job);
  requests_.send(request);
}

void Dispatcher::withdraw(std::int64_t job) {
  if (epoch() == 0 || requests_.out(About::bid, job)) return;
  requests_.send({.kind = Request::Kind::withdraw, .token = {}, .site = self_, .epoch = epoch(), .job = job});
}

StartAnswer Dispatcher::claim(std::int64_t job) {
  const auto here = here_.find(job);
  if (here == here_.end()) return StartAnswer::gone;
  if (here->second.ours) return StartAnswer::ours;
  here->second.wanted = true;
  asking_ = job;
  answer_ = StartAnswer::pending;
  pursue(job);
  asking_.reset();
  return answer_;
}

// Neither on offer nor the site's, and that is not for want of news. What the site knew to be its own and has not put
// back nor ended goes only where an operator forfeits it.
bool Dispatcher::gone(std::int64_t job, const Here& here) const {
  if (!queue_.complete() || queue_.won(job)) return false;
  if (here.ours) return true;
  if (queue_.find(job)) return false;
  return queue_.last_offered(here.home) >= here.serial;
}

// Claims and settles it, step by step, as what it hears allows. It starts only when it is known as settled by this
// site: no other site can change that, however old the news. Only the site itself can, by putting it back: not while a
// put back is out, nor before this life has an epoch of its own, since one of the life before may still be under way.
void Dispatcher::pursue(std::int64_t job) {
  const auto here = here_.find(job);
  if (here == here_.end() || !here->second.wanted || !queue_.complete()) return;
  if (requests_.out(About::job, job) || epoch() == 0) return;
  if (queue_.won(job)) return answer(job, true);
  if (gone(job, here->second)) return answer(job, false);
  const GlobalQueue::Lot* lot = queue_.find(job);
  if (!lot) return;
  if (!queue_.claimed(*lot)) return requests_.claim(queue_, *lot, self_);
  if (lot->claim.site == self_) return settle(job);
  if (!rules_.race) answer(job, false);
}

void Dispatcher::answer(std::int64_t job, bool ours) {
  if (ours) {
    here_[job].wanted = false;
    here_[job].ours = true;
  } else {
    here_.erase(job);
  }
  if (asking_ == job) {
    answer_ = ours ? StartAnswer::ours : StartAnswer::gone;
  } else {
    site_.answered(job, ours);
  }
}

void Dispatcher::lose(std::int64_t job) {
  if (here_.at(job).wanted) return answer(job, false);
  here_.erase(job);
  site_.give_up(job);
}

}  // namespace rota

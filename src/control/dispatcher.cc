#include "control/dispatcher.h"

#include <algorithm>

namespace rota {

Dispatcher::Dispatcher(SiteId self, const DispatchRules& rules, Site& site, Exchange& exchange, Loop& loop)
    : self_(self), rules_(rules), site_(site), exchange_(exchange), loop_(loop), bidder_(self, rules.bid) {}

void Dispatcher::open(Instant first_look) {
  exchange_.watch(*this);
  next_look_ = rules_.look > Duration{0} ? first_look : kNever;
  loop_.set(*this, next_ring());
}

void Dispatcher::load_changed() {
  if (load_changed_ || bidder_.open() == 0) return;
  load_changed_ = true;
  loop_.set(*this, loop_.now());
}

void Dispatcher::queued(std::int64_t job) {
  if (rules_.second_thoughts && exchange_.put_back(job, self_)) held_.insert(job);
}

bool Dispatcher::may_start(std::int64_t job) {
  if (!held_.contains(job)) return !rules_.second_thoughts;
  if (!exchange_.claim(job, self_) || !exchange_.settle(job, self_)) return false;
  held_.erase(job);
  return true;
}

void Dispatcher::ring() {
  const Instant now = loop_.now();
  read_changes();
  look_and_bid(now);
  read_changes();  // its own bids too
  close_auctions(now);
  loop_.set(*this, next_ring());
}

Instant Dispatcher::next_ring() const {
  if (!exchange_.changes(seen_).empty()) return loop_.now();
  Instant next = next_look_;
  if (again_) next = std::min(next, next_again_);
  for (const auto& [job, auction] : auctions_) next = std::min(next, auction.closes(loop_.now()));
  return next;
}

void Dispatcher::read_changes() {
  for (auto news = exchange_.changes(seen_); !news.empty(); news = exchange_.changes(seen_)) {
    read(Change(news.front()));  // what it leads to changes the exchange
  }
}

void Dispatcher::read(const Change& change) {
  seen_ = change.revision;
  switch (change.kind) {
    case Change::Kind::offered:
    case Change::Kind::reopened:
      return offered(change.job);
    case Change::Kind::bid:
      if (const auto own = auctions_.find(change.job); own != auctions_.end()) own->second.hears(change.bid);
      return;
    case Change::Kind::claimed:
      return claimed(change);
    case Change::Kind::settled:
      return;
    case Change::Kind::gone:
      for (auto& [job, auction] : auctions_) auction.loses(change.site);
      return;
  }
}

void Dispatcher::offered(std::int64_t job) {
  const Offer* offer = exchange_.find(job);
  if (!offer) return;
  Haul haul = site_.haul(*offer);
  if (offer->holder == self_) haul.here = Duration{0};
  if (offer->holder.valid()) haul.margin = Duration{0};  // the auctioneer sees to it, for all but the holder
  if (const auto asked = site_.asked_here(*offer)) bidder_.opened(*asked, haul, offer->holder.valid());
  if (offer->home == self_) {
    AuctionRules rules = rules_.auction;
    if (offer->holder.valid() && rules_.bids_again > Duration{0}) rules.length = rules_.bids_again;
    auctions_.insert_or_assign(job, Auctioneer(rules, site_.soonest(*offer), loop_.now(), offer->holder));
  }
  load_changed_ = load_changed_ || rules_.look == Duration{0};
}

// Whoever settles a claim owns the job; only then does the site take it.
void Dispatcher::claimed(const Change& change) {
  bidder_.over(change.job);
  auctions_.erase(change.job);
  const Offer* offer = exchange_.find(change.job);
  if (change.site != self_) {
    if (held_.erase(change.job) > 0) site_.give_up(change.job);
    return;
  }
  if (!offer) return;
  const Offer won = *offer;
  if (exchange_.settle(change.job, self_)) site_.take(won);
}

void Dispatcher::look_and_bid(Instant now) {
  const bool look = next_look_ <= now || (rules_.look == Duration{0} && load_changed_);
  while (next_look_ <= now) next_look_ += rules_.look;
  again_ = again_ || look || load_changed_;
  const bool held_too = again_ && next_again_ <= now;
  if ((look || load_changed_ || held_too) && bidder_.open() > 0) {
    const std::vector<Coming> coming = site_.coming();
    const Outlook outlook{now, coming};
    const bool join = look || (held_too && rules_.look == Duration{0});
    send(join ? bidder_.look(site_.view(), outlook, held_too) : bidder_.refresh(site_.view(), outlook, held_too));
  }
  if (held_too) {
    again_ = false;
    next_again_ = now + rules_.bids_again;
  }
  again_ = again_ && rules_.second_thoughts && bidder_.holds_any();
  load_changed_ = false;
}

void Dispatcher::send(const std::vector<Bidder::Message>& messages) {
  for (const Bidder::Message& m : messages) exchange_.bid(m.job, m.bid);
}

void Dispatcher::close_auctions(Instant now) {
  for (auto& [job, auction] : auctions_) {
    if (auction.over() || (auction.closes(now) > now && !auction.settled())) continue;
    const auto winner = auction.close(now);
    if (winner && !exchange_.claim(job, winner->site)) auction.reopen(now, winner->site);
  }
}

}  // namespace rota

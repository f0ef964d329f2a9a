#include "control/dispatcher.h"

#include <algorithm>

namespace rota {

Dispatcher::Dispatcher(SiteId self, const DispatchRules& rules, Site& site, Exchange& exchange, Loop& loop)
    : self_(self),
      rules_(rules),
      site_(site),
      exchange_(exchange),
      loop_(loop),
      queue_(self),
      requests_(self, rules.patience, exchange, loop),
      home_(self, site, queue_, requests_),
      bidder_(self, rules.bid) {}

Dispatcher::~Dispatcher() {
  exchange_.stop(*this);
  loop_.set(*this, kNever);
}

void Dispatcher::open(Instant first_look, std::uint32_t life) {
  requests_.begin(life);
  exchange_.watch(self_, *this, 0);
  next_look_ = rules_.look > Duration{0} ? first_look : kNever;
  free_ = site_.view().free();
  keep_lease(loop_.now());
  loop_.set(*this, next_ring());
}

void Dispatcher::load_changed(const std::set<std::int64_t>& able) {
  for (const std::int64_t job : able) {
    const GlobalQueue::Lot* lot = queue_.find(job);
    if (lot != nullptr && !queue_.claimed(*lot)) open_lot(job, *lot);
  }
  if (rules_.join == Joining::freed) {
    const std::int64_t free = site_.view().free();
    freed_ = bidder_.open() > 0 && (freed_ || free > free_);
    free_ = free;
  }
  if (load_changed_ || bidder_.open() == 0) return;
  load_changed_ = true;
  loop_.set(*this, loop_.now());
}

bool Dispatcher::idle() const {
  const bool nothing_on = bidder_.open() == 0 && auctions_.empty() && over_.empty() && home_.idle();
  return nothing_on && news_.empty() && requests_.empty();
}

void Dispatcher::ring() {
  const Instant now = loop_.now();
  keep_lease(now);
  requests_.resend();
  read_news();
  look_and_bid(now);
  read_news();  // its own bids too
  close_auctions(now);
  loop_.set(*this, next_ring());
}

Instant Dispatcher::next_ring() const {
  const Instant now = loop_.now();
  if (!news_.empty()) return now;
  Instant next = std::min(requests_.next(), renewal_);
  if (epoch() != 0) {
    next = std::min(next, next_look_);
    if (again_) next = std::min(next, next_again_);
    for (const auto& [job, sale] : auctions_) {
      if (!sale.auctioneer.over()) next = std::min(next, sale.auctioneer.closes(now));
    }
  }
  return std::max(next, now);
}

void Dispatcher::read_news() {
  while (!news_.empty()) {
    const News next = news_.front();
    news_.pop_front();
    read(next);
  }
}

void Dispatcher::read(const News& news) {
  switch (news.kind) {
    case Change::Kind::offered:
    case Change::Kind::put_back:
    case Change::Kind::forfeited:
      return offered(news.job);
    case Change::Kind::bid:
      if (const auto own = auctions_.find(news.job); own != auctions_.end()) {
        const GlobalQueue::Lot* lot = queue_.find(news.job);
        const GlobalQueue::StandingBid* bid = queue_.bid(news.job, news.site);
        if (lot && bid && queue_.counts(*lot, *bid, news.site)) hears(own->second, bid->bid);
      }
      return;
    case Change::Kind::claimed:
      return claimed(news.job, news.site);
    case Change::Kind::settled:
      return settled(news.job, news.site);
    case Change::Kind::joined:
    case Change::Kind::gone:
      members_changed(news.site);
      if (news.site == self_ && epoch() != 0) begin_epoch();
      return;
    case Change::Kind::resynced:
      return rebuild();
    default:
      return;
  }
}

void Dispatcher::open_lot(std::int64_t job, const GlobalQueue::Lot& lot) {
  const SiteId holder = queue_.holder(lot);
  wishes_.erase(job);
  Haul haul = site_.haul(*lot.offer);
  if (holder == self_) haul.here = Duration{0};
  if (holder.valid()) haul.margin = Duration{0};  // the auctioneer sees to it, for all but the holder
  if (const auto asked = site_.asked_here(*lot.offer)) bidder_.opened(*asked, haul, holder.valid());
}

void Dispatcher::sell(std::int64_t job, const GlobalQueue::Lot& lot) {
  AuctionRules rules = rules_.auction;
  const SiteId holder = queue_.holder(lot);
  if (holder.valid() && rules_.bids_again > Duration{0}) rules.length = rules_.bids_again;
  Sale sale{Auctioneer(rules, site_.soonest(*lot.offer), loop_.now(), holder), lot.round(), holder};
  sale.record.opened = loop_.now();
  if (const auto of = queue_.bids().find(job); of != queue_.bids().end()) {
    for (const auto& [site, bid] : of->second) {
      if (queue_.counts(lot, bid, site)) hears(sale, bid.bid);
    }
  }
  auctions_.insert_or_assign(job, std::move(sale));
}

void Dispatcher::hears(Sale& sale, const Bid& bid) const {
  sale.auctioneer.hears(bid);
  if (!rules_.records) return;
  if (sale.record.bids.size() == kMostBidsKept) sale.record.bids.erase(sale.record.bids.begin());
  sale.record.bids.push_back({loop_.now(), bid});
}

void Dispatcher::offered(std::int64_t job) {
  const GlobalQueue::Lot* lot = queue_.find(job);
  if (!lot) return;
  open_lot(job, *lot);
  if (queue_.seller(*lot) == self_) sell(job, *lot);
  load_changed_ = load_changed_ || rules_.look == Duration{0};
  // This site is said to hold a job that it has given up: the site that should have had it is gone. Then this site
  // takes it for good.
  const bool lost_it = queue_.holder(*lot) == self_ && !here_.contains(job) && !queue_.claimed(*lot);
  if (lost_it && !requests_.out(OpenRequests::About::job, job)) requests_.claim(queue_, *lot, self_);
}

// The site that settles a claim owns the job; only then does it take the job.
void Dispatcher::claimed(std::int64_t job, SiteId site) {
  bidder_.over(job);
  wishes_.erase(job);
  auctions_.erase(job);
  if (site == self_) return settle(job);
  if (queue_.won(job)) return;  // an offer that another site has put up again: it is this site's
  if (const auto here = here_.find(job); here != here_.end() && !here->second.ours) lose(job);
}

void Dispatcher::settle(std::int64_t job) {
  const GlobalQueue::Lot* lot = queue_.find(job);
  if (!lot || epoch() == 0 || !queue_.claimed(*lot) || lot->claim.site != self_) return;
  if (requests_.out(OpenRequests::About::job, job)) return;
  Request request{.kind = Request::Kind::settle, .token = {}, .site = self_, .epoch = epoch(), .job = job};
  request.job_seen = lot->revision;
  request.claim_seen = lot->claim.revision;
  requests_.send(request);
}

void Dispatcher::settled(std::int64_t job, SiteId site) {
  bidder_.over(job);
  auctions_.erase(job);
  const auto here = here_.find(job);
  if (site != self_) {
    if (here != here_.end() && gone(job, here->second)) lose(job);
    return;
  }
  const GlobalQueue::Win* win = queue_.won(job);
  if (!win || over_.contains(job)) return;
  if (here == here_.end() && !site_.has(job)) {
    const Offer offer = *win->offer;
    here_[job] = {offer.home, offer.serial};
    site_.take_won(offer);
  }
  obey(job);
}

// What its home does not want any more ends here; where this is the home, that has no need of being asked.
void Dispatcher::obey(std::int64_t job) {
  const GlobalQueue::Win* win = queue_.won(job);
  if (!win || win->offer->home == self_ || !here_.contains(job)) return;
  if (queue_.cancelled(job, win->offer->home)) site_.cancelled(job);
}

// An epoch has begun or is over: what it has bid, claimed or held is void, and its sales are others' now.
void Dispatcher::members_changed(SiteId site) {
  for (auto& [job, sale] : auctions_) {
    if (!queue_.bid(job, site)) sale.auctioneer.loses(site);
  }
  std::vector<std::int64_t> open_again;
  for (const auto& [job, lot] : queue_.lots()) {
    const bool was_claimed = lot.claim.revision != 0 && lot.claim.site == site;
    if (was_claimed && !queue_.claimed(lot)) open_again.push_back(job);
  }
  for (const std::int64_t job : open_again) offered(job);
  share_out_sales();
}

void Dispatcher::share_out_sales() {
  for (const auto& [job, lot] : queue_.lots()) {
    const auto sale = auctions_.find(job);
    if (queue_.claimed(lot) || queue_.seller(lot) != self_) {
      if (sale != auctions_.end()) auctions_.erase(sale);
    } else if (sale == auctions_.end() || sale->second.round != lot.round() ||
               sale->second.holder != queue_.holder(lot)) {
      sell(job, lot);
    }
  }
}

// Whatever it had asked for in an earlier epoch was refused, or is void.
void Dispatcher::begin_epoch() {
  for (const auto& [job, lot] : queue_.lots()) {
    if (queue_.claimed(lot)) continue;
    open_lot(job, lot);
    load_changed_ = load_changed_ || rules_.look == Duration{0};
  }
  follow_up_all();
}

// It has missed something: from what is so now, not from what has happened.
void Dispatcher::rebuild() {
  bidder_ = Bidder(self_, rules_.bid);
  wishes_.clear();
  auctions_.clear();
  std::vector<std::int64_t> lots;
  for (const auto& [job, lot] : queue_.lots()) lots.push_back(job);
  for (const std::int64_t job : lots) {
    const GlobalQueue::Lot* lot = queue_.find(job);
    if (!lot) continue;
    if (queue_.claimed(*lot)) {
      claimed(job, lot->claim.site);
    } else {
      offered(job);
    }
  }
  std::vector<std::int64_t> wins;
  for (const auto& [job, win] : queue_.wins()) wins.push_back(job);
  for (const std::int64_t job : wins) settled(job, self_);
  follow_up_all();
}

void Dispatcher::look_and_bid(Instant now) {
  const bool look = next_look_ <= now || (rules_.look == Duration{0} && load_changed_);
  while (next_look_ <= now) next_look_ += rules_.look;
  if (epoch() == 0) return;
  again_ = again_ || look || load_changed_;
  const bool held_too = again_ && next_again_ <= now;
  if ((look || load_changed_ || held_too) && bidder_.open() > 0) {
    const std::vector<Coming> coming = site_.coming();
    const Outlook outlook{now, coming};
    const bool join = joins(look) || (held_too && rules_.look == Duration{0});
    send(join ? bidder_.look(site_.view(), outlook, held_too) : bidder_.refresh(site_.view(), outlook, held_too));
  }
  if (held_too) {
    again_ = false;
    next_again_ = now + rules_.bids_again;
  }
  again_ = again_ && rules_.second_thoughts && bidder_.holds_any();
  load_changed_ = false;
  freed_ = false;
}

// Where auctions are not looked for, each site takes part at once. Where nothing runs nothing will come free.
bool Dispatcher::joins(bool look) const {
  if (rules_.join == Joining::look || rules_.look == Duration{0}) return look;
  return freed_ || (look && site_.view().running().empty());
}

// The sites that live and could run the job.
std::size_t Dispatcher::could_join(const GlobalQueue::Lot& lot) const {
  const std::vector<Duration> soonest = site_.soonest(*lot.offer);
  std::size_t sites = 0;
  for (std::uint32_t s = 0; s < soonest.size(); ++s) {
    if (soonest[s] < kLongest && queue_.epoch_of(SiteId{s}) != 0) ++sites;
  }
  return sites;
}

void Dispatcher::send(const std::vector<Bidder::Message>& messages) {
  for (const Bidder::Message& m : messages) bid(m.job, m.bid);
}

void Dispatcher::bid(std::int64_t job, const Bid& bid) {
  if (requests_.out(OpenRequests::About::bid, job)) {
    wishes_[job] = bid;
    return;
  }
  const GlobalQueue::Lot* lot = queue_.find(job);
  if (!lot || queue_.claimed(*lot) || epoch() == 0) return;
  Request request{.kind = Request::Kind::bid, .token = {}, .site = self_, .epoch = epoch(), .job = job};
  request.job_seen = lot->revision;
  request.claim_seen = lot->claim.revision;
  request.own_seen = queue_.own_bid(job);
  request.bid = bid;
  requests_.send(request);
}

void Dispatcher::close_auctions(Instant now) {
  if (epoch() == 0) return;
  for (auto& [job, sale] : auctions_) {
    Auctioneer& auctioneer = sale.auctioneer;
    const bool asked = requests_.out(OpenRequests::About::job, job);
    const GlobalQueue::Lot* lot = queue_.find(job);
    const bool open = lot && !queue_.claimed(*lot);
    if (lot && rules_.auction.buyers > 1) auctioneer.could_join(could_join(*lot));
    if (auctioneer.over()) {
      if (open && !asked) sell(job, *lot);  // the claim came to nothing, and bids may have come meanwhile
      continue;
    }
    if (auctioneer.closes(now) > now && !auctioneer.settled()) continue;
    const auto winner = auctioneer.close(now);
    if (!winner) continue;
    if (open && !asked && queue_.epoch_of(winner->site) != 0) {
      std::string record;
      if (rules_.records) {
        sale.record.closed = now;
        sale.record.seller = self_;
        sale.record.winner = winner->site;
        record = text_of(sale.record, lot->offer->submitted);
      }
      requests_.claim(queue_, *lot, winner->site, std::move(record));
    } else {
      auctioneer.reopen(now, winner->site);
    }
  }
}

}  // namespace rota

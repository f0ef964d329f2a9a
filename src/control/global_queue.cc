#include "control/global_queue.h"

#include <algorithm>

#include "base/hash.h"

namespace rota {

void GlobalQueue::forget_all() {
  complete_ = false;
  sites_.clear();
  last_.clear();
  lots_.clear();
  bids_.clear();
  wins_.clear();
  away_.clear();
  reports_.clear();
  cancelled_.clear();
}

bool GlobalQueue::fold(const Change& change) {
  using enum Change::Kind;
  if (change.kind == refused) return false;
  if (change.kind == resync) {
    forget_all();
    return true;
  }
  if (complete_ && change.revision < revision_) return false;  // told twice
  fold_known(change);
  if (change.kind == resynced) complete_ = true;
  if (complete_) revision_ = change.revision;
  return true;
}

void GlobalQueue::fold_known(const Change& c) {
  using enum Change::Kind;
  switch (c.kind) {
    case joined:
      sites_[c.site] = {true, c.epoch, c.token};
      return;
    case gone:
      if (lives(c.site, c.epoch)) sites_[c.site].alive = false;
      return;
    case counted:
      last_[c.site] = c.last;
      if (epoch_of(c.site) == 0) sites_[c.site].epoch = c.epoch;
      return;
    case offered:
    case put_back:
    case forfeited:
      lots_[c.job] = {c.offer, c.revision, c.kind == forfeited ? SiteId{} : c.site, c.epoch, {}};
      if (std::int64_t& last = last_[c.offer->home]; last < c.offer->serial) last = c.offer->serial;
      if (c.site == self_) wins_.erase(c.job);
      away_.erase(c.job);
      return;
    case bid:
      bids_[c.job][c.site] = {c.bid, c.epoch, c.revision};
      return;
    case withdrawn:
      if (const auto of = bids_.find(c.job); of != bids_.end() && of->second.erase(c.site) > 0) {
        if (of->second.empty()) bids_.erase(of);
      }
      return;
    case claimed:
      if (const auto lot = lots_.find(c.job); lot != lots_.end()) {
        lot->second.claim = {c.site, c.epoch, c.token, c.revision};
      }
      return;
    case settled:
      lots_.erase(c.job);
      if (const auto of = bids_.find(c.job); of != bids_.end() && of->second.erase(c.site) > 0) {
        if (of->second.empty()) bids_.erase(of);
      }
      if (c.site == self_) {
        wins_[c.job] = {c.offer, c.revision};
      } else if (c.offer->home == self_) {
        away_[c.job] = {c.site, c.revision};
      }
      return;
    case ended:
      if (c.site == self_) wins_.erase(c.job);
      away_.erase(c.job);
      if (c.report.empty()) cancelled_.erase({c.job, c.site});
      if (!c.report.empty() && c.home == self_) reports_[c.job] = {c.site, c.report};
      return;
    case cancelled:
      cancelled_.emplace(c.job, c.site);
      return;
    case noted:
      reports_.erase(c.job);
      cancelled_.erase({c.job, c.site});
      return;
    case refused:
    case resync:
    case resynced:
      return;
  }
}

Epoch GlobalQueue::epoch_of(SiteId site) const {
  const auto member = sites_.find(site);
  return member == sites_.end() || !member->second.alive ? 0 : member->second.epoch;
}

Epoch GlobalQueue::latest_epoch_of(SiteId site) const {
  const auto member = sites_.find(site);
  return member == sites_.end() ? 0 : member->second.epoch;
}

Token GlobalQueue::joined_by(SiteId site) const {
  const auto member = sites_.find(site);
  return member == sites_.end() ? Token{} : member->second.token;
}

std::int64_t GlobalQueue::last_offered(SiteId home) const {
  const auto last = last_.find(home);
  return last == last_.end() ? 0 : last->second;
}

const GlobalQueue::Lot* GlobalQueue::find(std::int64_t job) const {
  const auto lot = lots_.find(job);
  return lot == lots_.end() ? nullptr : &lot->second;
}

SiteId GlobalQueue::seller(const Lot& lot) const {
  if (epoch_of(lot.offer->home) != 0) return lot.offer->home;
  SiteId best;
  std::uint64_t most = 0;
  for (const auto& [site, member] : sites_) {
    if (!member.alive) continue;
    Hash hash;
    hash.mix(static_cast<std::uint64_t>(lot.offer->spec.number));
    hash.mix(site.value);
    hash.mix(0);  // so that the number has come to bear on all bits
    if (best.valid() && hash.value() <= most) continue;
    best = site;
    most = hash.value();
  }
  return best;
}

const GlobalQueue::StandingBid* GlobalQueue::bid(std::int64_t job, SiteId site) const {
  const auto of = bids_.find(job);
  if (of == bids_.end()) return nullptr;
  const auto found = of->second.find(site);
  return found == of->second.end() || !lives(site, found->second.epoch) ? nullptr : &found->second;
}

Revision GlobalQueue::own_bid(std::int64_t job) const {
  const auto of = bids_.find(job);
  if (of == bids_.end()) return 0;
  const auto own = of->second.find(self_);
  return own == of->second.end() ? 0 : own->second.revision;
}

bool GlobalQueue::counts(const Lot& lot, const StandingBid& bid, SiteId site) const {
  return bid.revision > lot.round() && lives(site, bid.epoch);
}

const GlobalQueue::Win* GlobalQueue::won(std::int64_t job) const {
  const auto win = wins_.find(job);
  return win == wins_.end() ? nullptr : &win->second;
}

const GlobalQueue::Away* GlobalQueue::away(std::int64_t job) const {
  const auto found = away_.find(job);
  return found == away_.end() ? nullptr : &found->second;
}

bool GlobalQueue::possible(const Request& request) const {
  if (!complete_) return true;
  if (request.kind == Request::Kind::join) return latest_epoch_of(self_) == request.epoch;
  if (!lives(self_, request.epoch)) return false;
  const Lot* lot = find(request.job);
  const Win* win = won(request.job);
  const bool as_seen = lot && lot->revision == request.job_seen && lot->claim.revision == request.claim_seen;
  switch (request.kind) {
    case Request::Kind::join:
    case Request::Kind::renew:
      return true;
    case Request::Kind::offer:
      return last_offered(self_) < request.offers.back()->serial;
    case Request::Kind::bid:
      return as_seen && own_bid(request.job) == request.own_seen;
    case Request::Kind::withdraw:
      return !lot && own_bid(request.job) != 0;
    case Request::Kind::claim:
      return as_seen && lives(request.winner, request.winner_epoch);
    case Request::Kind::settle:
      return as_seen;
    case Request::Kind::put_back:
    case Request::Kind::end:
      return win && win->revision == request.own_seen;
    case Request::Kind::cancel: {
      const Away* const there = away(request.job);
      return there && there->revision == request.own_seen && !cancelled(request.job, self_);
    }
    case Request::Kind::note:
      return reports_.contains(request.job);
  }
  return false;
}

}  // namespace rota

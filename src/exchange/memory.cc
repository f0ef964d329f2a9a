#include "exchange/memory.h"

#include <algorithm>
#include <utility>

namespace rota {

void MemoryExchange::send(const Request& request) {
  if (!apply(request)) {
    Change change{.kind = Change::Kind::refused, .revision = revision_, .token = request.token, .site = request.site};
    change.job = request.job;
    change.refused = request.kind;
    change.record = record_of(request);
    refusals_.push_back(std::move(change));
  }
  tell();
}

bool MemoryExchange::apply(const Request& request) {
  if (request.kind == Request::Kind::join) return join(request);
  if (!current(request.site, request.epoch)) return false;
  switch (request.kind) {
    case Request::Kind::join:
      break;
    case Request::Kind::renew:
      return renew(request);
    case Request::Kind::offer:
      return offer(request);
    case Request::Kind::bid:
      return bid(request);
    case Request::Kind::withdraw:
      return withdraw(request);
    case Request::Kind::claim:
      return claim(request);
    case Request::Kind::settle:
      return settle(request);
    case Request::Kind::put_back:
      return put_back(request);
    case Request::Kind::end:
      return end(request);
    case Request::Kind::cancel:
      return cancel(request);
    case Request::Kind::note:
      return note(request);
  }
  return false;
}

bool MemoryExchange::current(SiteId site, Epoch epoch) const {
  const auto member = sites_.find(site);
  if (member == sites_.end()) return false;
  return member->second.until > loop_.now() && (member->second.epoch == epoch || !options_.compares_epochs);
}

bool MemoryExchange::join(const Request& request) {
  Epoch& latest = pasts_[request.site].epoch;
  if (request.epoch != latest) return false;
  latest = revision_ + 1;
  sites_[request.site] = {latest, loop_.now() + request.ttl, request.token};
  set_alarm();
  happened({.kind = Change::Kind::joined, .token = request.token, .site = request.site, .epoch = latest});
  return true;
}

bool MemoryExchange::renew(const Request& request) {
  Member& member = sites_.at(request.site);
  member.until = std::max(member.until, loop_.now() + request.ttl);
  set_alarm();
  return true;
}

void MemoryExchange::set_alarm() {
  Instant next = kNever;
  for (const auto& [site, member] : sites_) next = std::min(next, member.until);
  loop_.set(*this, next);
}

void MemoryExchange::ring() {
  for (auto member = sites_.begin(); member != sites_.end();) {
    if (member->second.until > loop_.now()) {
      ++member;
      continue;
    }
    happened({.kind = Change::Kind::gone, .site = member->first, .epoch = member->second.epoch});
    member = sites_.erase(member);
  }
  set_alarm();
  tell();
}

bool MemoryExchange::offer(const Request& request) {
  std::int64_t& last = pasts_[request.site].last;
  if (last != request.last) return false;
  for (const auto& offer : request.offers) {
    const std::int64_t job = offer->spec.number;
    if (offer->serial <= last || lots_.contains(job) || wins_.contains(job)) return false;
  }
  for (const auto& offer : request.offers) {
    const std::int64_t job = offer->spec.number;
    last = offer->serial;
    lots_[job] = {offer, {}, 0, request.token, revision_ + 1};
    happened({.kind = Change::Kind::offered, .token = request.token, .job = job, .offer = offer});
  }
  return true;
}

MemoryExchange::Lot* MemoryExchange::seen_lot(const Request& request) {
  const auto found = lots_.find(request.job);
  if (found == lots_.end() || found->second.revision != request.job_seen) return nullptr;
  if (found->second.claim.revision != request.claim_seen && options_.compares_claims) return nullptr;
  return &found->second;
}

bool MemoryExchange::bid(const Request& request) {
  const Lot* lot = seen_lot(request);
  if (!lot || (lot->claim.revision != 0 && current(lot->claim.site, lot->claim.epoch))) return false;
  const auto own = bids_.find({request.job, request.site});
  if (request.own_seen != (own == bids_.end() ? 0 : own->second.revision)) return false;
  bids_[{request.job, request.site}] = {request.bid, request.epoch, request.token, revision_ + 1};
  Change change{.kind = Change::Kind::bid, .token = request.token, .site = request.site, .epoch = request.epoch};
  change.job = request.job;
  change.bid = request.bid;
  happened(std::move(change));
  return true;
}

bool MemoryExchange::withdraw(const Request& request) {
  if (lots_.contains(request.job) || bids_.erase({request.job, request.site}) == 0) return false;
  happened({.kind = Change::Kind::withdrawn, .token = request.token, .site = request.site, .job = request.job});
  return true;
}

bool MemoryExchange::claim(const Request& request) {
  Lot* lot = seen_lot(request);
  if (!lot || !current(request.winner, request.winner_epoch)) return false;
  const bool stands = lot->claim.revision != 0 && current(lot->claim.site, lot->claim.epoch);
  if (stands && options_.compares_claims) return false;
  lot->claim = {request.winner, request.winner_epoch, request.token, revision_ + 1};
  Change change{.kind = Change::Kind::claimed, .token = request.token, .site = request.winner};
  change.epoch = request.winner_epoch;
  change.job = request.job;
  change.auction = request.auction;
  happened(std::move(change));
  return true;
}

bool MemoryExchange::settle(const Request& request) {
  const Lot* lot = seen_lot(request);
  if (!lot || lot->claim.revision == 0 || lot->claim.site != request.site) return false;
  if (lot->claim.epoch != request.epoch && options_.compares_epochs) return false;
  Change change{.kind = Change::Kind::settled, .token = request.token, .site = request.site, .job = request.job};
  change.offer = lot->offer;
  wins_[request.job] = {request.site, lot->offer, request.token, revision_ + 1};
  lots_.erase(request.job);
  bids_.erase({request.job, request.site});
  happened(std::move(change));
  return true;
}

MemoryExchange::Win* MemoryExchange::own_win(const Request& request) {
  const auto win = wins_.find(request.job);
  const bool own = win != wins_.end() && win->second.site == request.site && win->second.revision == request.own_seen;
  return own ? &win->second : nullptr;
}

bool MemoryExchange::put_back(const Request& request) {
  const Win* win = own_win(request);
  if (!win) return false;
  Change change{.kind = Change::Kind::put_back, .token = request.token, .site = request.site, .epoch = request.epoch};
  change.job = request.job;
  change.offer = win->offer;
  lots_[request.job] = {win->offer, request.site, request.epoch, request.token, revision_ + 1};
  wins_.erase(request.job);
  happened(std::move(change));
  return true;
}

bool MemoryExchange::end(const Request& request) {
  const Win* win = own_win(request);
  if (!win) return false;
  Change change{.kind = Change::Kind::ended, .token = request.token, .site = request.site, .job = request.job};
  if (!request.report.empty()) {
    change.report = request.report;
    change.home = win->offer->home;
    reports_[request.job] = {request.site, change.home, request.report, request.token, revision_ + 1};
  } else {
    cancels_.erase(request.job);
  }
  wins_.erase(request.job);
  happened(std::move(change));
  return true;
}

bool MemoryExchange::cancel(const Request& request) {
  const auto win = wins_.find(request.job);
  const bool seen = win != wins_.end() && win->second.revision == request.own_seen;
  if (!seen || win->second.offer->home != request.site) return false;
  cancels_[request.job] = request.token;
  happened({.kind = Change::Kind::cancelled, .token = request.token, .site = request.site, .job = request.job});
  return true;
}

std::size_t MemoryExchange::forfeit(SiteId dead) {
  if (sites_.contains(dead)) return 0;
  std::vector<std::int64_t> jobs;
  for (const auto& [job, win] : wins_) {
    if (win.site == dead && win.offer->home != dead) jobs.push_back(job);
  }
  for (const std::int64_t job : jobs) {
    const auto win = wins_.extract(job);
    lots_[job] = {win.mapped().offer, {}, 0, {}, revision_ + 1};
    happened({.kind = Change::Kind::forfeited, .site = dead, .job = job, .offer = win.mapped().offer});
  }
  tell();
  return jobs.size();
}

bool MemoryExchange::note(const Request& request) {
  const auto report = reports_.find(request.job);
  if (report == reports_.end() || report->second.home != request.site) return false;
  reports_.erase(report);
  cancels_.erase(request.job);
  happened({.kind = Change::Kind::noted, .token = request.token, .site = request.site, .job = request.job});
  return true;
}

// What the request would have written stands as the request of this token has made it.
Token MemoryExchange::record_of(const Request& request) const {
  const auto lot = lots_.find(request.job);
  const auto win = wins_.find(request.job);
  switch (request.kind) {
    case Request::Kind::join:
    case Request::Kind::renew:
      return sites_.contains(request.site) ? sites_.at(request.site).token : Token{};
    case Request::Kind::bid:
    case Request::Kind::withdraw: {
      const auto own = bids_.find({request.job, request.site});
      return own == bids_.end() ? Token{} : own->second.token;
    }
    case Request::Kind::claim:
      return lot == lots_.end() ? Token{} : lot->second.claim.token;
    case Request::Kind::offer:
    case Request::Kind::put_back:
      return lot == lots_.end() ? Token{} : lot->second.token;
    case Request::Kind::settle:
    case Request::Kind::end:
      return win == wins_.end() ? Token{} : win->second.token;
    case Request::Kind::cancel:
      return cancels_.contains(request.job) ? cancels_.at(request.job) : Token{};
    case Request::Kind::note:
      return reports_.contains(request.job) ? reports_.at(request.job).token : Token{};
  }
  return {};
}

MemoryExchange::Sizes MemoryExchange::sizes() const {
  const auto claimed = [](const auto& lot) { return lot.second.claim.revision != 0; };
  const auto claims = static_cast<std::size_t>(std::count_if(lots_.begin(), lots_.end(), claimed));
  return {sites_.size(), lots_.size(), claims,          bids_.size(),
          wins_.size(),  log_.size(),  reports_.size(), cancels_.size()};
}

void MemoryExchange::happened(Change change) {
  change.revision = ++revision_;
  log_.push_back(std::move(change));
}

// Tells one change after the other to all watchers; what they ask for in return comes behind.
void MemoryExchange::tell() {
  if (std::exchange(telling_, true)) return;
  for (bool more = true; more;) {
    more = false;
    Revision next = kNever.time_since_epoch().count();
    for (const Listener& l : listeners_) {
      if (l.watcher && l.delivered < revision_) next = std::min(next, l.delivered + 1);
    }
    for (Listener& l : listeners_) {
      if (!l.watcher || l.delivered + 1 != next) continue;
      l.delivered = next;
      more = true;
      l.watcher->hear(Change(log_[log_.size() - 1 - static_cast<std::size_t>(revision_ - next)]));
    }
    if (more || refusals_.empty()) continue;
    const Change refusal = std::move(refusals_.front());
    refusals_.pop_front();
    more = true;
    for (const Listener& l : listeners_) {
      if (l.watcher && l.site == refusal.site) l.watcher->hear(refusal);
    }
  }
  telling_ = false;
  trim();
}

// Behind the slowest, but not for ever.
void MemoryExchange::trim() {
  Revision delivered = revision_;
  for (const Listener& l : listeners_) delivered = std::min(delivered, l.delivered);
  const auto wanted = std::min(static_cast<std::size_t>(revision_ - delivered), options_.kept);
  while (log_.size() > wanted) log_.pop_front();
  std::erase_if(listeners_, [&](const Listener& l) {
    return !l.watcher && l.delivered < revision_ - static_cast<Revision>(log_.size());
  });
}

void MemoryExchange::watch(SiteId site, Watcher& watcher, Revision seen) {
  const auto same = [&](const Listener& l) { return l.watcher == &watcher || (site.valid() && l.site == site); };
  const auto known = std::find_if(listeners_.begin(), listeners_.end(), same);
  Listener& listener = known == listeners_.end() ? listeners_.emplace_back() : *known;
  listener = {site, &watcher, seen};
  const bool knows_nothing = seen == 0 && revision_ > 0;
  if (knows_nothing || seen < revision_ - static_cast<Revision>(log_.size())) retell(listener);
  tell();
}

void MemoryExchange::stop(Watcher& watcher) {
  for (Listener& l : listeners_) {
    if (l.watcher == &watcher) l.watcher = nullptr;
  }
  std::erase_if(listeners_, [](const Listener& l) { return !l.watcher && !l.site.valid(); });
}

// What it asks for in return waits until it has been told all.
void MemoryExchange::retell(Listener& listener) {
  telling_ = true;
  listener.delivered = revision_;
  Watcher& watcher = *listener.watcher;
  watcher.hear({.kind = Change::Kind::resync, .revision = revision_});
  for (const auto& [site, m] : sites_) {
    watcher.hear({.kind = Change::Kind::joined, .revision = m.epoch, .token = m.token, .site = site, .epoch = m.epoch});
  }
  for (const auto& [site, past] : pasts_) {
    Change change{.kind = Change::Kind::counted, .revision = revision_, .site = site, .epoch = past.epoch};
    change.last = past.last;
    watcher.hear(change);
  }
  for (const auto& [job, lot] : lots_) {
    Change change{.kind = Change::Kind::offered, .revision = lot.revision, .token = lot.token, .site = lot.holder};
    change.epoch = lot.holder_epoch;
    change.job = job;
    change.offer = lot.offer;
    watcher.hear(change);
    if (lot.claim.revision == 0) continue;
    change = {.kind = Change::Kind::claimed, .revision = lot.claim.revision, .token = lot.claim.token};
    change.site = lot.claim.site;
    change.epoch = lot.claim.epoch;
    change.job = job;
    watcher.hear(change);
  }
  for (const auto& [key, row] : bids_) {
    Change change{.kind = Change::Kind::bid, .revision = row.revision, .token = row.token, .site = key.second};
    change.epoch = row.epoch;
    change.job = key.first;
    change.bid = row.bid;
    watcher.hear(change);
  }
  for (const auto& [job, win] : wins_) {
    Change change{.kind = Change::Kind::settled, .revision = win.revision, .token = win.token, .site = win.site};
    change.job = job;
    change.offer = win.offer;
    watcher.hear(change);
  }
  for (const auto& [job, token] : cancels_) {
    const auto home = wins_.contains(job)   ? wins_.at(job).offer->home
                      : lots_.contains(job) ? lots_.at(job).offer->home
                                            : reports_.at(job).home;
    watcher.hear({.kind = Change::Kind::cancelled, .revision = revision_, .token = token, .site = home, .job = job});
  }
  for (const auto& [job, report] : reports_) {
    Change change{.kind = Change::Kind::ended, .revision = report.revision, .token = report.token, .site = report.site};
    change.job = job;
    change.report = report.text;
    change.home = report.home;
    watcher.hear(change);
  }
  watcher.hear({.kind = Change::Kind::resynced, .revision = revision_});
  telling_ = false;
}

}  // namespace rota

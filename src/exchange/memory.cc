#include "exchange/memory.h"

#include <algorithm>
#include <string>

namespace rota {

Result<void> MemoryExchange::offer(const Offer& offer) {
  if (!records_.try_emplace(offer.spec.number, Record{offer, State::open, {}}).second) {
    return fail("job " + std::to_string(offer.spec.number) +
                " was offered to the federation before; give every job a number of its own.");
  }
  happened({.kind = Change::Kind::offered, .job = offer.spec.number, .site = {}, .bid = {}});
  return {};
}

const Offer* MemoryExchange::find(std::int64_t job) const {
  const auto found = records_.find(job);
  return found == records_.end() || found->second.state == State::settled ? nullptr : &found->second.offer;
}

void MemoryExchange::lease(SiteId site, Duration ttl) {
  leases_[site] = loop_.now() + ttl;
  Instant next = kNever;
  for (const auto& [of, until] : leases_) next = std::min(next, until);
  loop_.set(*this, next);
}

void MemoryExchange::ring() {
  std::vector<SiteId> gone;
  Instant next = kNever;
  for (const auto& [site, until] : leases_) {
    if (until <= loop_.now()) {
      gone.push_back(site);
    } else {
      next = std::min(next, until);
    }
  }
  for (const SiteId site : gone) expire(site);
  loop_.set(*this, next);
}

// Its bids are void, what it has claimed and not settled is open again, and it holds nothing any more.
void MemoryExchange::expire(SiteId site) {
  leases_.erase(site);
  happened({.kind = Change::Kind::gone, .site = site, .bid = {}});
  for (auto& [job, record] : records_) {
    if (record.offer.holder == site) record.offer.holder = {};
    if (record.state != State::claimed || record.claimant != site) continue;
    record.state = State::open;
    record.claimant = {};
    happened({.kind = Change::Kind::reopened, .job = job, .site = site, .bid = {}});
  }
}

bool MemoryExchange::alive(SiteId site) const {
  const auto lease = leases_.find(site);
  return lease != leases_.end() && lease->second > loop_.now();
}

MemoryExchange::Record* MemoryExchange::record(std::int64_t job, State state) {
  const auto found = records_.find(job);
  return found == records_.end() || found->second.state != state ? nullptr : &found->second;
}

bool MemoryExchange::bid(std::int64_t job, const Bid& bid) {
  if (!alive(bid.site) || !record(job, State::open)) return false;
  happened({.kind = Change::Kind::bid, .job = job, .site = bid.site, .bid = bid});
  return true;
}

bool MemoryExchange::claim(std::int64_t job, SiteId site) {
  Record* open = alive(site) ? record(job, State::open) : nullptr;
  if (!open) return false;
  open->state = State::claimed;
  open->claimant = site;
  happened({.kind = Change::Kind::claimed, .job = job, .site = site, .bid = {}});
  return true;
}

bool MemoryExchange::settle(std::int64_t job, SiteId site) {
  Record* claimed = record(job, State::claimed);
  if (!claimed || claimed->claimant != site || !alive(site)) return false;
  claimed->state = State::settled;
  happened({.kind = Change::Kind::settled, .job = job, .site = site, .bid = {}});
  return true;
}

bool MemoryExchange::put_back(std::int64_t job, SiteId site) {
  Record* settled = record(job, State::settled);
  if (!settled || settled->claimant != site || !alive(site)) return false;
  settled->state = State::open;
  settled->offer.holder = site;
  happened({.kind = Change::Kind::reopened, .job = job, .site = site, .bid = {}});
  return true;
}

std::span<const Change> MemoryExchange::changes(Revision seen) const {
  return std::span(log_).subspan(static_cast<std::size_t>(seen));
}

void MemoryExchange::happened(Change change) {
  change.revision = static_cast<Revision>(log_.size()) + 1;
  log_.push_back(change);
  for (Alarm* watcher : watchers_) loop_.set(*watcher, loop_.now());
}

}  // namespace rota

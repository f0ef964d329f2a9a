#include "policy/auction/auction.h"

#include <algorithm>

#include "base/check.h"
#include "policy/auction/bid_room.h"

namespace rota {

Auctioneer::Auctioneer(const AuctionRules& rules, std::vector<Duration> soonest, Instant opened, SiteId holder)
    : rules_(rules), soonest_(std::move(soonest)), closes_(opened + rules.length), holder_(holder) {}

void Auctioneer::hears(const Bid& bid) {
  if (!won_) bids_[bid.site] = bid;
}

void Auctioneer::loses(SiteId site) {
  bids_.erase(site);
  if (site == holder_) holder_ = {};
}

bool Auctioneer::settled() const {
  if (won_ || bids_.empty() || rules_.close == Close::on_time || holder_.valid()) return false;
  if (!winner()) return false;
  Duration earliest = Duration::max();
  for (const auto& [site, bid] : bids_) {
    if (counts(bid)) earliest = std::min(earliest, bid.start);
  }
  if (rules_.close == Close::unbeatable) return earliest <= Duration{0};
  Duration gain{0};
  for (std::uint32_t s = 0; s < soonest_.size(); ++s) {
    if (!bids_.contains(SiteId{s})) gain += std::max(Duration{0}, earliest - soonest_[s]);
  }
  return gain <= rules_.patience;
}

const Bid* Auctioneer::best() const {
  const Bid* best = nullptr;
  for (const auto& [site, bid] : bids_) {
    if (counts(bid) && (!best || bid.price > best->price)) best = &bid;
  }
  return best;
}

const Bid* Auctioneer::winner() const {
  const Bid* const highest = enough_buyers() ? best() : nullptr;
  if (!highest || !holder_.valid()) return highest;
  const auto kept = bids_.find(holder_);
  if (kept == bids_.end()) return nullptr;
  return highest->price > kept->second.price + rules_.margin ? highest : nullptr;
}

Instant Auctioneer::closes(Instant now) const {
  if (!holder_.valid()) return closes_;
  if (!winner()) return kNever;
  if (closes_ >= now) return closes_;
  return closes_ + (now - closes_ + rules_.length - Duration{1}) / rules_.length * rules_.length;
}

std::optional<Bid> Auctioneer::close(Instant now) {
  CHECK(!won_, "an auction is closed once");
  if (const Bid* const sold = winner()) {
    won_ = true;
    return *sold;
  }
  closes_ = now + rules_.length;
  return std::nullopt;
}

void Auctioneer::reopen(Instant now, SiteId without) {
  loses(without);
  won_ = false;
  closes_ = now + rules_.length;
}

Bidder::Bidder(SiteId site, const BidRules& rules) : site_(site), rules_(rules) {}

void Bidder::opened(const JobSpec& job, const Haul& haul, bool held) {
  lots_[job.number] = {job, haul, false, held, {}};
}

void Bidder::over(std::int64_t job) { lots_.erase(job); }

std::vector<Bidder::Message> Bidder::look(const View& view, const Outlook& outlook, bool held_too) {
  return bids(view, outlook, {true, held_too});
}

std::vector<Bidder::Message> Bidder::refresh(const View& view, const Outlook& outlook, bool held_too) {
  return bids(view, outlook, {false, held_too});
}

bool Bidder::holds_any() const {
  return std::any_of(lots_.begin(), lots_.end(), [](const auto& lot) { return lot.second.held; });
}

std::vector<Bidder::Message> Bidder::bids(const View& view, const Outlook& outlook, Which which) {
  std::vector<Message> messages;
  BidRoom room(view, std::max(view.now(), outlook.now));
  const Outlook shared{outlook.now, outlook.coming, &room};
  for (auto& [number, lot] : lots_) {
    if ((!lot.joined && !which.join) || (lot.held && !which.held_too)) continue;
    auto bid = bid_for(rules_, view, lot.job, lot.haul, shared);
    if (!bid && !lot.joined) continue;
    if (!bid) bid = bid_of_the_unable(rules_, lot.haul);
    bid->site = site_;
    bid->fact = view.sequence();
    if (lot.joined && lot.bid.price == bid->price && lot.bid.start == bid->start) continue;
    lot.joined = true;
    lot.bid = *bid;
    messages.push_back({number, *bid});
  }
  return messages;
}

}  // namespace rota

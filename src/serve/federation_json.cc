// What is shown of the sites and of the jobs of this home: to people, to other sites, and as it is kept with a job.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "control/auction_record.h"
#include "serve/federation_desk.h"
#include "serve/member_json.h"

namespace rota::serve {
namespace {

constexpr std::size_t kMostAuctions = 16 << 10;  // bytes that are kept of a job's auctions

}  // namespace

std::string FederationDesk::site_of(JobId job) const {
  const auto coming = coming_home_.find(job);
  const SiteId site = coming != coming_home_.end() ? coming->second : member_->away(number_of(job));
  return site.valid() ? name_of(site) : "";
}

// With the starts of jobs of other homes: these are put once a card, and not once a job.
SiteCard FederationDesk::own_card() const {
  constexpr std::size_t kMostStarts = 1000;  // some 40 bytes each
  SiteCard card = card_of(*uses_.desk.machine(), view(), uses_.settings);
  std::size_t starts = 0;
  for (const auto& [number, guest] : view().trades().guests()) {
    if (guest.stage != Trades::Guest::Stage::queued || guest.offer.home == self_ || !view().knows(guest.id)) continue;
    const Job& job = view().job(guest.id);
    if (job.state != JobState::running || starts++ >= kMostStarts) continue;
    card.started[name_of(guest.offer.home)][guest.offer.serial] = uses_.desk.loop().unix_milliseconds(job.start);
  }
  return card;
}

Instant FederationDesk::started_at(JobId job) const {
  const SiteCard* card = cards_->find(member_->away(number_of(job)));
  const auto jobs = card == nullptr ? decltype(card->started.end()){} : card->started.find(name());
  if (card == nullptr || jobs == card->started.end()) return kNever;
  const auto at = jobs->second.find(view().job(job).spec.number);
  return at == jobs->second.end() ? kNever : uses_.desk.loop().instant_of(at->second);
}

Json FederationDesk::auction_json(const AuctionRecord& auction) const {
  const RealLoop& loop = uses_.desk.loop();
  Json bids = Json::array();
  for (const auto& [at, bid] : auction.bids) {
    Json row{{"site", name_of(bid.site)},
             {"price", bid.price},
             {"start", bid.start.count()},
             {"input", bid.input.count()},
             {"fact", bid.fact}};
    if (at != kNever) row["at"] = loop.unix_milliseconds(at);
    if (bid.parts != std::array<Price, 3>{}) row["parts"] = bid.parts;
    bids.push_back(std::move(row));
  }
  Json json{{"opened", loop.unix_milliseconds(auction.opened)}, {"seller", name_of(auction.seller)}, {"bids", bids}};
  if (auction.closed != kNever) json["closed"] = loop.unix_milliseconds(auction.closed);
  if (auction.winner.valid()) json["winner"] = name_of(auction.winner);
  return json;
}

Json FederationDesk::open_auction(JobId job) const {
  if (!view().knows(job)) return nullptr;
  const GlobalQueue& queue = member_->global_queue();
  const GlobalQueue::Lot* lot = queue.find(number_of(job));
  if (lot == nullptr) return nullptr;
  AuctionRecord auction{lot->offer->submitted};
  auction.seller = queue.seller(*lot);
  if (const auto of = queue.bids().find(number_of(job)); of != queue.bids().end()) {
    for (const auto& [site, bid] : of->second) {
      if (queue.counts(*lot, bid, site))
        auction.bids.push_back({kNever, bid.bid});  // when it came is not kept until it is over
    }
  }
  return auction_json(auction);
}

std::string FederationDesk::sale_of(JobId job) const {
  const Json auction = open_auction(job);
  if (auction.is_null()) return "It is about to be offered to the sites of the federation.";
  const Json& bids = auction["bids"];
  if (bids.empty()) {
    std::size_t able = 0;
    const Offer& offer = *member_->global_queue().find(number_of(job))->offer;
    for (std::uint32_t s = 0; s < sites(); ++s) able += asked_at(SiteId{s}, offer) ? 1U : 0U;
    return fmt::format(
        "It is on offer to the sites of the federation. None has bid yet; {} of those that are alive may "
        "be able to run it.",
        able);
  }
  const auto best = std::ranges::max_element(bids, {}, [](const Json& bid) { return bid["price"].get<Price>(); });
  return fmt::format(
      "It is on offer to the sites of the federation. {} bid so far, {} the most; `rota auction {}` shows them.",
      bids.size() == 1 ? "1 has" : fmt::format("{} have", bids.size()), (*best)["site"].get<std::string>(),
      uses_.book.shown(job));
}

// What comes before the site knows the job waits for it.
void FederationDesk::auctioned(const Offer& offer, SiteId winner, const std::string& auction) {
  const auto record = parse_auction(auction, offer.submitted);
  if (!record) return;
  const std::string text = auction_json(*record).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (offer.home != self_) {
    if (winner == self_) auctions_[offer.spec.number] = '[' + text + ']';
    return;
  }
  later([this, serial = offer.serial, text] {
    const JobId job = uses_.book.numbered(serial);
    const JobEntry* entry = job.valid() ? uses_.book.find(job) : nullptr;
    if (entry == nullptr) return;
    const std::string before = rota::text_of(entry->about->texts, "auction");
    const bool grows = !before.empty() && before.size() + text.size() < kMostAuctions;
    note_site(job, "auction", grows ? before.substr(0, before.size() - 1) + ',' + text + ']' : '[' + text + ']');
  });
}

std::vector<SiteShown> FederationDesk::all_sites() const {
  std::vector<SiteShown> all;
  for (std::uint32_t s = 0; s < exchange_->names().size(); ++s) {
    const SiteCard* card = cards_->find(SiteId{s});
    const bool removed = card == nullptr && exchange_->epoch_of(SiteId{s}) == 0;  // or it has never come
    if (exchange_->names()[s].empty() || removed) continue;
    all.push_back({exchange_->names()[s], SiteId{s} == self_, exchange_->epoch_of(SiteId{s}) != 0,
                   exchange_->offered_by(SiteId{s}), exchange_->settled_by(SiteId{s}),
                   card != nullptr ? std::optional(*card) : std::nullopt});
  }
  return all;
}

// Empty where it is not kept: the job has been cancelled.
std::string FederationDesk::payload_of(const Offer& offer) const {
  const JobId job = uses_.book.numbered(offer.serial);
  const auto payload = job.valid() ? uses_.desk.store().payload(job) : Result<std::optional<store::Payload>>();
  const JobEntry* entry = job.valid() ? uses_.book.find(job) : nullptr;
  if (!payload || !*payload || entry == nullptr) return "";
  return seal_.close(digest_of(offer) + run_text((*payload)->script, entry->about->command, (*payload)->environment),
                     std::to_string(offer.spec.number));
}

std::size_t FederationDesk::bytes_of(const Offer& offer) const {
  const Travelling* asks = offers_.find(offer);
  return offer.request.size() + (asks == nullptr ? 0 : static_cast<std::size_t>(asks->run_bytes));
}

}  // namespace rota::serve

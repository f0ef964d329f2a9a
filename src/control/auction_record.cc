#include "control/auction_record.h"

#include <fmt/core.h>

#include <limits>

#include "base/text.h"

namespace rota {
namespace {

constexpr std::size_t kWordsOfHead = 4, kWordsOfBid = 9;

std::int64_t word_of(SiteId site) { return site.valid() ? std::int64_t{site.value} : -1; }
SiteId site_of(std::int64_t word) { return word < 0 ? SiteId{} : SiteId{static_cast<std::uint32_t>(word)}; }

}  // namespace

std::string text_of(const AuctionRecord& auction, Instant submitted) {
  const auto since = [&](Instant at) { return (at - submitted).count(); };
  std::string text = fmt::format("{} {} {} {}", since(auction.opened), since(auction.closed), word_of(auction.seller),
                                 word_of(auction.winner));
  for (const auto& [at, bid] : auction.bids) {
    text += fmt::format(" {} {} {} {} {} {} {} {} {}", since(at), word_of(bid.site), bid.price, bid.start.count(),
                        bid.input.count(), bid.parts[0], bid.parts[1], bid.parts[2], bid.fact);
  }
  return text;
}

std::optional<AuctionRecord> parse_auction(std::string_view text, Instant submitted) {
  std::vector<std::int64_t> words;
  for (const std::string_view word : split(text, ' ')) {
    const auto number = parse_integer(word);
    if (!number) return std::nullopt;
    words.push_back(*number);
  }
  const bool whole = words.size() >= kWordsOfHead && (words.size() - kWordsOfHead) % kWordsOfBid == 0;
  if (!whole || words.size() > kWordsOfHead + kMostBidsKept * kWordsOfBid) return std::nullopt;
  constexpr std::int64_t kMostSite = std::numeric_limits<std::int32_t>::max(), kLongAgo = kLongest.count();
  const auto at = [&](std::int64_t since) { return submitted + Duration{since}; };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t of_bid = i < kWordsOfHead ? SIZE_MAX : (i - kWordsOfHead) % kWordsOfBid;
    const bool site = i == 2 || i == 3 || of_bid == 1;
    const bool time = i < 2 || of_bid == 0 || of_bid == 3 || of_bid == 4;
    if (site && words[i] > kMostSite) return std::nullopt;
    if (time && (words[i] > kLongAgo || words[i] < -kLongAgo)) return std::nullopt;
  }
  AuctionRecord auction{at(words[0]), at(words[1]), site_of(words[2]), site_of(words[3])};
  for (std::size_t i = kWordsOfHead; i < words.size(); i += kWordsOfBid) {
    const Bid bid{site_of(words[i + 1]),
                  words[i + 2],
                  Duration{words[i + 3]},
                  Duration{words[i + 4]},
                  {words[i + 5], words[i + 6], words[i + 7]},
                  static_cast<std::uint64_t>(words[i + 8])};
    auction.bids.push_back({at(words[i]), bid});
  }
  return auction;
}

}  // namespace rota

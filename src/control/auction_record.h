// How an auction of the global queue went, as its seller has seen it: which bids came when, and which one won. It goes
// with the claim, and so to the job's home and to the site that won it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "policy/auction/bid.h"

namespace rota {

struct AuctionRecord {
  struct Heard {
    Instant at;
    Bid bid;
  };
  Instant opened;
  Instant closed = kNever;  // kNever: it goes on
  SiteId seller = {};
  SiteId winner = {};
  std::vector<Heard> bids = {};  // in the order in which they came; a later one of a site is in place of its earlier
};

inline constexpr std::size_t kMostBidsKept = 100;  // the latest of an auction

// In words of the sites, whose instants differ: they count from when the job was submitted, in milliseconds.
std::string text_of(const AuctionRecord& auction, Instant submitted);
std::optional<AuctionRecord> parse_auction(std::string_view text, Instant submitted);  // nullopt: it makes no sense

}  // namespace rota

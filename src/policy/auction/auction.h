// The English auction for jobs of a global queue (Baranov et al. 2018), as two pure state machines that exchange
// messages: the caller carries these between them, and says what time it is. Not thread-safe.
//
// A job opens an auction. A site joins when it looks at the queue and can offer processors, or when processors come
// free there; it raises or lowers its bid as its load changes. When the round is over the highest bid that stands wins;
// a tie goes to the lower site. Without a bid that reaches the minimal price, or with too few sites that have joined,
// there is another round of the same length.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "policy/auction/bid.h"

namespace rota {

enum class Close : std::uint8_t {
  on_time,     // when the round is over
  unbeatable,  // or as soon as a bidder could start the job at once
  stopping,    // or as soon as waiting for the sites that have not bid is expected to cost more than it gains
};

// When a site takes part in an auction for the first time.
enum class Joining : std::uint8_t {
  look,   // when it looks at the global queue, and can offer processors
  freed,  // the moment processors come free there; where nothing runs that could end: when it looks
};

inline constexpr Price kAnyPrice = INT64_MIN;

struct AuctionRules {
  Duration length = seconds(1);  // of a round; > 0
  Close close = Close::on_time;
  Duration patience = seconds(3600);  // stopping: mean time until a site that has not bid does
  Price margin = 0;                   // by so much a bid must be above the holder's
  Price minimum = kAnyPrice;          // a bid below it does not count
  std::size_t buyers = 1;             // so many sites must have joined before the job is sold
};

// Sells one job.
class Auctioneer {
 public:
  // soonest: for each site, the earliest start that it could offer, when it is idle.
  // holder: has the job in its queue, and keeps it until it has bid, and then unless another bid is above its own;
  // invalid: no site. A job that is held is in no hurry: its rounds are closed on time, and only those in which some
  // site could have it.
  Auctioneer(const AuctionRules& rules, std::vector<Duration> soonest, Instant opened, SiteId holder = {});

  // A site joins, raises or lowers. After the auction is over nothing is heard any more.
  void hears(const Bid& bid);
  // A site is gone: its lease has run out.
  void loses(SiteId site);

  // So many sites could join at most: no more buyers are waited for.
  void could_join(std::size_t sites) { could_join_ = sites; }

  bool over() const { return won_; }
  // When the round closes that goes on at that instant; kNever: no site could have the job as bids stand.
  Instant closes(Instant now) const;
  std::size_t bidders() const { return bids_.size(); }

  // Whether the round may be closed now although it is not over. With b the earliest start offered and s(c) what a site
  // c that has not bid could offer at best, waiting for dt costs dt and gains dt / patience * sum of max(0, b - s(c)):
  // stop if that sum <= patience.
  bool settled() const;
  // Closes the round: the winner, or none, and then another round has begun. Not after the auction is over.
  std::optional<Bid> close(Instant now);
  // The winner could not have it after all: another round without its bid.
  void reopen(Instant now, SiteId without);

 private:
  bool counts(const Bid& bid) const { return bid.price >= rules_.minimum; }
  bool enough_buyers() const { return bids_.size() >= std::min(rules_.buyers, could_join_); }
  const Bid* best() const;    // that counts
  const Bid* winner() const;  // nullptr: no site, as bids stand

  AuctionRules rules_;
  std::vector<Duration> soonest_;  // by site
  Instant closes_;
  SiteId holder_;
  std::map<SiteId, Bid> bids_;
  std::size_t could_join_ = SIZE_MAX;
  bool won_ = false;
};

// Bids for one site, on any number of jobs at once.
class Bidder {
 public:
  struct Message {
    std::int64_t job = 0;  // JobSpec::number
    Bid bid;
  };

  Bidder(SiteId site, const BidRules& rules);

  // held: the job waits at some site, so that bids on it are in no hurry.
  void opened(const JobSpec& job, const Haul& haul, bool held = false);
  void over(std::int64_t job);
  std::size_t open() const { return lots_.size(); }

  bool holds_any() const;  // some open job is held
  // Looks at the queue: joins every auction in which it can offer processors. Its first bids. held_too: also on jobs
  // that are held.
  std::vector<Message> look(const View& view, const Outlook& outlook = {}, bool held_too = true);
  // The site's load has changed: the bids that have changed with it, where it takes part.
  std::vector<Message> refresh(const View& view, const Outlook& outlook = {}, bool held_too = true);

 private:
  struct Lot {
    JobSpec job;
    Haul haul;
    bool joined;
    bool held;
    Bid bid;  // the last that was sent
  };

  struct Which {
    bool join;
    bool held_too;
  };
  std::vector<Message> bids(const View& view, const Outlook& outlook, Which which);

  SiteId site_;
  BidRules rules_;
  std::map<std::int64_t, Lot> lots_;
};

}  // namespace rota

// What a site offers for a job of the global queue: pure functions of the site's own view, the job, and how long its
// input takes to come. Prices are for comparing bids on one job; the highest wins.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "model/cluster.h"

namespace rota {

using Price = std::int64_t;

// What speaks against a site even before its processors are counted.
struct Haul {
  Duration here{0};     // to bring the job's input here
  Duration longest{0};  // to bring it to the site that it takes longest to
  Duration margin{0};   // by so much sooner it must start here, because it would have to leave its site
};

// A job that a site has won and that is not in its queue yet, because its input is on the way.
struct Coming {
  Instant at;
  std::uint32_t processors = 0;
  Duration limit{0};
};

class BidRoom;

// What a site's view does not show: that time has passed since anything happened there, and what is on its way.
struct Outlook {
  Instant now = kEpoch;  // that of the view, if that is later
  std::span<const Coming> coming = {};
  BidRoom* room = nullptr;  // of that view, at that instant: what bids on many jobs have in common
};

struct Bid {
  SiteId site;
  Price price = 0;
  Duration start{0};  // how long until it expects to have the job running
  Duration input{0};  // in that: until its input is there
  // What a published price is made of, before it is weighed: resources, preemptions, transfer, each in billionths.
  std::array<Price, 3> parts{};
  std::uint64_t fact = 0;  // the latest of its site's journal that it rests on
};

enum class Valuation : std::uint8_t {
  published,  // resources, preemptions and transfer, weighed (Baranov et al. 2018)
  by_rate,    // expected start; processors come free at the rate at which jobs end on average
  by_plan,    // expected start; from the site's own plan, by expected ends
};

struct BidRules {
  Valuation valuation = Valuation::published;
  // published: of resources, preemptions and transfer; they add up to 1.
  std::array<double, 3> weights{1.0 / 3, 1.0 / 3, 1.0 / 3};
  std::int32_t priorities = 4;             // published: priorities are 1 to this
  Duration mean_run_time = seconds(3600);  // of jobs; published: what not being able to start counts as
  double spare = 0.3;                      // expected start: an empty site may be so many mean run times later
};

// nullopt: the site cannot offer processors for this job. Under `published` these are free ones, those of nodes that
// boot or sleep, and those of jobs of lower priority; the expected start also lets sites bid that would have to wait,
// if the job can run there at all.
//   b = w_r R + w_p P + w_t D, all in [0, 1], in billionths:
//   R = min(1, free / n) / 2 + free / M / 2
//   P = 1 if free and sleeping >= n, else 3/4 - (priorities of jobs that must give way, of each processor) /
//   (priorities * n), D = 1 - here / longest.
// A job that needs more than any processors (particular nodes, memory, accelerators, licences) must have room there
// too. Expected starts count those of `coming` that are there before the job could be.
std::optional<Bid> bid_for(const BidRules& rules, const View& view, const JobSpec& job, const Haul& haul,
                           const Outlook& outlook = {});

// The bid of a site that has bid and can offer nothing any more: it stays in the auction, behind all that can.
Bid bid_of_the_unable(const BidRules& rules, const Haul& haul);

// How long until a job that comes to the queue after `haul.here` would start, from when it comes on: by when what is
// free, what lower priorities hold and what comes free suffices for it and for those that go first: those that wait
// with at least its priority, and those that come before it. Nodes that sleep count from when they would be on if they
// were woken now. 0 if it could start at once. By plan, a job that needs more than any processors waits for that too
// (policy/auction/bid_room.h).
Duration expected_wait(const BidRules& rules, const View& view, const JobSpec& job, const Haul& haul = {},
                       const Outlook& outlook = {});

}  // namespace rota

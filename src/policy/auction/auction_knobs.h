// The knobs that decide at which site of a federation a job runs.
#pragma once

#include <cstdint>

#include "policy/auction/auction.h"

namespace rota {

enum class Siting : std::uint8_t {
  none,       // where it was submitted
  english,    // auctions that sites find by looking at the global queue (Baranov et al. 2018)
  announced,  // auctions that every site hears of at once
  random,
  round_robin,
  least_loaded,
  race,         // the first site to start it revokes the others' copies, then fetches its input (Slurm's federation)
  staged_race,  // the same, but every site fetches the input before
};

struct AuctionKnobs {
  Siting siting = Siting::none;
  Duration round = seconds(1200);          // how long a round lasts
  Price minimum = kAnyPrice;               // published bids: one below it does not count
  std::int64_t buyers = 1;                 // so many sites must have joined before the job is sold, if so many could
  Joining join = Joining::look;            // english with published bids: when a site takes part
  bool head = false;                       // a job that was won goes before those of its own priority in the queue
  bool early = false;                      // it is handed to the queue before its input is copied
  Duration look = seconds(1200);           // english: how often a site looks at the global queue
  Valuation bid = Valuation::published;    // by_plan where auctions are announced
  Close close = Close::on_time;            // stopping where auctions are announced
  Duration patience{0};                    // stopping: mean time until a site that has not bid does
  Duration margin = seconds(60);           // bids by expected start: by so much sooner it must start elsewhere
  Duration mean_run_time = seconds(3600);  // what sites take for that of jobs
  Duration second_thoughts{0};             // bids by expected start: a job that was won and waits stays on offer, and
                                           // bids on it are renewed so often; 0: it stays where it is
  double spare = 0.3;                      // bids by expected start: so many mean run times an empty site may be later
  std::int64_t seed = 1;                   // of random sites, and of which site hears first in a race

  bool auctions() const { return siting == Siting::english || siting == Siting::announced; }
  // Whether a site may have to give up a job that waits in its queue.
  bool takes_back() const {
    return siting == Siting::race || siting == Siting::staged_race || second_thoughts > Duration{0};
  }
  bool by_expected_start() const { return auctions() && bid != Valuation::published; }

  bool operator==(const AuctionKnobs&) const = default;
};

}  // namespace rota

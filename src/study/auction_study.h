// The model experiment of Baranov et al., "The English auction method for job scheduling with absolute priorities in a
// distributed computing system" (2018), made again: how long an auction should last; then better auctions, and what
// federations do without one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "report/mean.h"
#include "study/federation_mix.h"
#include "study/study.h"

namespace rota::study {

struct AuctionStudy {
  std::int64_t seeds = 24;  // federations; >= 2
  std::int64_t first_seed = 0;
  std::int64_t jobs = 400;  // of the global stream; >= 10
  std::size_t threads = 1;
};

// Means over the seeds of one way to find a site. Times in mean run times.
struct AuctionRow {
  std::string label;
  double length = 0;                        // of a round; 0: there is no auction
  report::Mean time;                        // from submission to the global queue to the end
  std::array<report::Mean, 4> by_priority;  // the same, of priority 4 first
  report::Mean against_looking;             // time less that of sites that join at their looks, with rounds as long as
                                            // these are apart, seed by seed
  report::Mean participants;                // share of sites that bid, when an auction was closed
  report::Mean transfers;                   // inputs brought to another site, for each job
  report::Mean fetching;                    // time that took, for each job
  report::Mean preemptions;                 // of all jobs, for each job of the global stream
  report::Mean vain;                        // sites at which others gave way to a job that ran elsewhere; in all
};

struct AuctionFindings {
  std::vector<AuctionRow> rows;
  std::vector<report::Cell> cells;
};

Result<AuctionFindings> study_auction(const AuctionStudy& study);

Study auction_study();  // as a subcommand

}  // namespace rota::study

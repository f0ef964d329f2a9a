// In which order jobs would go that another resource manager starts, were one of Rota's orders to decide. One thread.
#pragma once

#include <string>
#include <vector>

#include "serve/desk.h"
#include "serve/job_book.h"
#include "serve/new_rows.h"

namespace rota::serve {

// The policy that goes by an order as people name it: "sjf", or with more knobs, "fair+fair-half-life=1d". Fails with a
// sentence.
Result<Chain> chain_by_order(const std::string& rule);

class WaitingOrder {
 public:
  WaitingOrder(const Desk& desk, const JobBook& book) : desk_(desk), book_(book) {}

  // Those that wait for nothing but their turn, the first to go first. An order that asks what users have run lately
  // takes that from the history, of which as much is read as came since the last time. O(jobs log jobs).
  Result<std::vector<std::int64_t>> of(const std::string& rule);

 private:
  struct Run {
    JobId job;
    std::uint32_t user;
    std::uint32_t processors;
    Duration took;
    Instant end;
  };

  Result<void> read_past();
  std::vector<Fact> users(const Chain& chain) const;

  const Desk& desk_;
  const JobBook& book_;
  std::vector<Run> past_;  // by end
  NewRows new_rows_;
};

}  // namespace rota::serve

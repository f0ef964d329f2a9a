// In which order jobs would go that another resource manager starts, were one of Rota's orders to decide. One thread.
#pragma once

#include <string>
#include <vector>

#include "control/manager_jobs.h"
#include "serve/desk.h"
#include "serve/job_book.h"
#include "serve/new_rows.h"

namespace rota::serve {

// How waiting jobs go.
struct WaitingRule {
  Chain chain;                   // whose order it is
  bool by_licences = false;      // first those that ask for licences which are free, last those whose are not
  Duration patience = kForever;  // after so long a job goes before all that have not waited as long, by arrival
  static constexpr Duration kForever = Duration::max();
};

// As people name it: an order as a policy has it, and more knobs of one ("sjf", "fair+fair-half-life=1d"); or
// "licences"; and "patience=TIME" behind it ("sjf+patience=4h"). Fails with a sentence.
Result<WaitingRule> waiting_rule(const std::string& text);

class WaitingOrder {
 public:
  WaitingOrder(const Desk& desk, const JobBook& book) : desk_(desk), book_(book) {}

  // Those that wait for nothing but their turn, by rank: where an order gives two the same score, so is their rank. An
  // order that asks what users have run lately takes that from the history, of which as much is read as came since the
  // last time. O(jobs log jobs).
  Result<std::vector<ManagerTurn>> of(const std::string& text);

 private:
  struct Run {
    JobId job;
    std::uint32_t user;
    std::uint32_t processors;
    Duration took;
    Instant end;
  };

  Result<std::vector<Fact>> facts_for(const Chain& chain, const ClusterOptions& options);
  Result<void> read_past();
  std::vector<Fact> users(const Chain& chain) const;

  const Desk& desk_;
  const JobBook& book_;
  std::vector<Run> past_;  // by end
  NewRows new_rows_;
};

}  // namespace rota::serve

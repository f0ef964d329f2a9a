// Several dispatchers around one exchange that misbehaves; sites that are cut off, die and come back. Everything in
// virtual time, from one seed. What happens at a site is put into its journal, which survives it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/random.h"
#include "control/dispatcher.h"
#include "engine/sim/loop.h"
#include "exchange/faulty.h"
#include "exchange/memory.h"

namespace rota::faults {

// Holds the exchange to its laws by the changes alone, with an account of its own.
class LawKeeper final : public Watcher {
 public:
  void hear(const Change& change) override;
  const std::vector<std::string>& broken() const { return broken_; }
  std::uint64_t hash() const { return hash_.value(); }

 private:
  struct Job {
    int offered = 0;
    bool on_offer = false;
    SiteId owner;
    SiteId claimant;
    Epoch claim_epoch = 0;
  };

  void law(bool holds, const char* what, const Change& change);
  bool lives(SiteId site, Epoch epoch) const;

  std::map<SiteId, Epoch> epochs_;
  std::map<SiteId, std::int64_t> last_;
  std::map<std::int64_t, Job> jobs_;
  std::vector<std::string> broken_;
  Revision revision_ = 0;
  Hash hash_;
};

struct Plan {
  std::uint64_t seed = 0;
  MemoryExchangeOptions exchange = {};
  bool faults = true;
};

struct Outcome {
  std::vector<std::string> wrong;  // sentences
  std::uint64_t hash = 0;
  FaultCounts faults;
  std::int64_t jobs = 0, deaths = 0, epochs_lost = 0, sold_again = 0, late_answers = 0;
};

// Runs the world of this seed until all is healed and everything has had time to come right.
Outcome what_becomes_of(const Plan& plan);

}  // namespace rota::faults

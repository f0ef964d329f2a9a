// Several sites and one global queue, as drawn from a seed: each site a case of its own, with jobs of its own and all
// that goes wrong there, and besides jobs that are for all sites, and all that goes wrong between sites and exchange.
#pragma once

#include <string>
#include <vector>

#include "control/dispatcher.h"
#include "exchange/faulty.h"
#include "swarm/case.h"

namespace rota::swarm {

struct GlobalJob {
  CaseJob job;
  std::uint32_t home = 0;  // its input lies there
};

// A user wants a job back, if it runs then.
struct GlobalCancel {
  std::int64_t at = 0;
  std::int64_t job = 0;  // its number
};

// A site and the exchange do not reach each other.
struct Partition {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::uint32_t site = 0;
};

struct FederationCase {
  std::uint64_t seed = 0;
  std::vector<Case> sites;
  std::vector<GlobalJob> jobs;
  std::vector<GlobalCancel> cancels;
  std::vector<Partition> partitions;
  DispatchRules rules;
  bool ahead = false;    // a job that was won goes before others of its priority
  Duration transfer{0};  // of an input, from any site to any other
  Faults faults;
  std::int64_t heals_at = 0;
};

FederationCase draw_federation(std::uint64_t seed);

bool fits(const Case& site, const JobSpec& spec);  // it could run there

std::string told(const FederationCase& drawn);

}  // namespace rota::swarm

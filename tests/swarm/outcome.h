// What came of a run of the swarm: what was found, what was done, and how often each thing went wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/sim/engine.h"
#include "engine/sim/faulty_link.h"
#include "exchange/faulty.h"

namespace rota::swarm {

// What happened at a site.
struct Totals {
  std::int64_t crashes = 0;
  std::int64_t crashes_in_batch = 0;  // while commands went out
  std::int64_t after_commit = 0;      // before the first of them
  std::int64_t failed_commits = 0;
  std::int64_t torn = 0;
  std::int64_t lost_tails = 0;
  std::int64_t recoveries = 0;
  std::int64_t replayed = 0;
  std::int64_t decided_again = 0;
  std::int64_t compactions = 0;
  std::int64_t facts = 0;
  std::int64_t resent = 0;
  std::int64_t refused = 0;
  std::int64_t refused_plans = 0;
  std::int64_t moves = 0;
  std::int64_t reservations = 0;
  std::int64_t refused_reservations = 0;
  std::int64_t taken_back = 0;
  std::int64_t starts_within = 0;  // in a reservation
  std::int64_t starts_beside = 0;  // while something is reserved now or soon
  std::int64_t never_began = 0;    // dispatches that were told to stop or to give way before their start came
};

// What happened to the jobs that several sites may have.
struct Travels {
  std::int64_t federations = 0;
  std::int64_t submitted = 0;
  std::int64_t taken = 0;        // by a site that had won them
  std::int64_t away = 0;         // runs at another site than their home
  std::int64_t given_up = 0;     // that were in a site's queue
  std::int64_t cancelled = 0;    // while they ran
  std::int64_t held = 0;         // starts that waited for the answer of the exchange
  std::int64_t held_again = 0;   // by a site that had crashed
  std::int64_t not_started = 0;  // gave way while they waited for it
  std::int64_t epochs = 0;       // that sites began
  std::int64_t reported = 0;     // ends, to their homes; again where a home had not noted one
};

struct Counts {
  std::int64_t seeds = 0, jobs = 0, steps = 0;
  Totals site;
  sim::LinkFaultCounts link;
  sim::EngineFaultCounts engine;
  CommandLedger::Counts ledger;
  FaultCounts exchange;
  Travels travels;

  void add(const Counts& other);
};

struct RunOutcome {
  std::optional<std::string> failure;  // what was found, as a sentence
  std::uint64_t hash = 0;              // of all facts and commands
  Counts counts;
};

// A text for people, a line each.
std::string table_of(const Counts& counts);

}  // namespace rota::swarm

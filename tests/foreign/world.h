// A controller beside a cluster that is not ours: users and operators there do as they please, the line between the two
// loses and delays, the controller crashes and comes back with what its journal has. From time to time the line is
// healed for a while: then what the controller believes must be what is so. In the end every job must have come to the
// end that it really had, once. Drawn from a seed; each seed is the same twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace rota::foreign {

// What happened in runs, so that runs in which nothing goes wrong show.
struct Tally {
  std::int64_t jobs = 0;
  std::int64_t found = 0;          // runs that no plan decided, or elsewhere than it did
  std::int64_t started = 0;        // and starts that one did,
  std::int64_t launch_failed = 0;  // of which so many failed
  std::int64_t unknown = 0;        // ends that cannot be known
  std::int64_t never_met = 0;      // jobs that came and were forgotten between two looks
  std::int64_t late = 0;           // facts that lay in the past
  std::int64_t requeued = 0;
  std::int64_t described = 0;
  std::int64_t overdrawn = 0;  // facts at which a node was
  std::int64_t crashes = 0;
  std::int64_t surveys = 0;
  std::int64_t compared = 0;  // looks at which all was equal
  std::int64_t promises = 0;
  std::int64_t orders = 0;                             // of users, through the engine
  std::int64_t done = 0, refused = 0, unanswered = 0;  // answers to these: done, refused, not known
  std::int64_t repeats = 0;                            // orders that reached the cluster a second time
  std::int64_t verified = 0;                           // looks at what an order that was done has left
  std::int64_t deaf = 0;                               // looks at which the cluster had not been heard of for long

  void add(const Tally& o);
  std::string text() const;
};

struct Verdict {
  std::optional<std::string> failure;
  std::uint64_t hash = 0;
  Tally tally;
};

// tells: every fact is printed.
Verdict run_seed(std::uint64_t seed, bool tells = false);

}  // namespace rota::foreign

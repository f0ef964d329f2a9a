// How jobs find their site other than by auction: what auctions are compared with. A rule sees of every site its size
// and what is asked of it, and decides when the job is submitted. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/random.h"
#include "model/cluster.h"

namespace rota {

enum class Placing : std::uint8_t {
  auction,
  random,        // any site that is large enough
  round_robin,   // one after the other
  least_loaded,  // where running, waiting and coming jobs ask for the least, for its size
  race,          // a copy is queued at every site at once; the first to start revokes the others, and only then fetches
                 // the input, on the processors that it holds (as in Slurm's federation)
  staged_race,   // the same, but every site fetches the input before it queues its copy
};

constexpr bool races(Placing placing) { return placing == Placing::race || placing == Placing::staged_race; }
// Whether it is settled at the exchange which site runs a job.
constexpr bool claims(Placing placing) { return placing == Placing::auction || races(placing); }

// Processors that running and waiting jobs ask for.
std::int64_t processors_asked(const View& view);

struct SiteLoad {
  std::int64_t processors = 0;  // of the site; > 0
  std::int64_t asked = 0;       // by jobs that run there, wait, or are on their way
};

class SiteChoice {
 public:
  // Under random, round_robin and least_loaded. seed: of random.
  SiteChoice(Placing placing, std::size_t sites, std::uint64_t seed)
      : placing_(placing), sites_(static_cast<std::uint32_t>(sites)), random_(seed) {}

  // One of the sites that can run the job; in order, at least one. Ties go to the lower site.
  SiteId choose(std::span<const SiteId> able, const std::function<SiteLoad(SiteId)>& load);

 private:
  SiteId next_in_turn(std::span<const SiteId> able);

  Placing placing_;
  std::uint32_t sites_;
  Random random_;
  std::uint32_t turn_ = 0;
};

}  // namespace rota

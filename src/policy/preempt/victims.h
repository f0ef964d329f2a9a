// Which jobs to stop so that a promised job can start: as few as possible, and of those sets the one that loses least
// work.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.h"
#include "base/time.h"

namespace rota {

struct Victim {
  JobId job;
  std::int64_t processors = 0;
  Duration work{0};  // processor time that would be lost
};

// The jobs to stop for `needed` processors; none if all together hold fewer. Exact while candidates x victims x needed
// stays below some millions; beyond that the largest are taken.
std::vector<JobId> cheapest_victims(std::vector<Victim> candidates, std::int64_t needed);

}  // namespace rota

// What a site keeps its journal in, and what is left of that after a crash: in memory, as bytes of a journal's file, or
// in the very database of a live service, on a disk that fails and loses what was not synced.
#pragma once

#include <cstdint>
#include <memory>

#include "control/store.h"
#include "store/memory_store.h"

namespace rota::swarm {

class Kept {
 public:
  virtual ~Kept() = default;
  // Goes on with what the latest crash has left; whether there is anything. The faults are those of this life.
  virtual Result<bool> open(const store::StoreFaults& faults, std::uint64_t seed) = 0;
  virtual Store& store() = 0;
  virtual const store::FaultCounts& counts() const = 0;  // of this life
  // What would be found now is what the next life finds.
  virtual void crash() = 0;
};

std::unique_ptr<Kept> kept_in_memory();
std::unique_ptr<Kept> kept_in_sqlite();

}  // namespace rota::swarm

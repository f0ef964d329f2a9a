// Which processes may still begin a run that an earlier life of the service has ordered: its spawner, and supervisors
// that wait for another order. Each of them holds a lock on a file of the engine's folder, and the kernel knows which
// process it is.
#pragma once

#include "process/descriptor.h"

namespace rota::local {

// Takes the lock for this process alone, once no other has it; every process that keeps it for longer than a few
// seconds is killed. False: it cannot be had at all.
bool lock_alone(int file);

// A supervisor's own lock, beside those of others.
class SpareLock {
 public:
  explicit SpareLock(int folder) : folder_(folder) {}
  bool try_lock();  // false: it is not to be had now
  void leave();     // what it was told to begin it has claimed

 private:
  int folder_;
  process::Descriptor file_;
};

// Returns once no supervisor of an earlier life waits for an order. False: that cannot be known.
bool wait_for_spares_to_end(int folder);

}  // namespace rota::local

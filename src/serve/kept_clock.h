// How the clock of a service goes on where it is started again. It measures how long jobs have run, so only while none
// does may it leap: to the computer's time of day, which may have been set meanwhile.
#pragma once

#include "serve/real_loop.h"
#include "store/sqlite_store.h"

namespace rota::serve {

// `past`: the latest instant that was written down; it shows no less. `runs`: some job does.
Result<void> set_clock(RealLoop& loop, store::SqliteStore& store, Instant past, bool runs);

}  // namespace rota::serve

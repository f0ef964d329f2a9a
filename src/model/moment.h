// The least step of time that planning counts with.
#pragma once

#include "base/time.h"

namespace rota {

// What is late (a running job whose time is up, a node that should be back) is expected a moment from now: it holds
// what it has until then, and a promise that waits for it is put off by as much.
inline constexpr Duration kMoment{1};

}  // namespace rota

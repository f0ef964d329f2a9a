// A supervisor from its first order to its end. When a run is over it waits for another order, if the service that it
// is connected to may have one for it: making a process anew for each job takes longer than a short job.
#pragma once

#include <cstddef>

#include "engine/local/claim.h"
#include "engine/local/record.h"
#include "process/descriptor.h"

namespace rota::local {

// An order that is longer leaves a process behind that is larger than others.
inline constexpr std::size_t kLongestForSpares = 65536;

// By a process of its own, in the engine's folder.
[[noreturn]] void look_after(int folder, Order order, Claim claim, process::Descriptor connection);

}  // namespace rota::local

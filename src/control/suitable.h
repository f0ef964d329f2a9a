// Whether an engine can do what a policy may order. Asked before anything runs.
#pragma once

#include "control/ports.h"
#include "policy/chain.h"

namespace rota {

// Fails with a sentence that names the knob and what the engine lacks.
Result<void> engine_suits(const Chain& chain, const Capabilities& engine);

}  // namespace rota

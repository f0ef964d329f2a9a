// The one place that knows which engine `rota serve` runs on: processes of this computer.
#pragma once

#include <span>

#include "serve/engine_maker.h"

namespace rota::cli {

serve::EngineMaker local_engine();

// What the engine's helper processes run: `rota supervise` with these arguments behind it. Gives the exit code.
int supervise(std::span<char*> arguments);

}  // namespace rota::cli

// How much of the processor this thread has taken so far, in seconds: what a bound on work goes by, for the time on a
// wall says more about what else the computer does.
#pragma once

namespace rota {

double cpu_seconds();

}  // namespace rota

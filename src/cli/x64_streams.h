// The two job streams that stand for the unpublished log of the power study: part of the program, so that
// `rota reproduce power` needs no file. They are examples/x64-blades-pf.swf.gz and -pc.swf.gz, calibrated to the study's
// published totals under FCFS that skips and under strict FCFS.
#pragma once

#include "base/result.h"
#include "trace/workload.h"

namespace rota::cli {

enum class X64Stream { skipping, strict };

Result<trace::Workload> x64_stream(X64Stream stream);

}  // namespace rota::cli

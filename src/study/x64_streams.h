// The two job streams that stand for the unpublished log of the power study: part of the program, so that
// `rota reproduce power` needs no file. They were calibrated to the study's published totals by a program of other
// random numbers than `rota generate x64-blades`, and the figures to compare with were found on just these: one under
// FCFS that skips (25,163 jobs), one under strict FCFS (60,411 jobs). A line of streams/*.gz is a job: seconds since
// the submission before, seconds that it runs, and nodes of 8 processors; its limit is an hour.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "log/workload.h"
#include "model/machine.h"

namespace rota::study {

enum class X64Stream { skipping, strict };

Result<log::Workload> x64_stream(X64Stream stream);

// The cluster that they ran on, of so many equal nodes; and the same as a cluster file.
std::shared_ptr<const Machine> x64_machine(std::int64_t nodes);
std::string x64_cluster_text(std::int64_t nodes);

}  // namespace rota::study

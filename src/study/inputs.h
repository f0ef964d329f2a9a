// What a study rehearses, as files that `rota simulate` reads: so that each of its figures can be made again.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "log/workload.h"
#include "model/tasks.h"
#include "study/study.h"

namespace rota::study {

std::string swf_text(const log::Workload& workload);

// JSON lines, in which stands whether and how a job restarts elsewhere, too, and which tasks it has, if any.
std::string json_text(const log::Workload& workload, const TaskTable* tasks = nullptr);

// "rota simulate a.swf b.swf --policy fcfs,easy --json"; `options` stand before the policy.
std::string simulate_command(std::span<const std::string> workloads, const std::string& options,
                             std::span<const std::string> policies);

}  // namespace rota::study
